"""Bringing many programs to something, without waiting for those that are silent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from math import inf
from typing import TypeVar

from ..._typing import Protocol

__all__ = ["LONGEST_FOR_ANSWERS", "Answering", "Patience", "longest_wait"]

LONGEST_WAIT = 5.0
"""Seconds for all answers to a request, as LTTng waits by default."""
WAIT_VARIABLE = "LTTNG_APP_SOCKET_TIMEOUT"
"""The variable of the daemon that says another number; 0 or -1 is for ever."""
LONGEST_SILENCE = 1.0
"""Seconds after which nobody else waits for a program that does not answer."""
LONGEST_FOR_ANSWERS = 5.0
"""The same where a program is asked for what is of no use later: when a session ends,
and in lists."""
LOOK = 0.1
"""Seconds between two looks for those."""


def longest_wait(times: int = 1) -> float | None:
    """Return for how many seconds a program is waited for; ``None``: for ever.

    Args:
        times: How often as long as for most.
    """
    try:
        seconds = float(os.environ.get(WAIT_VARIABLE, LONGEST_WAIT))
    except ValueError:
        seconds = LONGEST_WAIT
    return seconds * times if 0 < seconds < inf else None


class Answering(Protocol):
    """A program that is asked things."""

    @property
    def silent_since(self) -> float | None:
        """When it was asked, or last answered in part; ``None``: it is asked nothing.

        By the clock of the event loop.
        """


_Program = TypeVar("_Program", bound=Answering)


class Patience:
    """Waits for programs, as long as they answer.

    What a program is to do goes on when it is no longer waited for.
    """

    def __init__(self) -> None:
        self._left: set[asyncio.Future[BaseException | None]] = set()

    async def bring(
        self,
        programs: Iterable[_Program],
        bring: Callable[[_Program], Awaitable[BaseException | None]],
        late: Callable[[BaseException], None],
        longest_silence: float = LONGEST_SILENCE,
        *,
        silent: list[_Program] | None = None,
    ) -> BaseException | None:
        """Do something with all programs at once.

        Args:
            programs: These.
            bring: Does it; what it returns is why it could not.
            late: Is told why it could not, for those that were not waited for.
            longest_silence: Seconds after which those are not.
            silent: Gets those that were not waited for.

        Returns:
            Why it could not be done with one of the others.
        """
        tasks = {asyncio.ensure_future(bring(one)): one for one in programs}
        pending = set(tasks)
        loop = asyncio.get_running_loop()
        try:
            while pending:
                _, pending = await asyncio.wait(pending, timeout=LOOK)
                limit = loop.time() - longest_silence
                left = {one for one in pending if _is_before(tasks[one], limit)}
                for one in left:
                    self._leave(one, late)
                    if silent is not None:
                        silent.append(tasks[one])
                pending -= left
        except asyncio.CancelledError:
            for one in pending:
                one.cancel()
            raise
        results = (one.result() for one in tasks if one not in self._left)
        return next((one for one in results if one is not None), None)

    def _leave(
        self,
        task: asyncio.Future[BaseException | None],
        late: Callable[[BaseException], None],
    ) -> None:
        def done(task: asyncio.Future[BaseException | None]) -> None:
            self._left.discard(task)
            if not task.cancelled():
                error = task.exception() or task.result()
                if error is not None:
                    late(error)

        self._left.add(task)
        task.add_done_callback(done)


def _is_before(program: Answering, limit: float) -> bool:
    since = program.silent_since
    return since is not None and since < limit
