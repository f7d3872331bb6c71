"""What a sender sees of its spool."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ..._typing import NamedTuple
from .chunk import Chunk, SentTrace
from .plan import SenderPlan
from .segments import SentStream
from .spool import Packet

__all__ = ["Found", "SpoolView"]


class Found(NamedTuple):
    """What there is to be sent of a trace."""

    trace: SentTrace
    time: int | None
    """Up to when all is there, if that is known."""
    streams: list[tuple[SentStream, list[Packet]]]
    metadata: bytes | None
    """All of them, if they are others than before."""

    @property
    def has_packets(self) -> bool:
        """Whether there are packets."""
        return any(packets for _, packets in self.streams)


class SpoolView:
    """Looks at the files of a spool, as their owner, while nobody moves them.

    Args:
        plan: What is sent.
        chunks: The chunks that are not on the relay daemon as a whole.
        on_full: Called when there is no more room in the spool, and when there is
            again.
    """

    def __init__(
        self,
        plan: SenderPlan,
        chunks: Sequence[Chunk],
        on_full: Callable[[bool], None] | None,
    ) -> None:
        self._plan, self._chunks, self._on_full = plan, chunks, on_full
        self._is_full = False
        self.lock = threading.Lock()
        """Held while the spool is looked at, and by those who move it; but never while
        anything is waited for that the relay daemon does."""

    def look(self, chunk: Chunk) -> None:
        """Find what has come.

        Args:
            chunk: In which chunk.
        """
        with self._plan.rights(), self.lock:
            if not chunk.is_dropped:
                chunk.look()
                for trace in chunk.traces.values():
                    trace.look(chunk.folder, is_ended=False)

    def look_at_all(self) -> None:
        """See how much comes while the relay daemon takes nothing."""
        if self._on_full is not None:
            for chunk in self._chunks:
                self.look(chunk)
            self.tell_room()

    def tell_room(self) -> None:
        """Say whether more is to be collected."""
        if self._on_full is not None:
            taken = sum(chunk.bytes for chunk in self._chunks)
            is_full = taken > self._plan.room
            if is_full != self._is_full:
                self._is_full = is_full
                self._on_full(is_full)

    def live_times(self, chunk: Chunk) -> dict[str, int | None]:
        """Return up to when all of each trace is in its files.

        Args:
            chunk: Of which chunk.
        """
        if not self._plan.is_live:
            return {}
        with self._plan.rights(), self.lock:
            return {
                path: one.live_time(chunk.folder) for path, one in chunk.traces.items()
            }

    def found(
        self, chunk: Chunk, trace: SentTrace, time: int | None, *, is_awaited: bool
    ) -> Found | None:
        """Return what there is of a trace to be sent.

        Args:
            chunk: The chunk.
            trace: The trace.
            time: Up to when all is in its files.
            is_awaited: Whether anybody waits for all of it.

        Returns:
            What there is; ``None``: nothing.
        """
        with self._plan.rights(), self.lock:
            if chunk.is_dropped:
                return None
            is_ended = chunk.end is not None
            # All that is older than the time is there now.
            trace.look(chunk.folder, is_ended=is_ended)
            # What describes packets is there before these are.
            streams = [
                (one, one.spooled.packets(is_ended=is_ended))
                for one in trace.streams.values()
            ]
            is_wanted = is_ended or is_awaited or any(found for _, found in streams)
            if trace.handle < 0 and self._plan.is_live and not is_wanted:
                # They are published together.
                return None
            return Found(trace, time, streams, trace.metadata(chunk.folder))

    def going_on(self, chunk: Chunk, following: Chunk) -> list[SentTrace]:
        """Return the traces of a chunk that go on in the next one.

        So viewers keep what they have: there are some in live sessions.

        Args:
            chunk: The chunk.
            following: The next one.
        """
        if not self._plan.is_live:
            return []
        with self._plan.rights(), self.lock:
            return [
                one
                for one in chunk.traces.values()
                if one.handle >= 0 and following.is_written(one.path)
            ]
