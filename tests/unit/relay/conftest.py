"""A relay daemon that all tests of a file share."""

from __future__ import annotations

import pytest

from support.relay_daemon import RunningRelay


@pytest.fixture(scope="module")
def shared_relay(tmp_path_factory):
    """A relay daemon, which ends well after all that."""
    running = RunningRelay(tmp_path_factory.mktemp("relay"))
    yield running
    status, said = running.end()
    assert (status, "Traceback" in said) == (0, False), said


@pytest.fixture
def relay(shared_relay):
    """The relay daemon; connections end with the test."""
    yield shared_relay
    shared_relay.disconnect()
