"""Metadata of CTF 2: JSON fragments (CTF2-SPEC-2.0, section 5; RFC 7464)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias
from uuid import UUID

from ...errors import DeclarationError
from ...model import (
    ArrayFieldClass,
    BitArrayFieldClass,
    BitMapFieldClass,
    BlobFieldClass,
    BooleanFieldClass,
    ClockClass,
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
    VariableLengthIntegerFieldClass,
    VariantFieldClass,
)

__all__ = ["Fragments"]

_Json: TypeAlias = dict[str, Any]
_Scope: TypeAlias = tuple[Sequence[str], ...]
"""Names of the members so far of each structure around a field, outermost first."""

_LEVELS = (
    "emergency",
    "alert",
    "critical",
    "error",
    "warning",
    "notice",
    "info",
    "debug:system",
    "debug:program",
    "debug:process",
    "debug:module",
    "debug:unit",
    "debug:function",
    "debug:line",
    "debug",
)
"""Words for log levels, by their number."""


class Fragments:
    """Writes the parts of metadata as JSON.

    Args:
        order: Byte order of fields that state none.
    """

    def __init__(self, order: Literal["little", "big"]) -> None:
        self._order = order

    def trace(self, uuid: UUID, environment: Mapping[str, int | str]) -> str:
        """Return preamble and trace class (CTF2-SPEC-2.0, sections 5.4 and 5.6).

        Args:
            uuid: UUID of the metadata.
            environment: Entries of the environment.

        Returns:
            The text.
        """
        preamble: _Json = {"type": "preamble", "version": 2, "uuid": list(uuid.bytes)}
        trace: _Json = {"type": "trace-class"}
        if environment:
            trace["environment"] = dict(environment)
        uuid_class = {
            "type": "static-length-blob",
            "length": 16,
            "roles": ["metadata-stream-uuid"],
        }
        trace["packet-header-field-class"] = _structure(
            {
                "magic": self._role(32, "packet-magic-number"),
                "uuid": uuid_class,
                "stream_id": self._role(64, "data-stream-class-id"),
                "stream_instance_id": self._role(64, "data-stream-id"),
            }
        )
        return _fragment(preamble) + _fragment(trace)

    def clock(self, clock: ClockClass) -> str:
        """Return a clock class (CTF2-SPEC-2.0, section 5.7).

        Args:
            clock: The clock class.

        Returns:
            The text.
        """
        optional = {
            "namespace": clock.namespace,
            "uid": clock.uid,
            "description": clock.description,
            "precision": clock.precision,
            "accuracy": clock.accuracy,
            "origin": _origin(clock),
        }
        return _fragment(
            {
                "type": "clock-class",
                "id": clock.name,
                "name": clock.name,
                "frequency": clock.frequency,
                "offset-from-origin": {
                    "seconds": clock.offset_seconds,
                    "cycles": clock.offset_cycles,
                },
                **{
                    name: value for name, value in optional.items() if value is not None
                },
            }
        )

    def stream_class(self, stream: StreamClass) -> str:
        """Return a data stream class (CTF2-SPEC-2.0, section 5.8).

        Args:
            stream: The stream class.

        Returns:
            The text.
        """
        time = "default-clock-timestamp"
        context = {
            "packet_size": self._role(64, "packet-total-length"),
            "content_size": self._role(64, "packet-content-length"),
            "timestamp_begin": self._role(64, time),
            "timestamp_end": self._role(64, f"packet-end-{time}"),
            "events_discarded": self._role(
                64, "discarded-event-record-counter-snapshot"
            ),
            "packet_seq_num": self._role(64, "packet-sequence-number"),
        }
        if stream.packet_context is not None:
            context |= self._members(stream.packet_context, ())
        header = {
            "id": self._role(16, "event-record-class-id"),
            "timestamp": self._role(64, time),
        }
        fragment: _Json = {"type": "data-stream-class", "id": stream.id}
        if stream.name is not None:
            fragment["name"] = stream.name
        if stream.clock is not None:
            fragment["default-clock-class-id"] = stream.clock.name
        fragment["packet-context-field-class"] = _structure(context)
        fragment["event-record-header-field-class"] = _structure(header)
        if stream.event_context is not None:
            common = self._field(stream.event_context, ())
            fragment["event-record-common-context-field-class"] = common
        return _fragment(fragment)

    def event_class(self, stream: StreamClass, event: EventRecordClass) -> str:
        """Return an event record class (CTF2-SPEC-2.0, section 5.9).

        Args:
            stream: Its stream class.
            event: The event record class.

        Returns:
            The text.
        """
        fragment: _Json = {
            "type": "event-record-class",
            "id": event.id,
            "data-stream-class-id": stream.id,
            "name": event.name,
        }
        attributes: _Json = {}
        if event.log_level is not None:
            attributes["log-level"] = _log_level(event.log_level)
        if event.emf_uri is not None:
            attributes["emf-uri"] = event.emf_uri
        if attributes:
            fragment["attributes"] = {"lttng.org,2009": attributes}
        if event.context is not None:
            context = self._field(event.context, ())
            fragment["specific-context-field-class"] = context
        if event.payload is not None:
            fragment["payload-field-class"] = self._field(event.payload, ())
        return _fragment(fragment)

    def _role(self, size: int, role: str) -> _Json:
        return {
            "type": "fixed-length-unsigned-integer",
            "length": size,
            "alignment": 8,
            "byte-order": f"{self._order}-endian",
            "roles": [role],
        }

    def _members(self, structure: StructureFieldClass, scope: _Scope) -> _Json:
        before: list[str] = []
        inner = (*scope, before)
        members = {}
        for member in structure.members:
            members[member.name] = self._field(member.field_class, inner)
            before.append(member.name)
        return members

    def _field(  # noqa: PLR0911 - one for each class
        self, field_class: FieldClass, scope: _Scope
    ) -> _Json:
        match field_class:
            case StructureFieldClass(alignment=alignment):
                members = self._members(field_class, scope)
                return _structure(members, alignment)
            case IntegerFieldClass():
                return self._integer(field_class)
            case BitArrayFieldClass():
                return self._bits(field_class)
            case FloatFieldClass(size=size):
                return self._fixed("floating-point-number", size, field_class)
            case VariableLengthIntegerFieldClass(signed=signed, base=base):
                kind = f"variable-length-{_sign(signed)}-integer"
                shown = {"preferred-display-base": base}
                return {"type": kind, **shown, **_mapped(field_class.mappings)}
            case EncodedStringFieldClass(encoding=encoding, length=length):
                if length is None:
                    return {"type": "null-terminated-string", "encoding": encoding}
                sized = _sized("string", length, scope)
                return {**sized, "encoding": encoding}
            case StringFieldClass():
                return {"type": "null-terminated-string"}
            case BlobFieldClass(length=length, media_type=media_type):
                return {**_sized("blob", length, scope), "media-type": media_type}
        return self._compound(field_class, scope)

    def _compound(self, field_class: FieldClass, scope: _Scope) -> _Json:
        match field_class:
            case ArrayFieldClass(length=length, element=element, text=text):
                if text:
                    return _sized("string", length, scope)
                return {
                    **_sized("array", length, scope),
                    "minimum-alignment": field_class.alignment,
                    "element-field-class": self._field(element, scope),
                }
            case VariantFieldClass(selector=selector):
                options = zip(field_class.options, field_class.ranges, strict=False)
                return {
                    "type": "variant",
                    "selector-field-location": _location(selector, scope),
                    "options": [
                        self._option(option, ranges, scope)
                        for option, ranges in options
                    ],
                }
            case OptionalFieldClass(selector=selector, ranges=ranges):
                optional: _Json = {
                    "type": "optional",
                    "selector-field-location": _location(selector, scope),
                    "field-class": self._field(field_class.field_class, scope),
                }
                if ranges:
                    optional["selector-field-ranges"] = [list(one) for one in ranges]
                return optional
        raise DeclarationError(f"CTF 2 has no {type(field_class).__name__}")

    def _option(
        self, option: Member, ranges: Iterable[tuple[int, int]], scope: _Scope
    ) -> _Json:
        return {
            "name": option.name,
            "selector-field-ranges": [list(one) for one in ranges],
            "field-class": self._field(option.field_class, scope),
        }

    def _integer(self, field_class: IntegerFieldClass) -> _Json:
        kind = f"{_sign(field_class.signed)}-integer"
        mappings: Sequence[EnumerationMapping] = ()
        if isinstance(field_class, EnumerationFieldClass):
            mappings = field_class.mappings
        return {
            **self._fixed(kind, field_class.size, field_class),
            "preferred-display-base": field_class.base,
            **_mapped(mappings),
        }

    def _bits(self, field_class: BitArrayFieldClass) -> _Json:
        match field_class:
            case BooleanFieldClass(size=size):
                return self._fixed("boolean", size, field_class)
            case BitMapFieldClass(size=size, flags=flags):
                fixed = self._fixed("bit-map", size, field_class)
                return {**fixed, **_mapped(flags, "flags")}
        return self._fixed("bit-array", field_class.size, field_class)

    def _fixed(
        self,
        kind: str,
        size: int,
        field_class: IntegerFieldClass | BitArrayFieldClass | FloatFieldClass,
    ) -> _Json:
        return {
            "type": f"fixed-length-{kind}",
            "length": size,
            "alignment": field_class.alignment,
            "byte-order": f"{field_class.byte_order or self._order}-endian",
        }


def _fragment(fragment: _Json) -> str:
    return f"\x1e{json.dumps(fragment, ensure_ascii=False)}\n"


def _structure(members: Mapping[str, object], alignment: int = 1) -> _Json:
    classes = [{"name": name, "field-class": one} for name, one in members.items()]
    return {
        "type": "structure",
        "minimum-alignment": alignment,
        "member-classes": classes,
    }


def _origin(clock: ClockClass) -> str | _Json | None:
    origin = clock.origin
    if clock.absolute or (origin is not None and origin.name == "unix-epoch"):
        return "unix-epoch"
    if origin is None:
        return None
    named = {} if origin.namespace is None else {"namespace": origin.namespace}
    return {**named, "name": origin.name, "uid": origin.uid}


def _log_level(level: int) -> str | int:
    return _LEVELS[level] if 0 <= level < len(_LEVELS) else level


def _sign(signed: object) -> str:
    return "signed" if signed else "unsigned"


def _mapped(mappings: Sequence[EnumerationMapping], name: str = "mappings") -> _Json:
    ranges: dict[str, list[list[int]]] = {}
    for mapping in mappings:
        ranges.setdefault(mapping.label, []).append([mapping.lower, mapping.upper])
    return {name: ranges} if ranges else {}


def _sized(kind: str, length: int | str, scope: _Scope) -> _Json:
    if isinstance(length, int):
        return {"type": f"static-length-{kind}", "length": length}
    location = _location(length, scope)
    return {"type": f"dynamic-length-{kind}", "length-field-location": location}


def _location(name: str, scope: _Scope) -> _Json:
    """Return where a member of this structure, or of one around it, is found."""
    for levels, names in enumerate(reversed(scope)):
        if name in names:
            return {"path": [*[None] * levels, name]}
    raise DeclarationError("no member of this name stands before", name=name)
