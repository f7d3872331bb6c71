"""Objects of traces for what is read from CTF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .... import model
from ....graph import Stream, TraceInfo
from ....graph.clocks import is_absolute
from ..fields import field_classes as bt
from ..fields.field_paths import FieldPathScope, resolve_paths
from ..ir_object import view_as
from .trace_ir import (
    ClockClassOffset,
    _ClockClassConst,
    _EventClassConst,
    _StreamClassConst,
    _StreamConst,
    _TraceClassConst,
    _TraceConst,
)

__all__ = ["Objects"]

PLACE = ("bin", "func", "src")
"""What filters add that look for debug information."""


class Objects:
    """Makes the object of each stream, trace and class once.

    Args:
        added: The names of the fields that filters add to events.
    """

    def __init__(self, added: Sequence[str] = ()) -> None:
        self._added = added
        self._traces: dict[int, tuple[TraceInfo, _TraceConst]] = {}
        self._streams: dict[int, tuple[Any, _StreamConst]] = {}
        self._behind: dict[tuple[str, ...], Objects] = {}

    def behind(self, added: Sequence[str]) -> Objects:
        """Return what makes the objects of what comes out of filters.

        Args:
            added: The names of the fields that these add to events.
        """
        if not added:
            return self
        known = self._behind.get(tuple(added))
        if known is None:
            known = self._behind[tuple(added)] = Objects(added)
            known.add([owner for owner, _ in self._streams.values()])
        return known

    def stream(self, owner: Any) -> _StreamConst:
        """Return the object of a data stream.

        Args:
            owner: What represents it in a merge.
        """
        made = getattr(owner, "bt2_stream", None)
        if made is not None:
            return view_as(_StreamConst, made)  # type: ignore[return-value]
        known = self._streams.get(id(owner))
        if known is None:
            self._add_streams(owner.trace, [owner])
            known = self._streams[id(owner)]
        return known[1]

    def add(self, streams: Sequence[Stream]) -> None:
        """Make the objects of data streams that are read together.

        Args:
            streams: The data streams.
        """
        for one in streams:
            if getattr(one, "bt2_stream", None) is None:
                self._add_streams(one.trace, [one])

    def _add_streams(self, info: TraceInfo, owners: Sequence[Stream]) -> None:
        trace = self._trace(info)
        classes = trace.cls._stream_classes
        for owner in owners:
            stream = _StreamConst(
                cls=classes[owner.class_index],
                trace=trace,
                id=owner.id,
                name=owner.path or None,
            )
            trace.__dict__["_streams"].append(stream)
            self._streams[id(owner)] = owner, stream

    def _trace(self, info: TraceInfo) -> _TraceConst:
        known = self._traces.get(id(info))
        if known is None:
            trace = _TraceConst(
                cls=_trace_class(info, self._added),
                name=info.name,
                uuid=info.uuid,
                environment=info.parsed.environment,
                streams=[],
            )
            known = self._traces[id(info)] = info, trace
        return known[1]

    def describe(
        self, owner: Any, index: int, added: Sequence[str] = ()
    ) -> tuple[Any, ...]:
        """Return what the core's message iterator wants to know of an event class.

        Args:
            owner: What represents the data stream.
            index: Index of the event record class.
            added: The names of the fields that filters add to events.
        """
        stream = self.behind(added).stream(owner)
        stream_class = stream.cls
        event_class = view_as(_EventClassConst, stream_class._event_classes[index])
        assert event_class is not None  # noqa: S101 - it is none only of nothing
        return (
            event_class,
            event_class.name,
            stream,
            stream_class.default_clock_class,
            _scope(event_class.payload_field_class),
            _scope(event_class.specific_context_field_class),
            _scope(stream_class.event_common_context_field_class),
            _scope(stream_class.packet_context_field_class),
        )


def _scope(structure: Any) -> tuple[Any, ...] | None:
    if structure is None:
        return None
    members = [
        (
            member.name,
            None if member._of("is_added") else member._of("index", position),
            member.field_class._field_type,
            member.field_class,
        )
        for position, member in enumerate(structure._of("members", ()))
    ]
    return structure._field_type, structure, members


def _trace_class(info: TraceInfo, added: Sequence[str]) -> _TraceClassConst:
    found = info.trace_class
    made = _TraceClassConst(user_attributes=found.attributes, stream_classes=[])
    made.__dict__["_assigns_automatic_stream_class_id"] = False
    clocks = {id(one): _clock_class(one, info) for one in found.clocks}
    for number, one in enumerate(found.stream_classes):
        clock = None
        if one.clock is not None:
            clock = clocks.get(id(one.clock)) or _clock_class(one.clock, info)
        stream_class = _stream_class(one, made, clock)
        for name in added:
            if info.parsed.has_places(number, name):
                _add_place(stream_class, name)
        made._stream_classes.append(stream_class)  # type: ignore[attr-defined]
    return made


def _add_place(stream_class: _StreamClassConst, name: str) -> None:
    """Add what a filter adds to the common context of events."""
    context = stream_class._of("event_common_context_field_class")
    if context is None:
        context = bt._StructureFieldClassConst(members=[])
        stream_class.__dict__["_event_common_context_field_class"] = context
    texts = [
        bt._StructureFieldClassMemberConst(
            name=one, field_class=bt._StringFieldClassConst()
        )
        for one in PLACE
    ]
    place = bt._StructureFieldClassConst(members=texts)
    member = bt._StructureFieldClassMemberConst(
        name=name, field_class=place, is_added=True
    )
    context._of("members").append(member)


def _clock_class(found: model.ClockClass, info: TraceInfo) -> _ClockClassConst:
    facts = {
        "name": found.name,
        "absolute": found.absolute,
        "origin": None if found.origin is None else found.origin.name,
    }
    return _ClockClassConst(
        name=found.name or None,
        description=found.description,
        frequency=found.frequency,
        precision=found.precision or 0,
        offset=ClockClassOffset(found.offset_seconds, found.offset_cycles),
        origin_is_unix_epoch=is_absolute(info, facts),
        uuid=found.uuid,
        user_attributes=found.attributes,
    )


def _stream_class(
    found: model.StreamClass, trace_class: _TraceClassConst, clock: Any
) -> _StreamClassConst:
    packet = found.packet_context
    hidden = {
        member.name
        for member in (packet.members if packet else ())
        if not member.field_class.visible
    }
    # What the reader alone needs of packets is no context.
    is_empty = packet is None or len(hidden) == len(packet.members)
    has_times = clock is not None and {"timestamp_begin", "timestamp_end"} <= hidden
    made = _StreamClassConst(
        trace_class=trace_class,
        id=found.id,
        name=found.name,
        user_attributes=found.attributes,
        assigns_automatic_event_class_id=False,
        assigns_automatic_stream_id=False,
        supports_packets=True,
        packets_have_beginning_default_clock_snapshot=(
            clock is not None and "timestamp_begin" in hidden
        ),
        packets_have_end_default_clock_snapshot=(
            clock is not None and "timestamp_end" in hidden
        ),
        supports_discarded_events="events_discarded" in hidden,
        discarded_events_have_default_clock_snapshots=(
            has_times and "events_discarded" in hidden
        ),
        supports_discarded_packets="packet_seq_num" in hidden,
        discarded_packets_have_default_clock_snapshots=(
            has_times and "packet_seq_num" in hidden
        ),
        packet_context_field_class=None if is_empty else _structure(packet),
        event_common_context_field_class=_structure(found.event_context),
        default_clock_class=clock,
        event_classes=[],
    )
    common = [
        (FieldPathScope.PACKET_CONTEXT, made._of("packet_context_field_class")),
        (
            FieldPathScope.EVENT_COMMON_CONTEXT,
            made._of("event_common_context_field_class"),
        ),
    ]
    resolve_paths(common)
    for one in found.event_classes:
        event_class = _event_class(one, made)
        made._event_classes.append(event_class)  # type: ignore[attr-defined]
        own = [
            (
                FieldPathScope.EVENT_SPECIFIC_CONTEXT,
                event_class._of("specific_context_field_class"),
            ),
            (FieldPathScope.EVENT_PAYLOAD, event_class._of("payload_field_class")),
        ]
        resolve_paths([*common, *own], len(common))
    return made


def _event_class(
    found: model.EventRecordClass, stream_class: _StreamClassConst
) -> _EventClassConst:
    return _EventClassConst(
        stream_class=stream_class,
        id=found.id,
        name=found.name,
        log_level=found.log_level,
        emf_uri=found.emf_uri,
        specific_context_field_class=_structure(found.context),
        payload_field_class=_structure(found.payload),
        user_attributes=found.attributes,
    )


def _structure(found: model.StructureFieldClass | None) -> Any:
    return None if found is None else _field_class(found)


def _field_class(found: model.FieldClass) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case a class
    attributes = found.attributes
    match found:
        case model.EnumerationFieldClass():
            return _integer(
                found.signed, found.size, found.base, found.mappings, attributes
            )
        case model.IntegerFieldClass():
            return _integer(found.signed, found.size, found.base, (), attributes)
        case model.VariableLengthIntegerFieldClass():
            return _integer(found.signed, 64, found.base, found.mappings, attributes)
        case model.FloatFieldClass():
            single = found.size <= 32  # noqa: PLR2004 - bits of a float
            kind = (
                bt._SinglePrecisionRealFieldClassConst
                if single
                else bt._DoublePrecisionRealFieldClassConst
            )
            return kind(user_attributes=attributes)
        case model.StringFieldClass():
            return bt._StringFieldClassConst(user_attributes=attributes)
        case model.ArrayFieldClass(text=True):
            return bt._StringFieldClassConst(user_attributes=attributes)
        case model.ArrayFieldClass():
            return _array(_field_class(found.element), found.length, attributes)
        case model.BlobFieldClass():
            byte = _integer(signed=False, size=8, base=16, mappings=(), attributes={})
            return _array(byte, found.length, attributes)
        case model.BooleanFieldClass():
            return bt._BoolFieldClassConst(user_attributes=attributes)
        case model.BitArrayFieldClass():
            return bt._BitArrayFieldClassConst(
                length=found.size, user_attributes=attributes
            )
        case model.StructureFieldClass():
            return bt._StructureFieldClassConst(
                members=[*_members(found)], user_attributes=attributes
            )
        case model.VariantFieldClass():
            return _variant(found)
        case model.OptionalFieldClass():
            return _option(found)
    raise TypeError(f"unknown field class: {found}")  # pragma: no cover - there is none


def _members(found: model.StructureFieldClass) -> Iterator[Any]:
    for index, member in enumerate(found.members):
        if member.field_class.visible:
            yield bt._StructureFieldClassMemberConst(
                name=member.name,
                field_class=_field_class(member.field_class),
                user_attributes=member.attributes,
                index=index,
            )


def _integer(
    signed: bool,
    size: int,
    base: int,
    mappings: Sequence[model.EnumerationMapping],
    attributes: Any,
) -> Any:
    state: dict[str, Any] = {
        "field_value_range": size,
        "preferred_display_base": base,
        "user_attributes": attributes,
    }
    if not mappings:
        if signed:
            return bt._SignedIntegerFieldClassConst(**state)
        return bt._UnsignedIntegerFieldClassConst(**state)
    ranges: dict[str, list[tuple[int, int]]] = {}
    for one in mappings:
        ranges.setdefault(one.label, []).append((one.lower, one.upper))
    if signed:
        return bt._SignedEnumerationFieldClassConst(mappings=ranges, **state)
    return bt._UnsignedEnumerationFieldClassConst(mappings=ranges, **state)


def _array(element: Any, length: int | str, attributes: Any) -> Any:
    state = {"element_field_class": element, "user_attributes": attributes}
    if isinstance(length, int):
        return bt._StaticArrayFieldClassConst(length=length, **state)
    return bt._DynamicArrayWithLengthFieldFieldClassConst(selector_name=length, **state)


def _variant(found: model.VariantFieldClass) -> Any:
    signed = any(lower < 0 for ranges in found.ranges for lower, _ in ranges)
    kind: Any = bt._VariantFieldClassWithUnsignedIntegerSelectorConst
    if signed:
        kind = bt._VariantFieldClassWithSignedIntegerSelectorConst
    options = [
        kind._option_type(
            name=option.name or None,
            field_class=_field_class(option.field_class),
            ranges=found.ranges[index] if index < len(found.ranges) else (),
            user_attributes=option.attributes,
        )
        for index, option in enumerate(found.options)
    ]
    return kind(
        options=options,
        selector_name=found.selector,
        user_attributes=found.attributes,
    )


def _option(found: model.OptionalFieldClass) -> Any:
    signed = any(lower < 0 for lower, _ in found.ranges)
    kind: Any = bt._OptionWithUnsignedIntegerSelectorFieldClassConst
    if signed:
        kind = bt._OptionWithSignedIntegerSelectorFieldClassConst
    return kind(
        field_class=_field_class(found.field_class),
        ranges=found.ranges,
        selector_name=found.selector,
        user_attributes=found.attributes,
    )
