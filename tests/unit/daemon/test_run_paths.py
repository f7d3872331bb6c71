"""Clients look for a daemon where it has its sockets."""

from __future__ import annotations

import pytest

from vestige.daemon import run_paths as module
from vestige.daemon.run_paths import client_sockets, run_paths
from vestige.errors import VestigeError

LONGEST = 107
NAME = "/client-vestige-sessiond"


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch):
    """A user with a home, and no other daemon."""
    monkeypatch.delenv("VESTIGE_RUNDIR", raising=False)
    monkeypatch.delenv("LTTNG_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/one")


def as_user(monkeypatch, uid):
    """Be another user."""
    monkeypatch.setattr(module.os, "getuid", lambda: uid)


@pytest.mark.parametrize("uid", [0, 1000])
@pytest.mark.parametrize("variable", [None, "/elsewhere"])
@pytest.mark.parametrize("folder", [None, "/named"])
def test_clients_and_daemon_agree(monkeypatch, uid, variable, folder):
    """Of a user and of root, moved by the environment or not."""
    as_user(monkeypatch, uid)
    if variable is not None:
        monkeypatch.setenv("VESTIGE_RUNDIR", variable)
    *others, own = client_sockets("no-such-group", folder)
    assert others == []
    assert own == run_paths(is_root=uid == 0, folder=folder).client_socket
    usual = "/var/run/lttng" if uid == 0 else "/home/one/.lttng"
    assert own == f"{folder or variable or usual}{NAME}"


def test_who_has_no_home_is_told_so(monkeypatch):
    """Root needs none."""
    monkeypatch.delenv("HOME")
    as_user(monkeypatch, 1000)
    with pytest.raises(VestigeError, match="neither LTTNG_HOME nor HOME is set"):
        client_sockets()
    as_user(monkeypatch, 0)
    assert client_sockets() == [f"/var/run/lttng{NAME}"]


def test_a_path_that_no_socket_has_is_refused():
    """With how long it may be."""
    most = LONGEST - len(NAME)
    fits = "/" + "x" * (most - 1)
    assert client_sockets(folder=fits) == [f"{fits}{NAME}"]
    for ask in (client_sockets, lambda folder: run_paths(is_root=True, folder=folder)):
        with pytest.raises(VestigeError, match=f"expected up to {most} bytes"):
            ask(folder=f"{fits}x")
