"""A socket in the run directory, where programs connect."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from ..._typing import NamedTuple
from .free_memory import FreeMemory

__all__ = ["Credentials", "Listener", "credentials_of"]

CREDENTIALS = struct.Struct("3i")
PAUSE = 0.1
"""Seconds, where a connection cannot be taken now."""
LONGEST_END = 5.0
"""Seconds for programs to be let go."""


class Credentials(NamedTuple):
    """What the kernel says of a program."""

    pid: int
    """0: it has none in this PID namespace."""

    uid: int
    gid: int


def credentials_of(connection: socket.socket) -> Credentials:
    """Return who is at the other end of a connection.

    Args:
        connection: Of the kind ``AF_UNIX``.
    """
    size = CREDENTIALS.size
    packed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    return Credentials(*CREDENTIALS.unpack(packed))


class Listener:
    """Takes connections, and starts what serves them.

    Root's takes all programs, another user's only those of that user.

    Args:
        path: The socket; what is there is removed.
        kind: ``SOCK_STREAM`` or ``SOCK_SEQPACKET``.
        most_waiting: Connections that nobody has accepted yet.
        serve: Serves a connection, which does not block, and closes it.
    """

    def __init__(
        self,
        path: str,
        kind: socket.SocketKind,
        most_waiting: int,
        serve: Callable[[socket.socket], Coroutine[Any, Any, None]],
    ) -> None:
        self._path = path
        self._kind = kind
        self._most_waiting = most_waiting
        self._serve = serve
        self._tasks: set[asyncio.Task[None]] = set()
        self._socket: socket.socket | None = None
        self._accepting: asyncio.Task[None] | None = None
        self._memory = FreeMemory()

    def open(self) -> None:
        """Take connections from now on.

        Raises:
            OSError: The socket cannot be made.
        """
        listener = self._socket = socket.socket(socket.AF_UNIX, self._kind)
        self._remove()
        before = os.umask(0o111 if os.geteuid() == 0 else 0o177)
        try:
            listener.bind(self._path)
        finally:
            os.umask(before)
        listener.listen(self._most_waiting)
        listener.setblocking(False)  # noqa: FBT003 - it has no name
        loop = asyncio.get_running_loop()
        self._accepting = loop.create_task(self._accept(listener))

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(listener)
            except OSError:
                # Too many descriptors, or the like: others may end meanwhile.
                await asyncio.sleep(PAUSE)
                continue
            connection.setblocking(False)  # noqa: FBT003 - it has no name
            task = loop.create_task(self._serve(connection))
            self._tasks.add(task)
            task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._memory.note_end()

    @property
    def is_serving(self) -> bool:
        """Whether there is a connection that is served."""
        return bool(self._tasks)

    def close(self) -> None:
        """Take no more connections; those that are there go on."""
        self._memory.close()
        if self._accepting is not None:
            self._accepting.cancel()
        if self._socket is not None:
            self._socket.close()
            self._remove()

    async def wait(self) -> None:
        """Wait until no connection is served any more, but not for ever."""
        if self._tasks:
            _, others = await asyncio.wait([*self._tasks], timeout=LONGEST_END)
            for task in others:
                task.cancel()

    def _remove(self) -> None:
        Path(self._path).unlink(missing_ok=True)
