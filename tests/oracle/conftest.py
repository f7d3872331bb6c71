"""Recordings made once for a test run and compared in many ways."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.catalogue import RECORDERS, Recordings
from support.live_sessions import daemon_for_programs
from support.recipes import Recording, Workshop
from support.session_daemon import SessionDaemon


@pytest.fixture(scope="session")
def recordings(workshop: Workshop) -> Recordings:
    """Gives a recording by name; it is made when it is first asked for."""
    made: dict[str, Recording] = {}

    def get(name: str) -> Recording:
        if name not in made:
            made[name] = RECORDERS[name](workshop, name)
        return made[name]

    return get


@pytest.fixture(scope="module")
def running() -> Iterator[SessionDaemon]:
    """A daemon whose application socket is where programs of its home look."""
    with daemon_for_programs() as daemon:
        yield daemon


@pytest.fixture
def daemon(running: SessionDaemon) -> SessionDaemon:
    """That daemon, without sessions."""
    running.lttng("destroy", "--all")
    return running
