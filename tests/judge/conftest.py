"""Servers built once, the peer's counts of them, and what of the tests is run.

``VESTIGE_JUDGE=short`` chooses the tests that are marked ``short``.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from support.call_counts import run_peer_counted
from support.debian_sources import UnavailableError, built_program

HERE = Path(__file__).resolve().parent
IS_SHORT = os.environ.get("VESTIGE_JUDGE") == "short"
SECONDS = 900


def pytest_collection_modifyitems(config, items):
    """Choose the short tests if these are wanted; give all of them time for a build."""
    ours = [item for item in items if HERE in Path(item.path).parents]
    left_out = [
        item for item in ours if IS_SHORT and not item.get_closest_marker("short")
    ]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)
    for item in ours:
        item.add_marker(pytest.mark.timeout(SECONDS))


@pytest.fixture(autouse=True, scope="session")
def needs():
    """Skip where users cannot be changed, or a tool is missing."""
    if os.geteuid() != 0:
        pytest.skip("needs root: programs change their user and their root")
    for tool in ("gcc", "uftrace", "unshare", "setarch", "bwrap"):
        if shutil.which(tool) is None:
            pytest.skip(f"not installed: {tool}")


@pytest.fixture(scope="session")
def requests_sent():
    """How many requests a client sends."""
    return 500 if IS_SHORT else 2000


@pytest.fixture(scope="session")
def built():
    """A function that returns the program of a package; no two tests build it."""

    def get(package):
        try:
            return built_program(package)
        except UnavailableError as error:
            pytest.skip(str(error))

    return get


@pytest.fixture(scope="session")
def peer(tmp_path_factory, requests_sent):
    """A function that returns what uftrace counts of a server; each is run once.

    It takes a name for the kind of server, and a function that makes one in a directory.
    """
    known = {}

    def get(kind, make):
        if kind not in known:
            directory = tmp_path_factory.mktemp("peer")
            server = make(directory / "server")
            known[kind] = run_peer_counted(
                server.command,
                directory / "uftrace",
                lambda: server.serve(requests_sent),
                server.directory,
            )
        return known[kind]

    return get
