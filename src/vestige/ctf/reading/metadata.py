"""The model of a trace class, built from what the Rust core parsed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast
from uuid import UUID

from ... import core
from ...errors import TraceFormatError
from ...model import (
    ArrayFieldClass,
    BitArrayFieldClass,
    BitMapFieldClass,
    BlobFieldClass,
    BooleanFieldClass,
    ClockClass,
    ClockOrigin,
    EncodedStringFieldClass,
    EnumerationFieldClass,
    EnumerationMapping,
    EventRecordClass,
    FieldClass,
    FloatFieldClass,
    IntegerFieldClass,
    Member,
    OptionalFieldClass,
    StreamClass,
    StringFieldClass,
    StructureFieldClass,
    TraceClass,
    VariableLengthIntegerFieldClass,
    VariantFieldClass,
)
from ...model.attributes import no_attributes
from ...model.clock_class import UNIX_EPOCH

__all__ = ["trace_class_model"]

# What the core describes is nested dictionaries, so their values are of any type here.
Description = Mapping[str, Any]


def trace_class_model(trace_class: core.TraceClass) -> TraceClass:
    """Build the model of a trace class.

    Args:
        trace_class: The parsed metadata.

    Returns:
        The trace class as frozen values.

    Raises:
        TraceFormatError: Field classes are nested deeper than Python follows; events
            can be read all the same.
    """
    try:
        return _model(trace_class.describe())
    except RecursionError:
        raise TraceFormatError(
            "field classes are nested too deep for a model in Python"
        ) from None


def _model(description: Description) -> TraceClass:
    clocks = tuple(_clock(clock) for clock in description["clocks"])
    return TraceClass(
        version=description["version"],
        uuid=_uuid(description["uuid"]),
        environment=MappingProxyType(dict(description["environment"])),
        clocks=clocks,
        stream_classes=tuple(
            _stream(stream, clocks) for stream in description["streams"]
        ),
        name=description["name"],
        **_identity(description),
    )


def _identity(description: Description) -> dict[str, Any]:
    return {
        "namespace": description["namespace"],
        "uid": description["uid"],
        "attributes": _attributes(description["attributes"]),
    }


def _attributes(text: str | None) -> Mapping[str, object]:
    return MappingProxyType(json.loads(text)) if text else no_attributes()


def _uuid(raw: bytes | None) -> UUID | None:
    return None if raw is None else UUID(bytes=raw)


def _clock(clock: Description) -> ClockClass:
    changed = {
        "uuid": _uuid(clock["uuid"]),
        "origin": _origin(clock["origin"]),
        "attributes": _attributes(clock["attributes"]),
    }
    return ClockClass(**{**clock, **changed})


def _origin(origin: str | tuple[str | None, str, str] | None) -> ClockOrigin | None:
    if origin is None:
        return None
    if isinstance(origin, str):
        return UNIX_EPOCH
    namespace, name, uid = origin
    return ClockOrigin(name, uid, namespace)


def _stream(stream: Description, clocks: Sequence[ClockClass]) -> StreamClass:
    clock = stream["clock"]
    return StreamClass(
        id=stream["id"],
        clock=None if clock is None else clocks[clock],
        packet_context=_scope(stream["packet_context"]),
        event_context=_scope(stream["event_context"]),
        event_classes=tuple(_event(event) for event in stream["events"]),
        name=stream["name"],
        **_identity(stream),
    )


def _event(event: Description) -> EventRecordClass:
    return EventRecordClass(
        id=event["id"],
        name=event["name"],
        log_level=event["log_level"],
        emf_uri=event["emf_uri"],
        context=_scope(event["context"]),
        payload=_scope(event["payload"]),
        **_identity(event),
    )


def _scope(field: Description | None) -> StructureFieldClass | None:
    # The parser accepts nothing but a structure as a scope.
    return None if field is None else cast("StructureFieldClass", _field(field))


def _field(field: Description) -> FieldClass:
    return _FIELD_CLASSES[field["kind"]](field)


def _common(field: Description) -> dict[str, Any]:
    return {
        "alignment": field["alignment"],
        "visible": field["visible"],
        "attributes": _attributes(field["attributes"]),
    }


def _fixed(field: Description) -> dict[str, Any]:
    """Return what classes of a fixed number of bits have in common."""
    return {
        **_common(field),
        "size": field["size"],
        "byte_order": field["byte_order"],
    }


def _integer(field: Description) -> IntegerFieldClass:
    return IntegerFieldClass(
        **_fixed(field), signed=field["signed"], base=field["base"]
    )


def _enumeration(field: Description) -> EnumerationFieldClass:
    return EnumerationFieldClass(
        **_fixed(field),
        signed=field["signed"],
        base=field["base"],
        mappings=_mappings(field["mappings"]),
    )


def _mappings(
    mappings: Sequence[tuple[str, int, int]],
) -> tuple[EnumerationMapping, ...]:
    return tuple(EnumerationMapping(*mapping) for mapping in mappings)


def _float(field: Description) -> FloatFieldClass:
    return FloatFieldClass(**_fixed(field))


def _string(field: Description) -> StringFieldClass:
    return StringFieldClass(**_common(field))


def _array(field: Description) -> ArrayFieldClass:
    return ArrayFieldClass(
        **_common(field),
        element=_field(field["element"]),
        length=field["length"],
        text=field["text"],
    )


def _members(
    members: Sequence[tuple[str, Description, str | None]],
) -> tuple[Member, ...]:
    return tuple(
        Member(name, _field(field), _attributes(attributes))
        for name, field, attributes in members
    )


def _structure(field: Description) -> StructureFieldClass:
    return StructureFieldClass(**_common(field), members=_members(field["members"]))


def _variant(field: Description) -> VariantFieldClass:
    return VariantFieldClass(
        **_common(field),
        options=_members(field["options"]),
        selector=field["selector"],
        ranges=tuple(tuple(ranges) for ranges in field["ranges"]),
    )


def _bit_array(field: Description) -> BitArrayFieldClass:
    return BitArrayFieldClass(**_fixed(field))


def _boolean(field: Description) -> BooleanFieldClass:
    return BooleanFieldClass(**_fixed(field))


def _bit_map(field: Description) -> BitMapFieldClass:
    return BitMapFieldClass(**_fixed(field), flags=_mappings(field["flags"]))


def _variable_length(field: Description) -> VariableLengthIntegerFieldClass:
    return VariableLengthIntegerFieldClass(
        **_common(field),
        signed=field["signed"],
        base=field["base"],
        mappings=_mappings(field["mappings"]),
    )


def _encoded_string(field: Description) -> EncodedStringFieldClass:
    return EncodedStringFieldClass(
        **_common(field), length=field["length"], encoding=field["encoding"]
    )


def _blob(field: Description) -> BlobFieldClass:
    return BlobFieldClass(
        **_common(field), length=field["length"], media_type=field["media_type"]
    )


def _optional(field: Description) -> OptionalFieldClass:
    return OptionalFieldClass(
        **_common(field),
        field_class=_field(field["field"]),
        selector=field["selector"],
        ranges=tuple(field["ranges"]),
    )


_FIELD_CLASSES: Mapping[str, Callable[[Description], FieldClass]] = {
    "integer": _integer,
    "enumeration": _enumeration,
    "float": _float,
    "string": _string,
    "array": _array,
    "structure": _structure,
    "variant": _variant,
    "bit-array": _bit_array,
    "boolean": _boolean,
    "bit-map": _bit_map,
    "variable-length-integer": _variable_length,
    "encoded-string": _encoded_string,
    "blob": _blob,
    "optional": _optional,
}
