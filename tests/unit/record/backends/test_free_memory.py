"""Memory of programs that have ended goes back to the system."""

from __future__ import annotations

import asyncio
import ctypes
from types import SimpleNamespace

import pytest

from vestige.record.backends import free_memory
from vestige.record.backends.free_memory import FreeMemory


@pytest.mark.parametrize("is_closed", [False, True])
def test_it_is_given_back_once_for_many_ends(
    monkeypatch: pytest.MonkeyPatch, *, is_closed: bool
):
    """And not any more when nobody listens."""
    given: list[int] = []
    library = SimpleNamespace(malloc_trim=given.append)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    monkeypatch.setattr(free_memory, "SECONDS", 0.0)

    async def end_many() -> None:
        memory = FreeMemory()
        for _ in range(3):
            memory.note_end()
        if is_closed:
            memory.close()
        # Timers that are due come before this one.
        await asyncio.sleep(0.001)

    asyncio.run(end_many())
    assert given == ([] if is_closed else [0])


def test_a_library_without_it_is_left_alone(monkeypatch: pytest.MonkeyPatch):
    """As that of Alpine."""
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    monkeypatch.setattr(free_memory, "SECONDS", 0.0)

    async def end_one() -> None:
        FreeMemory().note_end()
        await asyncio.sleep(0.001)

    asyncio.run(end_one())
