"""Memory that is free in this process and goes back to the system."""

from __future__ import annotations

import asyncio
import ctypes
from contextlib import suppress

__all__ = ["FreeMemory"]

SECONDS = 5.0
"""How long it may be of use for what comes next."""


class FreeMemory:
    """Gives back what has become free, some time after something has ended.

    Allocators keep it: what a hundred programs needed at once was half of the memory of
    a daemon as long as it ran.
    """

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None

    def note_end(self) -> None:
        """Note, in the loop, that something has ended which had memory."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(SECONDS, self._give_back)

    def _give_back(self) -> None:
        self._timer = None
        # Other C libraries than GNU's do not know it.
        with suppress(AttributeError):
            ctypes.CDLL(None).malloc_trim(0)

    def close(self) -> None:
        """Give nothing back any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
