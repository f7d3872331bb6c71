"""Whose turn it is: one request at a time changes sessions.

So verbs need no thought of each other. Those that wait for a relay daemon leave their
turn to others meanwhile, but for what is about the same session.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["Turn"]


class Turn:
    """What one task has at a time."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[object] | None = None
        self._left: dict[str, asyncio.Event] = {}
        """Sessions about which a task has left its turn, and is to have it again."""

    @asynccontextmanager
    async def of(self, *sessions: str) -> AsyncIterator[None]:
        """Have the turn, when nobody has left it who does something with a session.

        Args:
            sessions: The names of the sessions; none: any one.
        """
        await self._take(sessions)
        try:
            yield
        finally:
            self._release()

    async def take(self) -> None:
        """Have the turn to the end, when nobody has left it."""
        await self._take(())

    async def _take(self, sessions: tuple[str, ...]) -> None:
        while True:
            await self._acquire()
            names = sessions or tuple(self._left)
            others = [self._left[one] for one in names if one in self._left]
            if not others:
                return
            self._release()
            for one in others:
                await one.wait()

    async def _acquire(self) -> None:
        await self._lock.acquire()
        self._holder = asyncio.current_task()

    def _release(self) -> None:
        # Who was cancelled before it had its turn again has none to give.
        if self._holder is asyncio.current_task():
            self._holder = None
            self._lock.release()

    @asynccontextmanager
    async def left(self, session: str) -> AsyncIterator[None]:
        """Leave the turn to others, if this task has it, and take it again.

        Args:
            session: The name of what this task does something with.
        """
        if self._holder is not asyncio.current_task():
            yield
            return
        done = self._left[session] = asyncio.Event()
        self._release()
        try:
            yield
        finally:
            try:
                await self._acquire()
            finally:
                del self._left[session]
                done.set()
