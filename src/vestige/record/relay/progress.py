"""How far a sender has come, and those who wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from .chunk import Chunk
from .link import RelayLink

__all__ = ["Progress"]

LOST_SECONDS = 3.0
"""How long anybody waits for a relay daemon that cannot be reached."""


class Progress:
    """The passes of a sender over its spool.

    Args:
        link: Its connection.
        is_running: Tells whether there will be other passes.
    """

    def __init__(self, link: RelayLink, is_running: Callable[[], bool]) -> None:
        self._link, self._is_running = link, is_running
        self._state = threading.Condition()
        self._flushes = 0
        """How many wait for all to be there."""
        self._passes = 0
        self._is_clean = False
        """Whether the last pass has found nothing that is not confirmed."""
        self.sent = 0
        """Packets and pieces of metadata that were sent."""
        self.woken = threading.Event()
        """Set when there is something to do."""

    @property
    def is_awaited(self) -> bool:
        """Whether anybody waits for all to be there."""
        return self._flushes > 0

    def end_pass(self, *, is_clean: bool) -> None:
        """Note that a pass has ended.

        Args:
            is_clean: Whether it has found nothing that is not confirmed.
        """
        with self._state:
            self._passes += 1
            self._is_clean = is_clean
            self._state.notify_all()

    def end_chunk(self, chunk: Chunk) -> None:
        """Note that a chunk is on the relay daemon as a whole.

        Args:
            chunk: The chunk.
        """
        with self._state:
            chunk.is_done = True
            self._state.notify_all()

    def flush(self, seconds: float) -> bool:
        """Wait until all that is in the spool now is on the relay daemon.

        Args:
            seconds: How long at most nothing may come.
        """
        with self._state:
            first = self._passes
            self._flushes += 1
        try:
            return self.wait(
                lambda: self._passes > first + 1 and self._is_clean, seconds
            )
        finally:
            with self._state:
                self._flushes -= 1

    def wait(self, is_done: Callable[[], bool], seconds: float) -> bool:
        """Wait as long as something comes, and less long for a lost connection.

        Args:
            is_done: Tells whether what is waited for has come.
            seconds: How long at most nothing may come.

        Returns:
            Whether it has come.
        """
        self.woken.set()
        last, since = self._moved(), time.monotonic()
        with self._state:
            while not is_done():
                if not self._is_running():
                    return False
                self._state.wait(0.1)
                self.woken.set()
                is_lost = self._link.current is None
                most = min(seconds, LOST_SECONDS) if is_lost else seconds
                if (moved := self._moved()) != last:
                    last, since = moved, time.monotonic()
                elif time.monotonic() > since + most:
                    return False
        return True

    def _moved(self) -> tuple[int, int]:
        """Return what changes as long as something comes to the relay daemon."""
        connection = self._link.current
        return self.sent, 0 if connection is None else connection.queued
