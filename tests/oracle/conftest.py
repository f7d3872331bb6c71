"""Recordings made once for a test run and compared in many ways."""

from __future__ import annotations

import pytest

from support.catalogue import RECORDERS, Recordings
from support.recipes import Recording, Workshop


@pytest.fixture(scope="session")
def recordings(workshop: Workshop) -> Recordings:
    """Gives a recording by name; it is made when it is first asked for."""
    made: dict[str, Recording] = {}

    def get(name: str) -> Recording:
        if name not in made:
            made[name] = RECORDERS[name](workshop, name)
        return made[name]

    return get
