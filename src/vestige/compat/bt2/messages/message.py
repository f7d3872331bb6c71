"""Messages that are no events, as read: what a merge tells between its events."""

from __future__ import annotations

from typing import Any

from ....core import ClockSnapshot, EventMessage, Merge, MessageEvent, packet_of_notice
from ..traces.native import Objects
from ..traces.trace_ir import _UnknownClockSnapshot

__all__ = ["MessageMaker"]

_EventMessageConst = EventMessage
_EventConst = MessageEvent
for _kind, _name in (EventMessage, "_EventMessageConst"), (MessageEvent, "_EventConst"):
    # Scripts look at the names of the types of what they get.
    _kind.__name__ = _kind.__qualname__ = _name

_NO_CLOCK = "cannot get default clock snapshot: stream class has no default clock class"
_NO_TIMES = (
    "cannot get default clock snapshot: such a message has no clock snapshots for "
    "this stream class"
)


class _MessageConst:
    """Any message but an event.

    Attributes:
        _origin: The merge that it is in, and its index among the notices there.
    """

    _origin: tuple[Merge, int] | None = None

    @property
    def addr(self) -> int:
        """A number of its own among the messages that live."""
        return id(self)


class _StreamMessageConst(_MessageConst):
    """A message about a stream.

    Args:
        stream: The stream.
        snapshot: Its time, or ``None`` if it is not known.
    """

    def __init__(self, stream: Any, snapshot: Any = None) -> None:
        self._stream = stream
        self._snapshot = snapshot

    @property
    def stream(self) -> Any:
        """The stream."""
        return self._stream

    @property
    def default_clock_snapshot(self) -> Any:
        """Its time; one that nobody knows if so.

        Raises:
            ValueError: The stream class has no clock.
        """
        if self._stream.cls.default_clock_class is None:
            raise ValueError(_NO_CLOCK)
        return _UnknownClockSnapshot() if self._snapshot is None else self._snapshot


class _StreamBeginningMessageConst(_StreamMessageConst):
    """A stream begins."""


class _StreamEndMessageConst(_StreamMessageConst):
    """A stream ends."""


class _PacketMessageConst(_MessageConst):
    """A message about a packet.

    Args:
        packet: The packet.
        snapshot: Its time, or ``None`` if it has none.
    """

    def __init__(self, packet: Any, snapshot: Any = None) -> None:
        self._packet = packet
        self._snapshot = snapshot

    @property
    def packet(self) -> Any:
        """The packet."""
        return self._packet

    @property
    def default_clock_snapshot(self) -> Any:
        """Its time.

        Raises:
            ValueError: It has none.
        """
        if self._packet.stream.cls.default_clock_class is None:
            raise ValueError(_NO_CLOCK)
        if self._snapshot is None:
            raise ValueError(_NO_TIMES)
        return self._snapshot


class _PacketBeginningMessageConst(_PacketMessageConst):
    """A packet begins."""


class _PacketEndMessageConst(_PacketMessageConst):
    """A packet ends."""


class _MessageIteratorInactivityMessageConst(_MessageConst):
    """Nothing happens up to a time.

    Args:
        snapshot: The time.
    """

    def __init__(self, snapshot: Any) -> None:
        self._snapshot = snapshot

    @property
    def clock_snapshot(self) -> Any:
        """The time."""
        return self._snapshot


class _DiscardedMessageConst(_MessageConst):
    """Something of a stream was lost.

    Args:
        stream: The stream.
        count: How much, or ``None`` if that is not known.
        beginning: When it begins, or ``None``.
        end: When it ends, or ``None``.
    """

    def __init__(
        self, stream: Any, count: int | None, beginning: Any = None, end: Any = None
    ) -> None:
        self._stream = stream
        self._count = count
        self._beginning = beginning
        self._end = end

    @property
    def stream(self) -> Any:
        """The stream."""
        return self._stream

    @property
    def count(self) -> int | None:
        """How much, or ``None`` if that is not known."""
        return self._count

    @property
    def beginning_default_clock_snapshot(self) -> Any:
        """When it begins.

        Raises:
            ValueError: It has no time.
        """
        return self._time(self._beginning)

    @property
    def end_default_clock_snapshot(self) -> Any:
        """When it ends.

        Raises:
            ValueError: It has no time.
        """
        return self._time(self._end)

    @staticmethod
    def _time(snapshot: Any) -> Any:
        if snapshot is None:
            raise ValueError(_NO_TIMES)
        return snapshot


class _DiscardedEventsMessageConst(_DiscardedMessageConst):
    """Events were lost."""


class _DiscardedPacketsMessageConst(_DiscardedMessageConst):
    """Packets were lost."""


_OF_STREAM = {
    "stream-beginning": _StreamBeginningMessageConst,
    "stream-end": _StreamEndMessageConst,
}
_OF_PACKET = {
    "packet-beginning": _PacketBeginningMessageConst,
    "packet-end": _PacketEndMessageConst,
}
_OF_LOSS = {
    "events": _DiscardedEventsMessageConst,
    "packets": _DiscardedPacketsMessageConst,
}


class MessageMaker:
    """Makes messages of what a merge tells between its events.

    Args:
        objects: Makes the objects of streams.
    """

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def __call__(self, merge: Merge, index: int, entry: tuple[Any, ...]) -> Any:
        """Make a message.

        Args:
            merge: The merge.
            index: Index among its notices.
            entry: The notice.

        Returns:
            The message, or ``None`` for damage, which has none.
        """
        _, owner, kind, *facts = entry
        objects = self._objects.behind(merge.added_names)
        message: Any = None
        if kind in _OF_STREAM:
            stream = objects.stream(owner)
            message = _OF_STREAM[kind](stream, _snapshot(owner, stream, facts[0]))
        elif kind in _OF_PACKET:
            message = self._packet_message(merge, index, entry, objects)
        elif kind in _OF_LOSS:
            stream = objects.stream(owner)
            count, beginning, end = facts
            message = _OF_LOSS[kind](
                stream,
                count,
                _snapshot(owner, stream, beginning),
                _snapshot(owner, stream, end),
            )
        elif kind == "inactivity":
            stream = objects.stream(owner)
            snapshot = _snapshot(owner, stream, facts[0])
            message = _MessageIteratorInactivityMessageConst(snapshot)
        if message is not None:
            message._origin = merge, index
        return message

    @staticmethod
    def _packet_message(
        merge: Merge, index: int, entry: tuple[Any, ...], objects: Objects
    ) -> Any:
        _, owner, kind, cycles, *_ = entry
        stream = objects.stream(owner)
        number, context = packet_of_notice(merge, index)
        structure = stream.cls.packet_context_field_class
        field = None
        if structure is not None:
            field = structure._field_type(context, structure)
        packet = stream._packet(number, field)
        return _OF_PACKET[kind](packet, _snapshot(owner, stream, cycles))


def _snapshot(owner: Any, stream: Any, cycles: int | None) -> Any:
    clock_class = stream.cls.default_clock_class
    if cycles is None or clock_class is None:
        return None
    return ClockSnapshot(cycles, owner.handle.nanoseconds(cycles), clock_class)
