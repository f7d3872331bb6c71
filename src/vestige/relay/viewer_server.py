"""Serves viewers of live sessions: ``babeltrace2 -i lttng-live`` and ``vestige view``.

Each has its own place in what it reads, and whoever reads slowly waits alone: no more
than a piece of a packet is in memory for a viewer.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from ..live.answers import BODY_BYTES, MOST_BODY_BYTES
from ..live.messages import REQUEST
from .configuration import Limits
from .peers import SHORTEST_IDLE, share_of_one
from .viewer import PIECE_BYTES, Answer, RelayViewer

if TYPE_CHECKING:
    from .viewed import ViewedSession

__all__ = ["ViewerServer"]

LONGEST_REQUEST = 30.0
"""Seconds in which a request that has begun is there as a whole."""
NO_ANSWER = Answer(b"")
LONGEST_TURN = 0.002
"""Seconds after which others have their turn."""


_BEGIN_SECONDS = 0.02
_BEGIN_TRIES = 50
"""How often it is looked whether a session has metadata by now: for a second."""


class _Connection:
    """The connection of a viewer."""

    def __init__(self, viewer: RelayViewer, writer: asyncio.StreamWriter) -> None:
        self.viewer = viewer
        self.writer = writer
        self.task = asyncio.current_task()
        self.peer: str = writer.get_extra_info("peername", ("",))[0]
        self.active = time.monotonic()
        """When it last asked for something, or took a part of an answer."""
        self.answer = NO_ANSWER
        """What it is sent now. It is in no variable: a stream keeps its error, and that
        the frames of whoever has written, so files would stay open."""
        self._turn = self.active

    async def went_on(self) -> None:
        """It has done something; if that was much, others have their turn."""
        self.active = time.monotonic()
        if self.active - self._turn > LONGEST_TURN:
            await asyncio.sleep(0)
            self._turn = time.monotonic()


class ViewerServer:
    """Serves the viewers of a relay.

    Args:
        sessions: Returns the sessions that there are.
        most: Connections at a time.
        most_streams: Data streams that all of them read at a time.
        warn: Told who was sent away.
    """

    def __init__(
        self,
        sessions: Callable[[], Iterable[ViewedSession]],
        most: int = Limits().viewers,
        most_streams: int = Limits().viewed_streams,
        *,
        warn: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._sessions = sessions
        self._most = most
        self._most_streams = most_streams
        self._streams = 0
        self._warn = warn
        self._numbers = count(1)
        self._open: set[_Connection] = set()

    @property
    def viewers(self) -> int:
        """How many are connected."""
        return len(self._open)

    @property
    def streams(self) -> int:
        """How many data streams they read: one counts for each."""
        return self._streams

    def clients(self, session: int) -> int:
        """Tell how many viewers read a session.

        Args:
            session: Its number.
        """
        return sum(session in one.viewer.attached for one in self._open)

    async def listen(self, listener: socket.socket) -> asyncio.Server:
        """Serve who connects, until the server that is returned is closed.

        Args:
            listener: Where they connect.
        """
        return await asyncio.start_server(self._meet, sock=listener)

    async def close(self) -> None:
        """Serve nobody any more."""
        tasks = [one.task for one in self._open if one.task is not None]
        for one in self._open:
            one.writer.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _take(self, streams: int) -> bool:
        """Let a viewer read more data streams, if there is room."""
        if self._streams + streams > self._most_streams:
            self._warn("viewers read as many data streams as are allowed")
            return False
        self._streams += streams
        return True

    def _give(self, streams: int) -> None:
        self._streams -= streams

    def _makes_room(self, peer: str) -> bool:
        """Send somebody away for a peer, if that is to be.

        Of the peer that has most viewers, the one that has been silent for longest: one
        that is there to stay asks all the time. Whoever has fewer than others need not
        wait for that.
        """
        here = Counter(one.peer for one in self._open)
        most = max(here, key=lambda one: (here[one], one == peer))
        among = peer if here[peer] >= share_of_one(self._most) else most
        silent = min(
            (one for one in self._open if one.peer == among), key=lambda one: one.active
        )
        is_idle = time.monotonic() - silent.active >= SHORTEST_IDLE
        if not (is_idle or here[peer] + 1 < here[among]):
            return False
        self._warn(f"{silent.peer}: a silent viewer has made room for others")
        self._open.discard(silent)
        silent.writer.transport.abort()
        return True

    def _has_room(self, peer: str) -> bool:
        own = sum(one.peer == peer for one in self._open)
        return len(self._open) < self._most and own < share_of_one(self._most)

    async def _meet(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        viewer = RelayViewer(
            next(self._numbers), self._sessions, self.clients, self._take, self._give
        )
        connection = _Connection(viewer, writer)
        if not self._has_room(connection.peer) and not self._makes_room(
            connection.peer
        ):
            self._warn(f"{connection.peer}: there are as many viewers as are allowed")
            writer.close()
            return
        self._open.add(connection)
        try:
            # Whoever goes away, at whatever point, is forgotten.
            with suppress(OSError, EOFError, TimeoutError, asyncio.IncompleteReadError):
                await _serve(connection, reader)
        finally:
            self._open.discard(connection)
            connection.answer = NO_ANSWER
            viewer.close()
            writer.close()


async def _serve(connection: _Connection, reader: asyncio.StreamReader) -> None:
    # What waits to be sent is a piece at most.
    connection.writer.transport.set_write_buffer_limits(high=PIECE_BYTES)
    while True:
        size, command, _ = REQUEST.unpack(await reader.readexactly(REQUEST.size))
        if size > MOST_BODY_BYTES:
            return
        wanted = BODY_BYTES.get(command, 0)
        if wanted or size:
            async with asyncio.timeout(LONGEST_REQUEST):
                body = await reader.readexactly(wanted)
                await reader.readexactly(max(size - wanted, 0))
        else:
            body = b""
        await _let_begin(connection.viewer, command, body)
        connection.answer = connection.viewer.answer(command, body)
        await _send(connection)
        if connection.answer.is_last:
            return
        connection.answer = NO_ANSWER


async def _let_begin(viewer: RelayViewer, command: int, body: bytes) -> None:
    """Wait for the first metadata of a session that a viewer is to read.

    Some take a session without data streams for an error.
    """
    for _ in range(_BEGIN_TRIES):
        if not viewer.is_early(command, body):
            return
        await asyncio.sleep(_BEGIN_SECONDS)


async def _send(connection: _Connection) -> None:
    writer = connection.writer
    writer.write(connection.answer.head)
    await writer.drain()
    await connection.went_on()
    for part in connection.answer.parts:
        writer.write(part)
        await writer.drain()
        await connection.went_on()
    offset = connection.answer.offset
    end = offset + connection.answer.size
    while offset < end:
        piece = connection.answer.read(offset, min(end - offset, PIECE_BYTES))
        if not piece:
            # It was cut off meanwhile: nothing makes sense behind it.
            raise EOFError
        writer.write(piece)
        offset += len(piece)
        await writer.drain()
        await connection.went_on()
