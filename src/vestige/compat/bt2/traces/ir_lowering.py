"""What components make, for the core: metadata of CTF 2, data streams, packets.

A trace becomes a trace class of the core, since its name, UUID and environment stand
there. Classes may be added to it at any time: then it is made anew.
"""

from __future__ import annotations

import json
import sys
from itertools import count
from pathlib import PurePath
from typing import Any
from uuid import UUID

from .... import core
from ....graph import Stream, TraceInfo
from ..fields.field_class_lowering import Scope
from ..fields.made_fields import plain_of
from . import builders

__all__ = ["MadeStream", "inactive_stream", "lowered_packet", "lowered_stream"]

FIRST_INDEX = 1 << 20
"""The index of the first trace that is made: others are numbered from 0."""
_ORDER = "little-endian" if sys.byteorder == "little" else "big-endian"
_NATURAL = {"length": 64, "alignment": 8, "byte-order": _ORDER}

_indexes = count(FIRST_INDEX)


class MadeStream(Stream):
    """A stream that a component makes, as others are.

    Args:
        bt2_stream: The stream.
        trace: Its trace.
    """

    def __init__(self, bt2_stream: Any, trace: LoweredTrace) -> None:
        self.bt2_stream = bt2_stream
        self._lowered_trace = trace
        classes = bt2_stream._cls._trace_class._stream_classes
        super().__init__(
            trace.info,
            classes.index(bt2_stream._cls),
            bt2_stream._id,
            bt2_stream._name or "",
            trace.handle_of(bt2_stream),
        )
        self._no_packet: core.EncodedPacket | None = None

    @property
    def no_packet(self) -> core.EncodedPacket:
        """What holds its events, if it has no packets."""
        if self._no_packet is None:
            self._no_packet = core.EncodedPacket(self.handle, self.id)
        return self._no_packet

    def update(self) -> None:
        """Take notice of classes that were added."""
        trace = self._lowered_trace
        if trace.update() or self.trace is not trace.info:
            self.trace = trace.info
            self.handle = trace.handle_of(self.bt2_stream)
            self._no_packet = None

    @property
    def told_names(self) -> tuple[str | None, str | None]:
        """Its name and that of its trace, if they have any."""
        return self.bt2_stream._name, self.bt2_stream._trace._name

    @property
    def siblings(self) -> list[tuple[int, int]]:
        """All streams of its trace: their IDs, and those of their classes."""
        return [(one._id, one._cls._id) for one in self.bt2_stream._trace._streams]

    @property
    def name(self) -> str:
        """Its name."""
        return PurePath(self.path).name


class LoweredTrace:
    """A trace for the core.

    Args:
        trace: The trace.
    """

    def __init__(self, trace: Any) -> None:
        self._trace = trace
        self._index = next(_indexes)
        self._version = (-1, -1)
        self._handles: dict[int, core.DataStream] = {}
        self._kept: list[core.TraceClass] = []
        """Whoever keeps something of a trace class knows it by its address."""
        self.info: TraceInfo
        """It as others are."""
        self.update()

    def update(self) -> bool:
        """Take notice of classes that were added; tell whether there are any."""
        classes = self._trace._cls._stream_classes
        events = sum(len(one._event_classes) for one in classes)
        version = (len(classes), events)
        if version == self._version:
            return False
        self._version = version
        parsed = core.TraceClass.parse(_metadata(self._trace))
        self._kept.append(parsed)
        self._handles = {
            key: handle.following(parsed) for key, handle in self._handles.items()
        }
        self.info = TraceInfo(self._index, self._trace._name or "", parsed)
        return True

    def handle_of(self, stream: Any) -> core.DataStream:
        """Return the core's data stream.

        Args:
            stream: The stream.
        """
        key = id(stream)
        if key not in self._handles:
            classes = self._trace._cls._stream_classes
            self._handles[key] = core.DataStream(
                self.info.parsed,
                [],
                trace_name=self.info.name,
                trace_index=self._index,
                process_space=self._index,
                class_index=classes.index(stream._cls),
            )
        return self._handles[key]


def lowered_stream(stream: Any) -> MadeStream:
    """Return a stream as others are.

    Args:
        stream: A stream that a component made.
    """
    trace = stream._trace
    if trace._lowered is None:
        trace._lowered = LoweredTrace(trace)
    if stream._lowered is None:
        stream._lowered = MadeStream(stream, trace._lowered)
    found: MadeStream = stream._lowered
    found.update()
    return found


def lowered_packet(packet: Any) -> core.EncodedPacket:
    """Return a packet for the core.

    Args:
        packet: A packet that a component made.
    """
    stream = lowered_stream(packet._stream)
    if packet._lowered is None or packet._lowered[0] is not stream.handle:
        context = plain_of(packet._context_field)
        encoded = core.EncodedPacket(
            stream.handle, stream.id, context, packet._beginning
        )
        packet._lowered = (stream.handle, encoded)
        packet._stream._made_packets[encoded.number] = packet
    found: core.EncodedPacket = packet._lowered[1]
    return found


def inactive_stream(clock_class: Any) -> MadeStream:
    """Return a stream that stands for a clock alone.

    Args:
        clock_class: A clock that a component made.
    """
    if "_inactive_stream" not in clock_class.__dict__:
        trace_class = builders._TraceClass(assigns_automatic_stream_class_id=True)
        stream_class = trace_class.create_stream_class(default_clock_class=clock_class)
        clock_class._inactive_stream = trace_class().create_stream(stream_class)
    return lowered_stream(clock_class._inactive_stream)


def _metadata(trace: Any) -> bytes:
    """Return the metadata of a trace: fragments of CTF 2."""
    preamble: dict[str, Any] = {"type": "preamble", "version": 2}
    if trace._uuid is not None:
        preamble["uuid"] = [*UUID(str(trace._uuid)).bytes]
    environment = {key: plain_of_entry(one) for key, one in trace._environment.items()}
    fragments = [preamble, {"type": "trace-class", "environment": environment}]
    clocks: list[Any] = []
    for stream_class in trace._cls._stream_classes:
        clock = stream_class._default_clock_class
        if clock is not None and not any(one is clock for one in clocks):
            clocks.append(clock)
    fragments += [_clock(number, clock) for number, clock in enumerate(clocks)]
    for stream_class in trace._cls._stream_classes:
        fragments += _stream_fragments(stream_class, clocks)
    return b"".join(b"\x1e" + json.dumps(one).encode() + b"\n" for one in fragments)


def plain_of_entry(value: Any) -> int | str:
    """Return the value of an entry of the environment.

    Args:
        value: A value of Babeltrace's module, or a plain one.
    """
    return str(value) if isinstance(value, str) else int(value)


def _clock_id(number: int) -> str:
    """Return the ID of a clock, the name of one without: that of the first is empty."""
    return str(number) if number else ""


def _clock(number: int, clock: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "clock-class",
        "id": _clock_id(number),
        "frequency": clock._frequency,
        "offset-from-origin": {
            "seconds": clock._offset.seconds,
            "cycles": clock._offset.cycles,
        },
        "precision": clock._precision,
    }
    texts = {"name": clock._name, "description": clock._description}
    found |= {key: text for key, text in texts.items() if text is not None}
    if clock._uuid is not None:
        found["uuid"] = [*UUID(str(clock._uuid)).bytes]
    if clock._origin_is_unix_epoch:
        found["origin"] = "unix-epoch"
    return found


def _stream_fragments(stream_class: Any, clocks: list[Any]) -> list[dict[str, Any]]:
    found: dict[str, Any] = {"type": "data-stream-class", "id": stream_class._id}
    clock = stream_class._default_clock_class
    header = [_role("id", "event-record-class-id")]
    packet = []
    if clock is not None:
        number = next(index for index, one in enumerate(clocks) if one is clock)
        found["default-clock-class-id"] = _clock_id(number)
        header.append(_role("timestamp", "default-clock-timestamp"))
        if stream_class._packets_have_beginning_default_clock_snapshot:
            packet.append(_role("vestige:beginning", "default-clock-timestamp"))
        if stream_class._packets_have_end_default_clock_snapshot:
            role = "packet-end-default-clock-timestamp"
            packet.append(_role("vestige:end", role))
    if stream_class._name is not None:
        found["name"] = stream_class._name
    facts = {
        name: stream_class.__dict__[f"_{name}"]
        for name in (
            "supports_packets",
            "supports_discarded_events",
            "discarded_events_have_default_clock_snapshots",
            "supports_discarded_packets",
            "discarded_packets_have_default_clock_snapshots",
        )
    }
    found["attributes"] = {"vestige": facts}
    found["event-record-header-field-class"] = _structure(header)
    scope = Scope("packet-context")
    context = scope.structure(stream_class._packet_context_field_class, len(packet))
    if context is not None or packet:
        members = packet + (context or _structure([]))["member-classes"]
        found["packet-context-field-class"] = _structure(members)
    key = "event-record-common-context"
    common = scope.behind(key).structure(stream_class._event_common_context_field_class)
    if common is not None:
        found[f"{key}-field-class"] = common
    events = [_event(one, stream_class, scope) for one in stream_class._event_classes]
    return [found, *events]


def _event(event_class: Any, stream_class: Any, scope: Scope) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "event-record-class",
        "id": event_class._id,
        "data-stream-class-id": stream_class._id,
    }
    if event_class._name is not None:
        found["name"] = event_class._name
    ours = {}
    if event_class._log_level is not None:
        ours["log-level"] = int(
            getattr(event_class._log_level, "value", event_class._log_level)
        )
    if event_class._emf_uri is not None:
        ours["emf-uri"] = event_class._emf_uri
    if ours:
        found["attributes"] = {"babeltrace.org,2020": ours}
    for key, field_class in (
        ("specific-context", event_class._specific_context_field_class),
        ("payload", event_class._payload_field_class),
    ):
        lowered = scope.behind(f"event-record-{key}").structure(field_class)
        if lowered is not None:
            found[f"{key}-field-class"] = lowered
    return found


def _role(name: str, role: str) -> dict[str, Any]:
    field_class = {
        "type": "fixed-length-unsigned-integer",
        **_NATURAL,
        "roles": [role],
    }
    return {"name": name, "field-class": field_class}


def _structure(members: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "structure", "member-classes": members}
