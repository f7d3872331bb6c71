"""The relay daemon that live sessions start."""

from __future__ import annotations

import socket

import pytest

from vestige.cli.lttng import local_relay
from vestige.cli.lttng.call import FailedError


def test_whether_there_is_one(monkeypatch):
    """It is who listens for viewers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setattr(local_relay, "DEFAULT_PORT", port)
        assert local_relay.has_relay()
    assert not local_relay.has_relay()


def test_it_has_none_of_our_streams(monkeypatch, capfd):
    """Whoever reads what the command prints does not wait for its end."""
    command = ("/bin/sh", "-c", "echo out; cat")
    monkeypatch.setattr(local_relay, "COMMAND", command)
    local_relay.start_relay()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("command", [("/bin/false",), ("/does/not/exist",)])
def test_one_that_does_not_run(monkeypatch, command):
    """It is an error."""
    monkeypatch.setattr(local_relay, "COMMAND", command)
    with pytest.raises(FailedError, match="No relay daemon could be started"):
        local_relay.start_relay()
