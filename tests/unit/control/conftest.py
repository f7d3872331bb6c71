"""A home of its own for the daemon of each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.session_daemon import SessionDaemon, session_daemon


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[SessionDaemon]:
    """A home where no daemon runs at first, which is that of this process, too."""
    with session_daemon() as daemon:
        for name, value in daemon.environment.items():
            monkeypatch.setenv(name, value)
        yield daemon
