"""The timers of the channels of a session: switch, read and monitor."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

__all__ = ["Timers"]

Work = Callable[[], Awaitable[None]]


class Timers:
    """Does something again and again, until a session is stopped."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}

    def begin(self, kind: str, channel: str, period: int, work: Work) -> None:
        """Begin a timer, unless it runs.

        Args:
            kind: Which one of the channel.
            channel: The name of that.
            period: Microseconds; 0 for no timer.
            work: What is done.
        """
        if period and (kind, channel) not in self._tasks:
            task = asyncio.get_running_loop().create_task(_repeat(period / 1e6, work))
            self._tasks[kind, channel] = task

    def end(self) -> None:
        """End all of them."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()


async def _repeat(seconds: float, work: Work) -> None:
    while True:
        await asyncio.sleep(seconds)
        await work()
