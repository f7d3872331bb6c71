"""Rotations by time and by size, in a daemon that runs."""

from __future__ import annotations

import asyncio
import traceback
from contextlib import suppress

from ..errors import SessionError
from .model import Session
from .registry import Registry
from .rotation_verbs import UNSENT, rotate_session

__all__ = ["RotationSchedules"]

LOOK = 0.1
"""Seconds between two looks at how large a chunk is."""
RETRY = 5.0
"""Seconds after which what could not be archived is tried again."""


class RotationSchedules:
    """Rotates the sessions of a daemon when their schedules say so.

    Args:
        registry: The sessions.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._due: dict[str, tuple[int, float]] = {}
        """By session: its period, and when it is over, by the clock of the loop."""
        self._not_before: dict[str, float] = {}
        """By session, whose last chunk could not be archived."""
        self._rotating: dict[str, asyncio.Task[None]] = {}
        """Sessions that may wait for their relay daemons."""

    async def run(self) -> None:
        """Do so until the daemon ends."""
        while True:
            self._registry.changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._next_look()):
                    await self._registry.changed.wait()
            for session in self._active():
                if session.name not in self._rotating and self._is_due(session):
                    await self._begin(session)

    def _active(self) -> list[Session]:
        # It is looked at after each change, and there may be thousands of sessions.
        active = [
            one
            for one in self._registry.all()
            if one.active and (one.rotation_timer or one.rotation_size)
        ]
        names = {one.name for one in active}
        for name in self._due.keys() - names:
            del self._due[name]
        for name in self._not_before.keys() - names:
            del self._not_before[name]
        return active

    def _next_look(self) -> float | None:
        """Return after how many seconds something may be due; ``None`` for never."""
        now = asyncio.get_running_loop().time()
        looks = []
        for session in self._active():
            if session.rotation_timer:
                looks.append(max(0.0, self._when_due(session, now) - now))
            if session.rotation_size:
                looks.append(LOOK)
        return min(looks, default=None)

    def _when_due(self, session: Session, now: float) -> float:
        """Return when the period of a session is over, which begins when it is seen."""
        period, due = self._due.get(session.name, (0, 0.0))
        if period != session.rotation_timer:
            due = now + session.rotation_timer / 1e6
            self._due[session.name] = session.rotation_timer, due
        return due

    def _is_due(self, session: Session) -> bool:
        now = asyncio.get_running_loop().time()
        is_due = False
        if session.rotation_timer and self._when_due(session, now) <= now:
            # One that was missed, while the machine slept, is not made up for.
            self._due[session.name] = (
                session.rotation_timer,
                now + session.rotation_timer / 1e6,
            )
            is_due = True
        if session.rotation_size:
            written = self._registry.backend.chunk_size(session)
            is_due = is_due or written >= session.rotation_size
        return is_due and now >= self._not_before.get(session.name, now)

    async def _begin(self, session: Session) -> None:
        if session.relay is None:
            await self._rotate(session)
            return
        loop, name = asyncio.get_running_loop(), session.name
        self._rotating[name] = task = loop.create_task(self._rotate(session))
        task.add_done_callback(lambda _: self._rotating.pop(name))

    async def _rotate(self, session: Session) -> None:
        async with self._registry.turn.of(session.name):
            if session in self._registry.all() and session.active:
                try:
                    await rotate_session(self._registry, session)
                    self._not_before.pop(session.name, None)
                except Exception as error:  # noqa: BLE001 - the next one may be done
                    now = asyncio.get_running_loop().time()
                    self._not_before[session.name] = now + RETRY
                    if not (isinstance(error, SessionError) and error.name == UNSENT):
                        # Whoever stops the session is told.
                        session.schedule_failure = str(error)
                    if not isinstance(error, SessionError):
                        traceback.print_exc()
