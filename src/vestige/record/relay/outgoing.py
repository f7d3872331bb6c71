"""What goes on the wire of the traces of a chunk: streams, metadata, packets."""

from __future__ import annotations

from collections.abc import Callable

from . import messages
from .chunk import Chunk, SentTrace
from .kept_files import KeptFiles
from .link import RelayLink
from .messages import RelayStream
from .metadata_packets import is_plain, packetised
from .plan import SenderPlan
from .progress import Progress
from .segments import Place, SentStream
from .spool import Packet
from .spool_view import Found

__all__ = ["Limits", "Outgoing"]

MOST_UNASKED = 1 << 20
"""Bytes of a stream that are sent before it is asked whether they have come."""

Limits = Callable[[str, str], tuple[int, int]]
"""Returns of the path of a trace and the name of a stream the bytes of its files, and
how many are kept."""


class Outgoing:
    """Sends what was found of traces.

    Args:
        plan: What is sent.
        link: The connection.
        kept: What is kept of it.
        progress: How far it was sent.
        limits: The limits of files, if there are any.
    """

    def __init__(
        self,
        plan: SenderPlan,
        link: RelayLink,
        kept: KeptFiles,
        progress: Progress,
        limits: Limits | None,
    ) -> None:
        self._plan, self._link = plan, link
        self._kept, self._progress = kept, progress
        self._limits = limits

    def announce(self, chunk: Chunk, found: Found) -> bool:
        """Send what describes a trace.

        Args:
            chunk: The chunk that it is in.
            found: What there is of it.

        Returns:
            Whether viewers are to see more of it.
        """
        trace = found.trace
        is_new = trace.handle < 0
        if is_new:
            stream = RelayStream("metadata", trace.path, chunk.number)
            trace.handle = self._link.connection.add_stream(stream)
        self._send_metadata(trace, found.metadata)
        more = [one for one, packets in found.streams if packets and one.handle < 0]
        for one in more:
            self._add(chunk, trace, one)
        # Babeltrace 2 waits for ever for a live trace without data streams.
        return bool(more) or (is_new and not self._plan.is_live)

    def _add(self, chunk: Chunk, trace: SentTrace, stream: SentStream) -> None:
        """Tell the relay daemon of a data stream."""
        limits = (0, 0)
        if self._limits is not None:
            limits = self._limits(trace.path, stream.name)
        if limits != (0, 0) or self._plan.is_live or not self._plan.is_kept:
            # The relay daemon has several files itself, or viewers have the stream.
            stream.is_whole = True
        told = RelayStream(stream.file, trace.path, chunk.number, *limits)
        stream.handle = self._link.connection.add_stream(told)
        stream.added.add(stream.number)

    def send_packets(self, chunk: Chunk, found: Found, largest: int) -> None:
        """Send what is there of a trace, or that nothing is up to a time.

        Args:
            chunk: The chunk that it is in.
            found: What there is of it.
            largest: Bytes after which a file is full.
        """
        for stream, packets in found.streams:
            for packet in packets:
                if stream.is_full(largest):
                    stream.end_file()
                    self._kept.note(chunk)
                    self._add(chunk, found.trace, stream)
                self._send_packet(stream, packet)
            if not packets and stream.handle >= 0:
                self._send_beacon(stream, found.time)
            self.confirm(stream, is_urgent=not packets)
        # While one waits for the relay daemon, others may come to go on themselves.
        for stream in [*found.trace.before.values()]:
            self._send_beacon(stream, found.time)

    def _send_beacon(self, stream: SentStream, time: int | None) -> None:
        if time is not None and time > stream.end:
            connection = self._link.connection
            connection.send_beacon(stream.handle, stream.class_number, time)
            stream.end = time

    def _send_metadata(self, trace: SentTrace, raw: bytes | None) -> None:
        if raw is None:
            return
        connection = self._link.connection
        if self._plan.is_live:
            # Viewers have read what was sent, and LTTng's relay daemon takes no other:
            # the clock stays as it was described first.
            if len(raw) < trace.sent:
                return
            if is_plain(raw):
                self._send_plain(trace, raw)
                return
        elif not trace.goes_on_with(raw):
            trace.resets += 1
            connection.reset_metadata(trace.handle, trace.resets)
            trace.sent = 0
        more = raw[trace.sent :]
        if more:
            connection.send_metadata(trace.handle, more)
            self._progress.sent += 1
        trace.note(raw)

    def _send_plain(self, trace: SentTrace, raw: bytes) -> None:
        packets, end = packetised(raw, trace.sent)
        for one in packets:
            self._link.connection.send_metadata(trace.handle, one)
            self._progress.sent += 1
        trace.note(raw[:end])

    def _send_packet(self, stream: SentStream, packet: Packet) -> None:
        connection = self._link.connection
        facts = packet.facts
        size = facts.size // 8
        content = min(size, (facts.content + 7) // 8)
        number = stream.sent
        header = messages.data_header(stream.handle, number, content, size - content)
        connection.send_packet(stream.spooled.data, packet.at, content, header)
        if not self._plan.session.is_snapshot:
            # Those have none: LTTng's consumer sends none, either.
            connection.send_index(stream.handle, number, facts)
        stream.note(packet)
        self._progress.sent += 1

    def confirm(self, stream: SentStream, *, is_urgent: bool) -> None:
        """Ask whether the packets of a stream have come, if it is time to.

        Args:
            stream: The stream.
            is_urgent: Whether it is, also where little was sent.
        """
        if stream.is_confirmed or stream.is_asked:
            return
        bytes_sent = stream.spooled.taken_end - stream.confirmed.end
        if is_urgent or bytes_sent >= MOST_UNASKED:
            handle, number, place = stream.ask()
            self._link.connection.ask_pending(
                handle,
                number,
                lambda is_so: self._confirmed(stream, place, is_pending=is_so),
            )

    def _confirmed(self, stream: SentStream, place: Place, *, is_pending: bool) -> None:
        stream.is_asked = False
        if not is_pending:
            self._kept.confirm(stream, place)
            self._progress.sent += 1
