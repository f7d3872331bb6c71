"""A daemon for the tests of a module, and a home without one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.session_daemon import SessionDaemon, session_daemon


@pytest.fixture(scope="module")
def running() -> Iterator[SessionDaemon]:
    """A daemon that runs."""
    with session_daemon() as daemon:
        started = daemon.start()
        assert started.returncode == 0, started.stderr
        yield daemon


@pytest.fixture
def daemon(running: SessionDaemon) -> SessionDaemon:
    """A daemon that runs and has no session."""
    running.lttng("destroy", "--all")
    return running


@pytest.fixture
def home() -> Iterator[SessionDaemon]:
    """A home where no daemon runs."""
    with session_daemon() as daemon:
        yield daemon
