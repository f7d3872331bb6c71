"""What a component makes of which messages tell: clocks, classes, traces, streams.

Each object keeps the property ``p`` of Babeltrace 2's module in its attribute ``_p``.
"""

from __future__ import annotations

import uuid as uuids
from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

from ..fields.field_paths import FieldPathScope, resolve_paths
from ..fields.made_field_classes import FieldClassFactory
from ..fields.made_fields import field_of_class
from .trace_ir import (
    ClockClassOffset,
    _ClockClassConst,
    _EventClassConst,
    _PacketConst,
    _StreamClassConst,
    _StreamConst,
    _TraceClassConst,
    _TraceConst,
)

__all__: list[str] = []


def _own(name: str) -> Any:
    """Return a property that gives a part of the state as it is, not a view of it."""
    return property(lambda self: self.__dict__[f"_{name}"])


class _ClockClass(_ClockClassConst):
    """A clock."""

    def __init__(  # noqa: PLR0913 - all that a clock has
        self,
        *,
        frequency: int | None = None,
        name: str | None = None,
        user_attributes: Any = None,
        description: str | None = None,
        precision: int | None = None,
        offset: Any = None,
        origin_is_unix_epoch: bool = True,
        uuid: Any = None,
    ) -> None:
        self._frequency = 1_000_000_000 if frequency is None else int(frequency)
        self._name = name
        self._user_attributes = dict(user_attributes or {})
        self._description = description
        self._precision = precision or 0
        self._offset = ClockClassOffset() if offset is None else offset
        self._origin_is_unix_epoch = origin_is_unix_epoch
        self._uuid = uuid


class _StreamClass(_StreamClassConst):
    """What the streams of a class have in common."""

    trace_class = _own("trace_class")
    default_clock_class = _own("default_clock_class")
    packet_context_field_class = _own("packet_context_field_class")
    event_common_context_field_class = _own("event_common_context_field_class")

    def __init__(  # noqa: PLR0913, PLR0917 - all that a stream class has
        self,
        trace_class: _TraceClass,
        id: int,  # noqa: A002 - as its property
        name: str | None = None,
        user_attributes: Any = None,
        packet_context_field_class: Any = None,
        event_common_context_field_class: Any = None,
        default_clock_class: _ClockClass | None = None,
        assigns_automatic_event_class_id: bool = True,
        assigns_automatic_stream_id: bool = True,
        supports_packets: bool = False,
        packets_have_beginning_default_clock_snapshot: bool = False,
        packets_have_end_default_clock_snapshot: bool = False,
        supports_discarded_events: bool = False,
        discarded_events_have_default_clock_snapshots: bool = False,
        supports_discarded_packets: bool = False,
        discarded_packets_have_default_clock_snapshots: bool = False,
    ) -> None:
        self._event_classes: list[_EventClass] = []
        self._trace_class = trace_class
        self._id = id
        self._name = name
        self._user_attributes = dict(user_attributes or {})
        self._packet_context_field_class = packet_context_field_class
        self._event_common_context_field_class = event_common_context_field_class
        self._default_clock_class = default_clock_class
        self._assigns_automatic_event_class_id = assigns_automatic_event_class_id
        self._assigns_automatic_stream_id = assigns_automatic_stream_id
        self._supports_packets = supports_packets
        self._packets_have_beginning_default_clock_snapshot = (
            packets_have_beginning_default_clock_snapshot
        )
        self._packets_have_end_default_clock_snapshot = (
            packets_have_end_default_clock_snapshot
        )
        self._supports_discarded_events = supports_discarded_events
        self._discarded_events_have_default_clock_snapshots = (
            discarded_events_have_default_clock_snapshots
        )
        self._supports_discarded_packets = supports_discarded_packets
        self._discarded_packets_have_default_clock_snapshots = (
            discarded_packets_have_default_clock_snapshots
        )
        self._check()
        resolve_paths(self._scopes)

    @property
    def _scopes(self) -> list[tuple[int, Any]]:
        """The parts of packets and events that its streams have in common."""
        return [
            (FieldPathScope.PACKET_CONTEXT, self._packet_context_field_class),
            (
                FieldPathScope.EVENT_COMMON_CONTEXT,
                self._event_common_context_field_class,
            ),
        ]

    def _check(self) -> None:
        for what, needs_support in (
            ("packets_have_beginning_default_clock_snapshot", "supports_packets"),
            ("packets_have_end_default_clock_snapshot", "supports_packets"),
            (
                "discarded_events_have_default_clock_snapshots",
                "supports_discarded_events",
            ),
            (
                "discarded_packets_have_default_clock_snapshots",
                "supports_discarded_packets",
            ),
        ):
            if not self.__dict__[f"_{what}"]:
                continue
            if not self.__dict__[f"_{needs_support}"]:
                raise ValueError(f"cannot have {what} without {needs_support}")
            if self._default_clock_class is None:
                raise ValueError(f"cannot have {what} without a default clock class")
        if self._packet_context_field_class is not None and not self._supports_packets:
            raise ValueError("cannot have a packet context without supporting packets")
        if self._supports_discarded_packets and not self._supports_packets:
            raise ValueError("cannot support discarded packets without packets")

    def __getitem__(self, id: int) -> _EventClass:  # noqa: A002 - as its property
        for one in self._event_classes:
            if one._id == id:
                return one
        raise KeyError(id)

    def create_event_class(  # noqa: PLR0913, PLR0917 - all that an event class has
        self,
        id: int | None = None,  # noqa: A002 - as its property
        name: str | None = None,
        user_attributes: Any = None,
        log_level: Any = None,
        emf_uri: str | None = None,
        specific_context_field_class: Any = None,
        payload_field_class: Any = None,
    ) -> _EventClass:
        """Add a class of events.

        Raises:
            ValueError: It has an ID although IDs are given automatically, or none
                although they are not.
        """
        if self._assigns_automatic_event_class_id == (id is not None):
            raise ValueError(
                "event class ID: the stream class "
                + (
                    "assigns automatic event class IDs"
                    if id is not None
                    else "does not assign automatic event class IDs"
                )
            )
        number = len(self._event_classes) if id is None else id
        if number in self:
            raise ValueError(f"there is an event class with the ID {number}")
        found = _EventClass(self, number)
        found._name = name
        found._user_attributes = dict(user_attributes or {})
        found._log_level = log_level
        found._emf_uri = emf_uri
        found._specific_context_field_class = specific_context_field_class
        found._payload_field_class = payload_field_class
        own = [
            (FieldPathScope.EVENT_SPECIFIC_CONTEXT, specific_context_field_class),
            (FieldPathScope.EVENT_PAYLOAD, payload_field_class),
        ]
        resolve_paths([*self._scopes, *own], len(self._scopes))
        self._event_classes.append(found)
        return found


class _EventClass(_EventClassConst):
    """What the events of a class have in common."""

    stream_class = _own("stream_class")
    specific_context_field_class = _own("specific_context_field_class")
    payload_field_class = _own("payload_field_class")

    def __init__(self, stream_class: _StreamClass, id: int) -> None:  # noqa: A002 - as its property
        self._stream_class = stream_class
        self._id = id
        self._index = len(stream_class._event_classes)
        self._name: str | None = None
        self._user_attributes: dict[str, Any] = {}
        self._log_level: Any = None
        self._emf_uri: str | None = None
        self._specific_context_field_class: Any = None
        self._payload_field_class: Any = None


class _TraceClass(_TraceClassConst, FieldClassFactory):
    """What traces of a class have in common: their stream classes."""

    def __init__(
        self, user_attributes: Any = None, *, assigns_automatic_stream_class_id: bool
    ) -> None:
        self._user_attributes = dict(user_attributes or {})
        self._assigns_automatic_stream_class_id = assigns_automatic_stream_class_id
        self._stream_classes: list[_StreamClass] = []

    def __getitem__(self, id: int) -> _StreamClass:  # noqa: A002 - as its property
        for one in self._stream_classes:
            if one._id == id:
                return one
        raise KeyError(id)

    def __call__(
        self,
        name: str | None = None,
        user_attributes: Any = None,
        uuid: Any = None,
        environment: Any = None,
    ) -> _Trace:
        """Make a trace of this class."""
        trace = _Trace(self)
        trace._name = name
        trace._user_attributes = dict(user_attributes or {})
        trace._uuid = uuid
        for key, value in (environment or {}).items():
            trace._environment[key] = value
        return trace

    def create_stream_class(
        self,
        id: int | None = None,  # noqa: A002 - as its property
        *given: Any,
        **named: Any,
    ) -> _StreamClass:
        """Add a class of streams.

        Raises:
            ValueError: It has an ID although IDs are given automatically, or none
                although they are not.
        """
        if self._assigns_automatic_stream_class_id == (id is not None):
            raise ValueError(
                "stream class ID: the trace class "
                + (
                    "assigns automatic stream class IDs"
                    if id is not None
                    else "does not assign automatic stream class IDs"
                )
            )
        number = len(self._stream_classes) if id is None else id
        if number in self:
            raise ValueError(f"there is a stream class with the ID {number}")
        found = _StreamClass(self, number, *given, **named)
        self._stream_classes.append(found)
        return found


class _TraceEnvironment(dict[str, Any]):
    """What is known of where a trace is from."""

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value if isinstance(value, str) else int(value))


class _Trace(_TraceConst):
    """A trace."""

    cls = _own("cls")

    def __init__(self, trace_class: _TraceClass) -> None:
        self._cls = trace_class
        self._name: str | None = None
        self._user_attributes: dict[str, Any] = {}
        self._uuid: uuids.UUID | None = None
        self._environment = _TraceEnvironment()
        self._streams: list[_Stream] = []
        self._lowered: Any = None
        """The same for the core, made when it is needed."""

    @property
    def environment(self) -> Any:
        """What is known of where it is from."""
        return self._environment

    def __getitem__(self, id: int) -> _Stream:  # noqa: A002 - as its property
        for one in self._streams:
            if one._id == id:
                return one
        raise KeyError(id)

    def create_stream(
        self,
        stream_class: _StreamClass,
        id: int | None = None,  # noqa: A002 - as its property
        name: str | None = None,
        user_attributes: Any = None,
    ) -> _Stream:
        """Add a stream.

        Raises:
            ValueError: It has an ID although IDs are given automatically, or none
                although they are not, or its class is of another trace class.
        """
        if stream_class._trace_class is not self._cls:
            raise ValueError("the stream class is not of the trace class of the trace")
        if stream_class._assigns_automatic_stream_id == (id is not None):
            raise ValueError(
                "stream ID: the stream class "
                + (
                    "assigns automatic stream IDs"
                    if id is not None
                    else "does not assign automatic stream IDs"
                )
            )
        ids = {one._id for one in self._streams if one._cls is stream_class}
        number = len(ids) if id is None else id
        if number in ids:
            raise ValueError(f"there is a stream with the ID {number}")
        stream = _Stream(self, stream_class, number)
        stream._name = name
        stream._user_attributes = dict(user_attributes or {})
        self._streams.append(stream)
        return stream


class _Stream(_StreamConst):
    """A stream of a trace."""

    cls = _own("cls")
    trace = _own("trace")

    def __init__(self, trace: _Trace, stream_class: _StreamClass, id: int) -> None:  # noqa: A002 - as its property
        self._trace = trace
        self._cls = stream_class
        self._id = id
        self._name: str | None = None
        self._made_packets: WeakValueDictionary[int, _Packet] = WeakValueDictionary()
        """Its packets by what tells them apart for the core."""
        self._user_attributes: dict[str, Any] = {}
        self._lowered: Any = None
        """The same for the core, made when it is needed."""

    def create_packet(self) -> _Packet:
        """Make a packet.

        Raises:
            ValueError: The stream class supports none.
        """
        if not self._cls._supports_packets:
            raise ValueError(
                "cannot create packet: stream class does not support packets"
            )
        return _Packet(self)


class _Packet(_PacketConst):
    """A packet of a stream."""

    stream = _own("stream")

    def __init__(self, stream: _Stream) -> None:
        self._stream = stream
        context = stream._cls._packet_context_field_class
        self._context_field = None if context is None else field_of_class(context)
        self._beginning: int | None = None
        self._lowered: Any = None
        """The same for the core, made when it is needed."""

    @property
    def context_field(self) -> Any:
        """The fields of its context."""
        return self._context_field

    @context_field.setter
    def context_field(self, value: Mapping[str, Any]) -> None:
        if self._context_field is None:
            raise ValueError("the stream class has no packet context")
        self._context_field.value = value
