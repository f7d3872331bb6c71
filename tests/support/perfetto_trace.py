"""Reads traces of Perfetto by Perfetto's own description of the format.

It rebuilds what the trace processor does: clocks and names of each sequence, slices from
their begins and ends, and tracks from their descriptors. What the trace processor would
refuse or overlook is an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

__all__ = ["Instant", "PerfettoTrace", "Slice"]

BOOT_TIME, INCREMENTAL = 6, 64


@dataclass
class Slice:
    """A call."""

    track: int
    name: str
    begin: int
    depth: int
    end: int | None = None
    arguments: dict[str, object] = field(default_factory=dict)


@dataclass
class Instant:
    """An event without duration."""

    track: int
    name: str
    time: int
    arguments: dict[str, object]
    flows: list[int]
    last_flows: list[int]


class _Sequence:
    # What the packets of a sequence refer to.

    def __init__(self) -> None:
        self.time = 0
        self.clock = BOOT_TIME
        self.track: int | None = None
        self.names: dict[int, str] = {}
        self.argument_names: dict[int, str] = {}


class PerfettoTrace:
    """A trace that was read.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self.slices: list[Slice] = []
        self.instants: list[Instant] = []
        self.processes: dict[int, str] = {}
        """Names by process ID."""
        self.threads: dict[int, tuple[int, int, str]] = {}
        """Process ID, thread ID and name by track."""
        self.tracks: dict[int, str] = {}
        """Names of the other tracks."""
        self._sequences: dict[int, _Sequence] = {}
        self._open: dict[int, list[Slice]] = {}
        whole = Trace()
        whole.ParseFromString(path.read_bytes())
        for packet in whole.packet:
            self._packet(packet)
        known = {*self.threads, *self.tracks}
        used = {one.track for one in self.slices}
        used |= {one.track for one in self.instants}
        assert used <= known, f"tracks without descriptor: {used - known}"
        assert not any(self._open.values()), "slices without end"

    def sums(self) -> dict[str, tuple[int, int]]:
        """Return how many slices there are of each name, and their time, nanoseconds.

        The time of a slice within another one of its name is not added.
        """
        calls: Counter[str] = Counter()
        time: Counter[str] = Counter()
        for one in self.slices:
            calls[one.name] += 1
        for one, outer in self._with_outer():
            assert one.end is not None
            if one.name not in outer:
                time[one.name] += one.end - one.begin
        return {name: (count, time[name]) for name, count in calls.items()}

    def _with_outer(self) -> Iterator[tuple[Slice, set[str]]]:
        paths: dict[int, list[str]] = {}
        for one in self.slices:  # in the order of their begins, by track
            path = paths.setdefault(one.track, [])
            del path[one.depth :]
            yield one, set(path)
            path.append(one.name)

    def _packet(self, packet: Any) -> None:
        sequence = self._sequences.get(packet.trusted_packet_sequence_id)
        if packet.sequence_flags & 1:
            sequence = _Sequence()
            self._sequences[packet.trusted_packet_sequence_id] = sequence
        if packet.HasField("track_descriptor"):
            self._describe(packet.track_descriptor)
            return
        assert sequence is not None, "a sequence that has not begun"
        if packet.HasField("clock_snapshot"):
            self._snapshot(packet, sequence)
        if packet.HasField("trace_packet_defaults"):
            defaults = packet.trace_packet_defaults
            sequence.clock = defaults.timestamp_clock_id
            if defaults.track_event_defaults.HasField("track_uuid"):
                sequence.track = defaults.track_event_defaults.track_uuid
        if packet.HasField("interned_data"):
            data = packet.interned_data
            sequence.names.update((one.iid, one.name) for one in data.event_names)
            sequence.argument_names.update(
                (one.iid, one.name) for one in data.debug_annotation_names
            )
        if packet.HasField("track_event"):
            self._event(packet, sequence)

    def _snapshot(self, packet: Any, sequence: _Sequence) -> None:
        clocks = {one.clock_id: one for one in packet.clock_snapshot.clocks}
        assert clocks[INCREMENTAL].is_incremental
        times = {one.timestamp for one in clocks.values()}
        assert len(times) == 1, "clocks that differ"
        sequence.time = times.pop()

    def _describe(self, told: Any) -> None:
        if told.HasField("process"):
            self.processes[told.process.pid] = told.process.process_name
        elif told.HasField("thread"):
            thread = told.thread
            assert thread.pid in self.processes, "a thread before its process"
            self.threads[told.uuid] = thread.pid, thread.tid, thread.thread_name
        else:
            self.tracks[told.uuid] = told.name

    def _time(self, packet: Any, sequence: _Sequence) -> int:
        clock = packet.timestamp_clock_id or sequence.clock
        if clock != INCREMENTAL:
            return int(packet.timestamp)
        sequence.time += packet.timestamp
        return sequence.time

    def _event(self, packet: Any, sequence: _Sequence) -> None:
        event = packet.track_event
        time = self._time(packet, sequence)
        track = event.track_uuid if event.HasField("track_uuid") else sequence.track
        assert track is not None, "an event without track"
        name = event.name or sequence.names.get(event.name_iid, "")
        arguments = {
            one.name or sequence.argument_names[one.name_iid]: _value(one)
            for one in event.debug_annotations
        }
        stack = self._open.setdefault(track, [])
        if event.type == TrackEvent.TYPE_SLICE_END:
            top = stack.pop()
            top.end = time
            top.arguments |= arguments
            assert top.end >= top.begin
            return
        assert name, "no name"
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            made = Slice(track, name, time, len(stack), None, arguments)
            stack.append(made)
            self.slices.append(made)
            return
        assert event.type == TrackEvent.TYPE_INSTANT
        flows, last = list(event.flow_ids), list(event.terminating_flow_ids)
        self.instants.append(Instant(track, name, time, arguments, flows, last))


def _value(one: Any) -> object:
    if one.dict_entries:
        return {inner.name: _value(inner) for inner in one.dict_entries}
    if one.array_values:
        return [_value(inner) for inner in one.array_values]
    for name in ("bool", "uint", "int", "double", "string"):
        if one.HasField(f"{name}_value"):
            return getattr(one, f"{name}_value")
    return None
