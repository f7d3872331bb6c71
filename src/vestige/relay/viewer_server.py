"""Serves viewers of live sessions: ``babeltrace2 -i lttng-live`` and ``vestige view``.

Each has its own place in what it reads, and whoever reads slowly waits alone: no more
than a piece of a packet is in memory for a viewer.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from ..live.answers import BODY_BYTES, MOST_BODY_BYTES
from ..live.messages import REQUEST
from .viewer import PIECE_BYTES, Answer, RelayViewer

if TYPE_CHECKING:
    from .viewed import ViewedSession

__all__ = ["ViewerServer"]

MOST_VIEWERS = 256
"""Connections at a time; more are closed at once."""
LONGEST_REQUEST = 30.0
"""Seconds in which a request that has begun is there as a whole."""


class ViewerServer:
    """Serves the viewers of a relay.

    Args:
        sessions: Returns the sessions that there are.
        most: Connections at a time.
    """

    def __init__(
        self, sessions: Callable[[], Iterable[ViewedSession]], most: int = MOST_VIEWERS
    ) -> None:
        self._sessions = sessions
        self._most = most
        self._numbers = count(1)
        self._viewers: set[RelayViewer] = set()
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}

    @property
    def viewers(self) -> int:
        """How many are connected."""
        return len(self._viewers)

    def clients(self, session: int) -> int:
        """Tell how many viewers read a session.

        Args:
            session: Its number.
        """
        return sum(session in one.attached for one in self._viewers)

    async def listen(self, listener: socket.socket) -> asyncio.Server:
        """Serve who connects, until the server that is returned is closed.

        Args:
            listener: Where they connect.
        """
        return await asyncio.start_server(self._meet, sock=listener)

    async def close(self) -> None:
        """Serve nobody any more."""
        tasks = [one for one in self._open.values() if one is not None]
        for writer in self._open:
            writer.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _meet(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if len(self._viewers) >= self._most:
            writer.close()
            return
        self._open[writer] = asyncio.current_task()
        viewer = RelayViewer(next(self._numbers), self._sessions, self.clients)
        self._viewers.add(viewer)
        try:
            # Whoever goes away, at whatever point, is forgotten.
            with suppress(OSError, EOFError, TimeoutError, asyncio.IncompleteReadError):
                await _serve(viewer, reader, writer)
        finally:
            self._viewers.discard(viewer)
            del self._open[writer]
            writer.close()


async def _serve(
    viewer: RelayViewer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    # What waits to be sent is a piece at most.
    writer.transport.set_write_buffer_limits(high=PIECE_BYTES)
    while True:
        size, command, _ = REQUEST.unpack(await reader.readexactly(REQUEST.size))
        if size > MOST_BODY_BYTES:
            return
        wanted = BODY_BYTES.get(command, 0)
        async with asyncio.timeout(LONGEST_REQUEST):
            body = await reader.readexactly(wanted)
            await reader.readexactly(max(size - wanted, 0))
        answer = viewer.answer(command, body)
        await _send(answer, writer)
        if answer.is_last:
            return


async def _send(answer: Answer, writer: asyncio.StreamWriter) -> None:
    writer.write(answer.head)
    offset, end = answer.offset, answer.offset + answer.size
    await writer.drain()
    while offset < end:
        piece = answer.read(offset, min(end - offset, PIECE_BYTES))
        if not piece:
            # It was cut off meanwhile: nothing makes sense behind it.
            raise EOFError
        writer.write(piece)
        offset += len(piece)
        await writer.drain()
