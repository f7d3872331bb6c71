"""Messages that a component makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....core import ClockSnapshot
from ..fields.made_fields import field_of_class
from ..ir_object import view_as
from ..traces.trace_ir import _ClockClassConst

__all__: list[str] = []


def _snapshot_of(clock: Any, cycles: int) -> ClockSnapshot:
    time = clock.cycles_to_ns_from_origin(cycles)
    return ClockSnapshot(cycles, time, view_as(_ClockClassConst, clock))


class _Message:
    """Any message."""


class _StreamMessage(_Message):
    # A message of a stream, with a value of its clock where it has one.

    def __init__(self, stream: Any, cycles: int | None = None) -> None:
        self._stream = stream
        self._cycles = cycles

    @property
    def stream(self) -> Any:
        """The stream."""
        return self._stream

    @property
    def default_clock_snapshot(self) -> Any:
        """When it was; ``None`` if that is not known."""
        return self._snapshot(self._cycles)

    @default_clock_snapshot.setter
    def default_clock_snapshot(self, cycles: int) -> None:
        self._cycles = cycles

    _default_clock_snapshot = default_clock_snapshot

    def _snapshot(self, cycles: int | None) -> ClockSnapshot | None:
        clock = self._stream._cls._default_clock_class
        return None if clock is None or cycles is None else _snapshot_of(clock, cycles)


class _StreamBeginningMessage(_StreamMessage):
    """A stream begins."""

    _boundary = "stream-beginning"


class _StreamEndMessage(_StreamMessage):
    """A stream ends."""

    _boundary = "stream-end"


class _PacketMessage(_StreamMessage):
    # A message of a packet.

    def __init__(self, packet: Any, cycles: int | None = None) -> None:
        super().__init__(packet._stream, cycles)
        self._packet = packet

    @property
    def packet(self) -> Any:
        """The packet."""
        return self._packet


class _PacketBeginningMessage(_PacketMessage):
    """A packet begins."""

    _boundary = "packet-beginning"


class _PacketEndMessage(_PacketMessage):
    """A packet ends."""

    _boundary = "packet-end"


class _DiscardedMessage(_StreamMessage):
    # A message that something was lost.

    def __init__(
        self,
        stream: Any,
        count: int | None = None,
        beginning: int | None = None,
        end: int | None = None,
    ) -> None:
        super().__init__(stream, beginning)
        self._count = count
        self._end = end

    @property
    def count(self) -> int | None:
        """How many were lost, if that is known."""
        return self._count

    @count.setter
    def count(self, count: int) -> None:
        self._count = count

    _count_property = count

    @property
    def beginning_default_clock_snapshot(self) -> Any:
        """When the loss begins."""
        return self._snapshot(self._cycles)

    @property
    def end_default_clock_snapshot(self) -> Any:
        """When the loss ends."""
        return self._snapshot(self._end)


class _DiscardedEventsMessage(_DiscardedMessage):
    """Events were lost."""


class _DiscardedPacketsMessage(_DiscardedMessage):
    """Packets were lost."""


class _MessageIteratorInactivityMessage(_Message):
    """Nothing happened up to a time."""

    def __init__(self, clock_class: Any, cycles: int) -> None:
        self._clock_class = clock_class
        self._cycles = cycles

    @property
    def clock_snapshot(self) -> ClockSnapshot:
        """The time."""
        return _snapshot_of(self._clock_class, self._cycles)


class _Event(Mapping[str, Any]):
    """An event that is filled."""

    def __init__(self, event_class: Any, stream: Any, packet: Any) -> None:
        self._cls = event_class
        self._stream = stream
        self._packet = packet
        self._common = _made(stream._cls._event_common_context_field_class)
        self._specific = _made(event_class._specific_context_field_class)
        self._payload = _made(event_class._payload_field_class)

    @property
    def cls(self) -> Any:
        """Its class."""
        return self._cls

    @property
    def name(self) -> str | None:
        """The name of its class."""
        return None if self._cls._name is None else str(self._cls._name)

    @property
    def id(self) -> int:
        """The ID of its class."""
        return int(self._cls._id)

    @property
    def stream(self) -> Any:
        """Its stream."""
        return self._stream

    @property
    def packet(self) -> Any:
        """Its packet; ``None`` if the stream has none."""
        return self._packet

    common_context_field = property(lambda self: self._common)
    specific_context_field = property(lambda self: self._specific)

    @property
    def payload_field(self) -> Any:
        """The fields of its payload."""
        return self._payload

    @payload_field.setter
    def payload_field(self, value: Any) -> None:
        self._payload.value = value

    def _scopes(self) -> Iterator[Any]:
        packet = None if self._packet is None else self._packet.context_field
        for scope in (self._payload, self._specific, self._common, packet):
            if scope is not None:
                yield scope

    def __getitem__(self, name: str) -> Any:
        for scope in self._scopes():
            if name in scope:
                return scope[name]
        raise KeyError(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self[name]._set(value)

    def __iter__(self) -> Iterator[str]:
        for scope in self._scopes():
            yield from scope

    def __len__(self) -> int:
        return sum(len(scope) for scope in self._scopes())


class _EventMessage(_StreamMessage):
    """An event."""

    def __init__(
        self, event_class: Any, stream: Any, packet: Any, cycles: int | None
    ) -> None:
        super().__init__(stream, cycles)
        self._event = _Event(event_class, stream, packet)

    @property
    def event(self) -> _Event:
        """The event."""
        return self._event


def _made(field_class: Any) -> Any:
    return None if field_class is None else field_of_class(field_class)
