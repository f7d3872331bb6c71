"""How a chunk that was sent as a whole ends on the relay daemon."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable

from . import messages
from .chunk import Chunk, SentTrace
from .kept_files import KeptFiles
from .link import RelayLink
from .messages import RelayStream
from .plan import SenderPlan
from .spool_view import SpoolView

__all__ = ["ChunkEnd"]

NO_PACKET = (1 << 64) - 1
CLOSED_SECONDS = 5.0
"""How long what is to become of a chunk is waited for."""
FIRST_LOOK, LONGEST_LOOK = 0.001, 0.1
"""Seconds between questions whether a chunk is still there."""


class ChunkEnd:
    """Ends chunks.

    Args:
        plan: What is sent.
        link: The connection.
        view: What is in the spool.
        kept: What is kept of it.
        ending: Set when nothing is waited for any more.
    """

    def __init__(
        self,
        plan: SenderPlan,
        link: RelayLink,
        view: SpoolView,
        kept: KeptFiles,
        ending: threading.Event,
    ) -> None:
        self._plan, self._link = plan, link
        self._view, self._kept = view, kept
        self._ending = ending

    def end(self, chunk: Chunk, following: Chunk | None) -> None:
        """Let the relay daemon end a chunk; the next one is there before.

        Args:
            chunk: The chunk.
            following: The next one; ``None``: there will be none.
        """
        assert chunk.end is not None  # noqa: S101 - for the types
        link = self._link
        kept = [] if following is None else self._view.going_on(chunk, following)
        if chunk.is_resumed and chunk.what == messages.DELETE:
            self._take_older_files(chunk)
        self._close_streams(one for one in chunk.traces.values() if one not in kept)
        link.connection.take_answers(waits=True)
        link.is_moved = True
        self._kept.remove_note()
        if following is not None:
            link.open_chunk(following)
            self._go_on(kept, following)
        chunk.path = link.connection.close_chunk(chunk.number, chunk.end, chunk.what)
        link.has_moved |= chunk.what == messages.MOVE
        if following is not None:
            following.follows_archives = link.has_moved
            link.is_moved = False
        if chunk.what != messages.NOTHING and not self._plan.is_live:
            self._wait_until_gone(chunk)
        chunk.close()

    def _wait_until_gone(self, chunk: Chunk) -> None:
        """Wait until what is to become of a chunk was done.

        In live sessions viewers may have it for long.
        """
        end, pause = time.monotonic() + CLOSED_SECONDS, FIRST_LOOK
        connection = self._link.connection
        while connection.has_chunk(chunk.number) and time.monotonic() < end:
            if self._ending.wait(pause):
                return
            self._view.look_at_all()
            pause = min(2 * pause, LONGEST_LOOK)

    def _close_streams(self, traces: Iterable[SentTrace]) -> None:
        connection = self._link.connection
        for trace in traces:
            for stream in trace.opened():
                connection.close_stream(stream.handle, stream.sent - 1)
            if trace.handle >= 0:
                connection.close_stream(trace.handle, NO_PACKET)

    def _take_older_files(self, chunk: Chunk) -> None:
        """Begin the files anew that the relay daemon has from earlier connections.

        It removes what it knows of, and cannot remove a directory with anything else.
        """
        connection = self._link.connection
        for trace in [*chunk.traces.values()]:
            if trace.handle < 0:
                told = RelayStream("metadata", trace.path, chunk.number)
                trace.handle = connection.add_stream(told)
            for stream in [*trace.streams.values()]:
                for name in stream.older_files:
                    told = RelayStream(name, trace.path, chunk.number)
                    handle = connection.add_stream(told)
                    connection.send_nothing(handle)
                    connection.close_stream(handle, 0)

    def _go_on(self, kept: list[SentTrace], following: Chunk) -> None:
        """Let streams go on in the next chunk."""
        places: list[tuple[int, int]] = []
        for trace in kept:
            places += ((one.handle, one.next_number) for one in trace.opened())
            places.append((trace.handle, 0))
            following.trace(trace.path).go_on(trace)
        self._link.connection.rotate_streams(following.number, places)
