"""Reading everything of some traces, to say what is in them and what is wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from .. import core
from .._typing import NamedTuple
from ..damage import Damage
from ..graph import Graph, LostNotice, Selection, Source, Stream, notices_of

__all__ = ["StreamReport", "TraceReport", "TracesReport", "examine"]


class StreamReport:
    """What one data stream holds.

    Args:
        name: Path of its first file.
        class_id: ID of its stream class.
        id: Its own ID.
        packets: Number of packets that can be used.
    """

    def __init__(self, name: str, class_id: int, id: int, packets: int) -> None:  # noqa: A002 - the name of what it is in CTF
        self.name = name
        self.class_id = class_id
        self.id = id
        self.packets = packets
        self.events = 0
        """Number of event records."""
        self.begin: int | None = None
        """Time of the first, nanoseconds."""
        self.end: int | None = None
        """Time of the last, nanoseconds."""
        self.lost_events = 0
        """Event records that the tracer counted as lost."""
        self.lost_packets = 0
        """Packets that the tracer counted as lost."""
        self.lost_uncounted = False
        """Whether the tracer lost event records without telling how many."""


class TraceReport(NamedTuple):
    """What one trace holds."""

    name: str
    """Host name and relative path, or the directory."""
    uuid: str | None
    """Its UUID."""
    streams: list[StreamReport]
    """Its data streams."""

    @property
    def packets(self) -> int:
        """Number of packets that can be used."""
        return sum(stream.packets for stream in self.streams)

    @property
    def events(self) -> int:
        """Number of event records."""
        return sum(stream.events for stream in self.streams)

    @property
    def begin(self) -> int | None:
        """Time of the first event record, nanoseconds."""
        times = (stream.begin for stream in self.streams)
        return min((time for time in times if time is not None), default=None)

    @property
    def end(self) -> int | None:
        """Time of the last event record, nanoseconds."""
        times = (stream.end for stream in self.streams)
        return max((time for time in times if time is not None), default=None)


class TracesReport(NamedTuple):
    """What some traces hold, and what is wrong with them."""

    traces: list[TraceReport]
    """The traces."""
    damage: list[Damage]
    """What cannot be used."""

    @property
    def is_readable(self) -> bool:
        """Whether there is any data stream, or nothing that would be one."""
        return any(trace.streams for trace in self.traces) or not self.damage

    @property
    def lost_records(self) -> int:
        """About how many event records the damage cost, as far as that can be told."""
        return sum(found.lost_records or 0 for found in self.damage)


def examine(
    source: Source,
    *,
    strict: bool = False,
    selection: Selection | None = None,
    progress: Callable[[int | None, int], object] | None = None,
) -> TracesReport:
    """Read metadata, packets and every field of every event record.

    Args:
        source: The traces.
        strict: Whether to stop at the first damage.
        selection: Which event records are read and counted; all by default.
        progress: Called now and then with the time that is reached, nanoseconds, or
            ``None``, and with the number of event records until there.

    Returns:
        What was found.

    Raises:
        TraceFormatError: There is damage, and it is to be strict.
    """
    sink = CheckSink(source.streams)

    def tell(events: int) -> None:
        if progress is not None:
            progress(sink.reached, events)

    graph = Graph([source], sink, (), selection, strict, tell)
    return TracesReport(sink.traces, graph.run())


class CheckSink:
    """Counts what is in data streams, and has every field decoded.

    Args:
        streams: The data streams.
    """

    looks_at_records = True
    checks_fields = True
    """Those that cannot be decoded are damage."""

    def __init__(self, streams: Iterable[Stream]) -> None:
        traces: dict[int, TraceReport] = {}
        self._reports: dict[Stream, StreamReport] = {}
        self.reached: int | None = None
        """Time of the last event record of the last merge, nanoseconds."""
        for stream in streams:
            uuid = stream.trace.uuid
            name = stream.trace.name or os.path.dirname(stream.path)  # noqa: PTH120
            trace = traces.setdefault(
                stream.trace.index,
                TraceReport(name, None if uuid is None else str(uuid), []),
            )
            handle = stream.handle
            report = StreamReport(
                stream.path, handle.class_id, stream.id, handle.packet_count
            )
            trace.streams.append(report)
            self._reports[stream] = report
        self.traces = list(traces.values())
        """What the traces hold, as far as they were read."""

    def consume(self, merge: core.Merge) -> None:
        """Count the event records of a merge, and what the tracer lost."""
        self.reached = None
        for stream, count, begin, end in merge.counts:
            is_timed = stream.handle.has_clock
            _count(self._reports[stream], count, begin, end, timed=is_timed)
            if is_timed:
                self.reached = end if self.reached is None else max(self.reached, end)
        for notice in notices_of(merge):
            if isinstance(notice, LostNotice):
                _lose(self._reports[notice.stream], notice)

    def finish(self) -> None:
        """Do nothing: everything is counted."""


def _count(
    report: StreamReport, count: int, begin: int, end: int, *, timed: bool
) -> None:
    report.events += count
    if timed:
        report.begin = begin if report.begin is None else min(report.begin, begin)
        report.end = end if report.end is None else max(report.end, end)


def _lose(report: StreamReport, notice: LostNotice) -> None:
    if notice.count is None:
        report.lost_uncounted = True
    elif notice.kind == "events":
        report.lost_events += notice.count
    else:
        report.lost_packets += notice.count
