"""The model of a trace class, built from what the Rust core parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast
from uuid import UUID

from .. import core
from ..model import (
    ArrayFieldClass,
    ClockClass,
    EnumerationFieldClass,
    EnumerationMapping,
    EventRecordClass,
    FieldClass,
    FloatFieldClass,
    IntegerFieldClass,
    Member,
    StreamClass,
    StringFieldClass,
    StructureFieldClass,
    TraceClass,
    VariantFieldClass,
)

__all__ = ["trace_class_model"]

# What the core describes is nested dictionaries, so their values are of any type here.
Description = Mapping[str, Any]


def trace_class_model(trace_class: core.TraceClass) -> TraceClass:
    """Build the model of a trace class.

    Args:
        trace_class: The parsed metadata.

    Returns:
        The trace class as frozen values.
    """
    description = trace_class.describe()
    clocks = tuple(_clock(clock) for clock in description["clocks"])
    return TraceClass(
        version=description["version"],
        uuid=_uuid(description["uuid"]),
        environment=MappingProxyType(dict(description["environment"])),
        clocks=clocks,
        stream_classes=tuple(
            _stream(stream, clocks) for stream in description["streams"]
        ),
    )


def _uuid(raw: bytes | None) -> UUID | None:
    return None if raw is None else UUID(bytes=raw)


def _clock(clock: Description) -> ClockClass:
    return ClockClass(**{**clock, "uuid": _uuid(clock["uuid"])})


def _stream(stream: Description, clocks: Sequence[ClockClass]) -> StreamClass:
    clock = stream["clock"]
    return StreamClass(
        id=stream["id"],
        clock=None if clock is None else clocks[clock],
        packet_context=_scope(stream["packet_context"]),
        event_context=_scope(stream["event_context"]),
        event_classes=tuple(_event(event) for event in stream["events"]),
    )


def _event(event: Description) -> EventRecordClass:
    return EventRecordClass(
        id=event["id"],
        name=event["name"],
        log_level=event["log_level"],
        emf_uri=event["emf_uri"],
        context=_scope(event["context"]),
        payload=_scope(event["payload"]),
    )


def _scope(field: Description | None) -> StructureFieldClass | None:
    # The parser accepts nothing but a structure as a scope.
    return None if field is None else cast("StructureFieldClass", _field(field))


def _field(field: Description) -> FieldClass:
    return _FIELD_CLASSES[field["kind"]](field)


def _common(field: Description) -> dict[str, Any]:
    return {"alignment": field["alignment"], "visible": field["visible"]}


def _integer(field: Description) -> IntegerFieldClass:
    return IntegerFieldClass(
        **_common(field), size=field["size"], signed=field["signed"], base=field["base"]
    )


def _enumeration(field: Description) -> EnumerationFieldClass:
    return EnumerationFieldClass(
        **_common(field),
        size=field["size"],
        signed=field["signed"],
        base=field["base"],
        mappings=tuple(EnumerationMapping(*mapping) for mapping in field["mappings"]),
    )


def _float(field: Description) -> FloatFieldClass:
    return FloatFieldClass(**_common(field), size=field["size"])


def _string(field: Description) -> StringFieldClass:
    return StringFieldClass(**_common(field))


def _array(field: Description) -> ArrayFieldClass:
    return ArrayFieldClass(
        **_common(field),
        element=_field(field["element"]),
        length=field["length"],
        text=field["text"],
    )


def _members(members: Sequence[tuple[str, Description]]) -> tuple[Member, ...]:
    return tuple(Member(name, _field(field)) for name, field in members)


def _structure(field: Description) -> StructureFieldClass:
    return StructureFieldClass(**_common(field), members=_members(field["members"]))


def _variant(field: Description) -> VariantFieldClass:
    return VariantFieldClass(
        **_common(field), options=_members(field["options"]), selector=field["selector"]
    )


_FIELD_CLASSES: Mapping[str, Callable[[Description], FieldClass]] = {
    "integer": _integer,
    "enumeration": _enumeration,
    "float": _float,
    "string": _string,
    "array": _array,
    "structure": _structure,
    "variant": _variant,
}
