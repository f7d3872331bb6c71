"""Traces, streams, packets and their classes, clocks and environments, as read.

State by the names of :class:`..ir_object.IrObject`: each property ``x`` is ``_x``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from ....core import ClockSnapshot
from ..fields.field_classes import const_field_class
from ..ir_object import IrObject, view_as

__all__ = ["ClockClassOffset", "EventClassLogLevel"]

_ClockSnapshotConst = ClockSnapshot

LOG_LEVELS = (
    "EMERGENCY",
    "ALERT",
    "CRITICAL",
    "ERROR",
    "WARNING",
    "NOTICE",
    "INFO",
    "DEBUG_SYSTEM",
    "DEBUG_PROGRAM",
    "DEBUG_PROCESS",
    "DEBUG_MODULE",
    "DEBUG_UNIT",
    "DEBUG_FUNCTION",
    "DEBUG_LINE",
    "DEBUG",
)


class EventClassLogLevel:
    """Log levels of event classes."""

    (
        EMERGENCY,
        ALERT,
        CRITICAL,
        ERROR,
        WARNING,
        NOTICE,
        INFO,
        DEBUG_SYSTEM,
        DEBUG_PROGRAM,
        DEBUG_PROCESS,
        DEBUG_MODULE,
        DEBUG_UNIT,
        DEBUG_FUNCTION,
        DEBUG_LINE,
        DEBUG,
    ) = range(15)


class _UnknownClockSnapshot:
    """A time that nobody knows."""


class ClockClassOffset:
    """Offset of a clock from its origin.

    Args:
        seconds: Whole seconds.
        cycles: Cycles besides.
    """

    def __init__(self, seconds: int = 0, cycles: int = 0) -> None:
        for number in (seconds, cycles):
            if not isinstance(number, int):
                raise TypeError(f"'{type(number).__name__}' is not an 'int' object")
        self._seconds = seconds
        self._cycles = cycles

    @property
    def seconds(self) -> int:
        """Whole seconds."""
        return self._seconds

    @property
    def cycles(self) -> int:
        """Cycles besides."""
        return self._cycles

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClockClassOffset):
            return False
        return (self.seconds, self.cycles) == (other.seconds, other.cycles)

    def __hash__(self) -> int:
        return hash((self._seconds, self._cycles))


class _ClockClassConst(IrObject):
    """A clock class."""

    @property
    def name(self) -> str | None:
        """Its name."""
        return self._of("name")  # type: ignore[no-any-return]

    @property
    def description(self) -> str | None:
        """What it is."""
        return self._of("description")  # type: ignore[no-any-return]

    @property
    def frequency(self) -> int:
        """Cycles per second."""
        return int(self._of("frequency", 1_000_000_000))

    @property
    def precision(self) -> int | None:
        """Random error of its values, cycles; 0 if nothing is known."""
        return int(self._of("precision", 0))

    @property
    def offset(self) -> ClockClassOffset:
        """Its offset from the origin."""
        return self._of("offset") or ClockClassOffset()

    @property
    def origin_is_unix_epoch(self) -> bool:
        """Whether it counts from the Unix epoch."""
        return bool(self._of("origin_is_unix_epoch", True))

    @property
    def uuid(self) -> UUID | None:
        """Its UUID."""
        return self._of("uuid")  # type: ignore[no-any-return]

    def cycles_to_ns_from_origin(self, cycles: int) -> int:
        """Return the time at a value.

        Args:
            cycles: The value.

        Returns:
            Nanoseconds from the origin.

        Raises:
            OverflowError: It is too large.
        """
        offset = self.offset
        value = cycles * 1_000_000_000 // self.frequency
        extra = offset.cycles * 1_000_000_000 // self.frequency
        nanoseconds = offset.seconds * 1_000_000_000 + extra + value
        if not -(1 << 63) <= nanoseconds < 1 << 63:
            from ..errors import _OverflowError  # noqa: PLC0415 - errors need no IR

            raise _OverflowError(
                "cannot convert clock value to nanoseconds from origin for given "
                "clock class"
            )
        return nanoseconds


class _EventClassConst(IrObject):
    """An event class."""

    @property
    def stream_class(self) -> Any:
        """The stream class that it is of."""
        return view_as(_StreamClassConst, self._of("stream_class"))

    @property
    def name(self) -> str | None:
        """Its name."""
        return self._of("name")  # type: ignore[no-any-return]

    @property
    def id(self) -> int:
        """Its ID, unique in its stream class."""
        return int(self._of("id"))

    @property
    def log_level(self) -> int | None:
        """Its log level."""
        return self._of("log_level")  # type: ignore[no-any-return]

    @property
    def emf_uri(self) -> str | None:
        """URI of its model."""
        return self._of("emf_uri")  # type: ignore[no-any-return]

    @property
    def specific_context_field_class(self) -> Any:
        """Class of the specific context, or ``None``."""
        return const_field_class(self._of("specific_context_field_class"))

    @property
    def payload_field_class(self) -> Any:
        """Class of the payload, or ``None``."""
        return const_field_class(self._of("payload_field_class"))


class _StreamClassConst(IrObject, Mapping[int, Any]):
    """A stream class: its event classes by their IDs (``_event_classes``, a list)."""

    __eq__ = IrObject.__eq__
    __hash__ = IrObject.__hash__

    def __getitem__(self, event_class_id: Any) -> Any:
        if not isinstance(event_class_id, int):
            kind = type(event_class_id).__name__
            raise TypeError(f"'{kind}' is not an 'int' object")
        for one in self._of("event_classes", ()):
            if one._id == event_class_id:
                return view_as(_EventClassConst, one)
        raise KeyError(event_class_id)

    def __iter__(self) -> Iterator[int]:
        return iter([one._id for one in self._of("event_classes", ())])

    def __len__(self) -> int:
        return len(self._of("event_classes", ()))

    @property
    def trace_class(self) -> Any:
        """The trace class that it is of."""
        return view_as(_TraceClassConst, self._of("trace_class"))

    @property
    def name(self) -> str | None:
        """Its name."""
        return self._of("name")  # type: ignore[no-any-return]

    @property
    def id(self) -> int:
        """Its ID, unique in its trace class."""
        return int(self._of("id"))

    @property
    def assigns_automatic_event_class_id(self) -> bool:
        """Whether event classes get IDs of themselves."""
        return bool(self._of("assigns_automatic_event_class_id", True))

    @property
    def assigns_automatic_stream_id(self) -> bool:
        """Whether streams get IDs of themselves."""
        return bool(self._of("assigns_automatic_stream_id", True))

    @property
    def supports_packets(self) -> bool:
        """Whether its streams have packets."""
        return bool(self._of("supports_packets", False))

    @property
    def packets_have_beginning_default_clock_snapshot(self) -> bool:
        """Whether beginnings of packets have a time."""
        return bool(self._of("packets_have_beginning_default_clock_snapshot", False))

    @property
    def packets_have_end_default_clock_snapshot(self) -> bool:
        """Whether ends of packets have a time."""
        return bool(self._of("packets_have_end_default_clock_snapshot", False))

    @property
    def supports_discarded_events(self) -> bool:
        """Whether its streams tell lost events."""
        return bool(self._of("supports_discarded_events", False))

    @property
    def discarded_events_have_default_clock_snapshots(self) -> bool:
        """Whether lost events have times."""
        return bool(self._of("discarded_events_have_default_clock_snapshots", False))

    @property
    def supports_discarded_packets(self) -> bool:
        """Whether its streams tell lost packets."""
        return bool(self._of("supports_discarded_packets", False))

    @property
    def discarded_packets_have_default_clock_snapshots(self) -> bool:
        """Whether lost packets have times."""
        return bool(self._of("discarded_packets_have_default_clock_snapshots", False))

    @property
    def packet_context_field_class(self) -> Any:
        """Class of the context of packets, or ``None``."""
        return const_field_class(self._of("packet_context_field_class"))

    @property
    def event_common_context_field_class(self) -> Any:
        """Class of the common context of events, or ``None``."""
        return const_field_class(self._of("event_common_context_field_class"))

    @property
    def default_clock_class(self) -> Any:
        """The clock class of its times, or ``None``."""
        return view_as(_ClockClassConst, self._of("default_clock_class"))


class _TraceClassConst(IrObject, Mapping[int, Any]):
    """A trace class: its stream classes by their IDs (``_stream_classes``, a list)."""

    __eq__ = IrObject.__eq__
    __hash__ = IrObject.__hash__

    def __getitem__(self, stream_class_id: int) -> Any:
        for one in self._of("stream_classes", ()):
            if one._id == stream_class_id:
                return view_as(_StreamClassConst, one)
        raise KeyError(stream_class_id)

    def __iter__(self) -> Iterator[int]:
        return iter([one._id for one in self._of("stream_classes", ())])

    def __len__(self) -> int:
        return len(self._of("stream_classes", ()))

    @property
    def assigns_automatic_stream_class_id(self) -> bool:
        """Whether stream classes get IDs of themselves."""
        return bool(self._of("assigns_automatic_stream_class_id", True))


class _TraceEnvironmentConst(Mapping[str, Any]):
    """What a tracer says about itself and the machine.

    Args:
        entries: The entries.
    """

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = entries

    def __getitem__(self, name: str) -> Any:
        from ..values.value import const_value  # noqa: PLC0415 - values need nothing of this

        return const_value(self._entries[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class _TraceConst(IrObject, Mapping[int, Any]):
    """A trace: its streams by their IDs (``_streams``, a list)."""

    __eq__ = IrObject.__eq__
    __hash__ = IrObject.__hash__

    def __getitem__(self, stream_id: int) -> Any:
        for one in self._of("streams", ()):
            if one._id == stream_id:
                return view_as(_StreamConst, one)
        raise KeyError(stream_id)

    def __iter__(self) -> Iterator[int]:
        return iter([one._id for one in self._of("streams", ())])

    def __len__(self) -> int:
        return len(self._of("streams", ()))

    @property
    def cls(self) -> Any:
        """Its class."""
        return view_as(_TraceClassConst, self._of("cls"))

    @property
    def name(self) -> str | None:
        """Its name."""
        return self._of("name")  # type: ignore[no-any-return]

    @property
    def uuid(self) -> UUID | None:
        """Its UUID."""
        return self._of("uuid")  # type: ignore[no-any-return]

    @property
    def environment(self) -> Any:
        """What the tracer says about itself and the machine."""
        return _TraceEnvironmentConst(self._of("environment") or {})


class _StreamConst(IrObject):
    """A stream."""

    @property
    def cls(self) -> Any:
        """Its class."""
        return view_as(_StreamClassConst, self._of("cls"))

    @property
    def trace(self) -> Any:
        """Its trace."""
        return view_as(_TraceConst, self._of("trace"))

    @property
    def name(self) -> str | None:
        """Its name."""
        return self._of("name")  # type: ignore[no-any-return]

    @property
    def id(self) -> int:
        """Its ID."""
        return int(self._of("id"))

    def _packet(self, number: int, context_field: Any) -> _PacketConst:
        """Return a packet of the stream.

        The packet that an event is in: what tells it apart, and its context.
        """
        made = self._of("made_packets", {}).get(number)
        if made is not None:
            number = made.addr
        return _PacketConst(number=number, stream=self, context_field=context_field)


class _PacketConst(IrObject):
    """A packet: ``_number`` tells it apart from others."""

    @property
    def addr(self) -> int:
        """What tells it apart from others that live."""
        return int(self._of("number", 0)) or id(self.__dict__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PacketConst) and self.addr == other.addr

    def __hash__(self) -> int:
        return self.addr

    @property
    def stream(self) -> Any:
        """Its stream."""
        return view_as(_StreamConst, self._of("stream"))

    @property
    def context_field(self) -> Any:
        """Its context, or ``None``."""
        return self._of("context_field")
