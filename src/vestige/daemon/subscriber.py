"""A connection to the session daemon that is told when triggers fire."""

from __future__ import annotations

import asyncio
import collections
import time
from _socket import SHUT_RDWR
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .._typing import TYPE_CHECKING
from ..errors import VestigeError
from .connection import CONNECTION_ENDED, Connection
from .json_text import read_json

if TYPE_CHECKING:
    from _socket import socket
    from typing import Any

__all__ = ["Subscriber"]

CLOSED = {"closed": True}
"""What a daemon says last."""


class Subscriber(Connection):
    """A connection on which more comes than answers.

    Args:
        connection: A socket that is connected to a daemon.
    """

    def __init__(self, connection: socket) -> None:
        super().__init__(connection)
        self._told: collections.deque[dict[str, Any]] = collections.deque()
        """What came while an answer was awaited."""
        self._is_closed = False
        self._waiting = 0
        """How many threads and tasks wait: closing a socket would wake none."""

    def _line(self) -> bytes:
        while line := super()._line():
            message = _told(line)
            if message is None:
                return line
            self._told.append(message)
        return b""

    def subscribe(self, condition: dict[str, Any] | None = None) -> None:
        """Be told of triggers from now on.

        Args:
            condition: Their condition; ``None`` for any.

        Raises:
            SessionError: The daemon refuses.
        """
        values = {} if condition is None else {"condition": condition}
        self.ask("subscribe", **values)

    def _next(self) -> dict[str, Any] | None:
        """Return what was received and not returned yet; ``None`` if nothing was."""
        if self._told:
            return self._told.popleft()
        while (line := self._whole_line()) is not None:
            message = _told(line)
            if message is not None:
                return message
        return None

    def wait(self, timeout: float | None = None) -> dict[str, Any] | None:
        """Wait for the next message.

        Args:
            timeout: Seconds; ``None`` for ever.

        Returns:
            A message with ``notification``, ``dropped`` or ``closed``, as also after
            :meth:`close`; ``None`` if the time is over.

        Raises:
            VestigeError: The daemon is gone and has not said so.
        """
        end = None if timeout is None else time.monotonic() + timeout
        with self._waits():
            while not self._is_closed:
                if (message := self._next()) is not None:
                    return message
                left = None if end is None else max(0.0, end - time.monotonic())
                try:
                    self._socket.settimeout(left)
                    self._take()
                except (TimeoutError, BlockingIOError):
                    return None
        return CLOSED

    async def wait_async(self) -> dict[str, Any]:
        """Wait for the next message as :meth:`wait` does, and let others run meanwhile.

        Raises:
            VestigeError: The daemon is gone and has not said so.
        """
        with self._waits():
            while not self._is_closed:
                if (message := self._next()) is not None:
                    return message
                loop = asyncio.get_running_loop()
                ready: asyncio.Future[None] = loop.create_future()
                loop.add_reader(self.fileno(), _set, ready)
                try:
                    await ready
                finally:
                    loop.remove_reader(self.fileno())
                self._take()
        return CLOSED

    @contextmanager
    def _waits(self) -> Iterator[None]:
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if self._is_closed and not self._waiting:
                super().close()

    def close(self) -> None:
        """End the connection; who waits is told that it is closed."""
        self._is_closed = True
        if not self._waiting:
            super().close()
            return
        with suppress(OSError):
            self._socket.shutdown(SHUT_RDWR)

    def _take(self) -> None:
        try:
            is_more = self._receive()
        except (TimeoutError, BlockingIOError):
            raise
        except OSError:
            is_more = False
        if not is_more and not self._is_closed:
            raise VestigeError(CONNECTION_ENDED)


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _told(line: bytes) -> dict[str, Any] | None:
    """Return a message that nobody has asked for; ``None`` if it is an answer."""
    try:
        message = read_json(line)
    except ValueError:
        return None
    is_told = isinstance(message, dict) and message.keys() & _MEMBERS
    return message if is_told else None


_MEMBERS = {"notification", "dropped", "closed"}
