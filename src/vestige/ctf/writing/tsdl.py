"""Metadata of CTF 1.8 as text (CTF 1.8.3, section 7 and appendix C)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from uuid import UUID

from ...errors import DeclarationError
from ...model import (
    ArrayFieldClass,
    ClockClass,
    EnumerationFieldClass,
    EventRecordClass,
    FieldClass,
    FloatFieldClass,
    IntegerFieldClass,
    StreamClass,
    StringFieldClass,
    StructureFieldClass,
    VariantFieldClass,
)
from .lowering import KEYWORDS, is_identifier

__all__ = ["Tsdl"]

_ORDERS = {"little": "le", "big": "be"}
_NUMBER = "integer {{ size = {size}; align = {align}; signed = {signed}; base = {base};"
_MANTISSA = {32: (8, 24), 64: (11, 53)}
"""Digits of exponent and mantissa; the latter counts the sign (CTF 1.8.3, 4.1.7)."""

_TRACE = """\
/* CTF 1.8 */

trace {{
	major = 1;
	minor = 8;
	uuid = "{uuid}";
	byte_order = {order};
	packet.header := struct {{
		integer {{ size = 32; align = 8; base = 16; }} magic;
		integer {{ size = 8; align = 8; base = 16; }} uuid[16];
		integer {{ size = 64; align = 8; }} stream_id;
		integer {{ size = 64; align = 8; }} stream_instance_id;
	}};
}};
"""
_STREAM = """
stream {{
	id = {id};
	packet.context := struct {{
		integer {{ size = 64; align = 8; }} packet_size;
		integer {{ size = 64; align = 8; }} content_size;
		integer {{ size = 64; align = 8; map = clock.{clock}.value; }} timestamp_begin;
		integer {{ size = 64; align = 8; map = clock.{clock}.value; }} timestamp_end;
		integer {{ size = 64; align = 8; }} events_discarded;
		integer {{ size = 64; align = 8; }} packet_seq_num;
{context}	}};
	event.header := struct {{
		integer {{ size = 16; align = 8; }} id;
		integer {{ size = 64; align = 8; map = clock.{clock}.value; }} timestamp;
	}};
{common}}};
"""


class Tsdl:
    """Writes the parts of metadata in the Trace Stream Description Language.

    Args:
        order: Byte order of the trace.
    """

    def __init__(self, order: Literal["little", "big"]) -> None:
        self._order = order

    def trace(self, uuid: UUID, environment: Mapping[str, int | str]) -> str:
        """Return what stands first.

        Args:
            uuid: UUID of the trace.
            environment: Entries of the environment.

        Returns:
            The text.
        """
        text = _TRACE.format(uuid=uuid, order=_ORDERS[self._order])
        if not environment:
            return text
        entries = (_entry(name, value) for name, value in environment.items())
        return f"{text}\nenv {{\n{''.join(entries)}}};\n"

    def clock(self, clock: ClockClass) -> str:
        """Return a clock class (CTF 1.8.3, section 8).

        Args:
            clock: The clock class.

        Returns:
            The text.
        """
        _check_identifier(clock.name, "a clock class")
        lines = [f"name = {clock.name};"]
        if clock.uuid is not None:
            lines.append(f'uuid = "{clock.uuid}";')
        if clock.description is not None:
            lines.append(f"description = {_quoted(clock.description)};")
        lines.append(f"freq = {clock.frequency};")
        if clock.precision is not None:
            lines.append(f"precision = {clock.precision};")
        lines += [
            f"offset_s = {clock.offset_seconds};",
            f"offset = {clock.offset_cycles};",
            f"absolute = {_truth(clock.absolute)};",
        ]
        return "\nclock {\n" + "".join(f"\t{line}\n" for line in lines) + "};\n"

    def stream_class(self, stream: StreamClass) -> str:
        """Return a stream class without its event record classes.

        Args:
            stream: The stream class.

        Returns:
            The text.
        """
        assert stream.clock is not None  # noqa: S101 - the writer gives each one
        context = stream.packet_context
        common = stream.event_context
        return _STREAM.format(
            id=stream.id,
            clock=stream.clock.name,
            context="" if context is None else self._members(context, "\t\t"),
            common="" if common is None else self._scope("event.context", common),
        )

    def event_class(self, stream: StreamClass, event: EventRecordClass) -> str:
        """Return an event record class.

        Args:
            stream: Its stream class.
            event: The event record class.

        Returns:
            The text.
        """
        lines = [f"name = {_quoted(event.name or '')};", f"id = {event.id};"]
        lines.append(f"stream_id = {stream.id};")
        if event.log_level is not None:
            lines.append(f"loglevel = {event.log_level};")
        if event.emf_uri is not None:
            lines.append(f"model.emf.uri = {_quoted(event.emf_uri)};")
        body = "".join(f"\t{line}\n" for line in lines)
        if event.context is not None:
            body += self._scope("context", event.context)
        if event.payload is not None:
            body += self._scope("fields", event.payload)
        return f"\nevent {{\n{body}}};\n"

    def _scope(self, name: str, structure: StructureFieldClass) -> str:
        members = self._members(structure, "\t\t")
        align = f" align({structure.alignment})" if structure.alignment > 1 else ""
        return f"\t{name} := struct {{\n{members}\t}}{align};\n"

    def _members(self, structure: StructureFieldClass, indent: str) -> str:
        return "".join(
            f"{indent}{self.declaration('_' + member.name, member.field_class)};\n"
            for member in structure.members
        )

    def declaration(self, name: str, field_class: FieldClass) -> str:
        """Return the declaration of a field, without a semicolon.

        An array has its length after its name, as in C.

        Args:
            name: The name of the field, with the underscore it may have.
            field_class: Its field class.

        Returns:
            The text.
        """
        lengths = ""
        inner = field_class
        while isinstance(inner, ArrayFieldClass):
            lengths += f"[{_length(inner.length)}]"
            if inner.text and isinstance(inner.element, IntegerFieldClass):
                return f"{self._integer(inner.element, text=True)} {name}{lengths}"
            inner = inner.element
        return f"{self._type(inner)} {name}{lengths}"

    def _type(self, field_class: FieldClass) -> str:
        match field_class:
            case EnumerationFieldClass():
                return self._enumeration(field_class)
            case IntegerFieldClass():
                return self._integer(field_class)
            case FloatFieldClass(size=size, alignment=align):
                exponent, mantissa = _MANTISSA[size]
                return (
                    f"floating_point {{ exp_dig = {exponent}; mant_dig = {mantissa}; "
                    f"align = {align};{self._byte_order(field_class)} }}"
                )
            case StringFieldClass():
                return "string"
            case StructureFieldClass(alignment=align):
                members = self._members(field_class, "").replace("\n", " ")
                return f"struct {{ {members}}} align({align})"
            case VariantFieldClass(selector=selector):
                options = "".join(
                    f"{self.declaration(option.name, option.field_class)}; "
                    for option in field_class.options
                )
                return f"variant <_{selector}> {{ {options}}}"
        raise DeclarationError(f"CTF 1.8 has no {type(field_class).__name__}")

    def _integer(self, field_class: IntegerFieldClass, *, text: bool = False) -> str:
        number = _NUMBER.format(
            size=field_class.size,
            align=field_class.alignment,
            signed=_truth(field_class.signed),
            base=field_class.base,
        )
        encoding = " encoding = UTF8;" if text else ""
        return f"{number}{encoding}{self._byte_order(field_class)} }}"

    def _byte_order(self, field_class: IntegerFieldClass | FloatFieldClass) -> str:
        order = field_class.byte_order
        return "" if order is None else f" byte_order = {_ORDERS[order]};"

    def _enumeration(self, field_class: EnumerationFieldClass) -> str:
        mappings = ", ".join(
            f"{_quoted(mapping.label)} = {mapping.lower} ... {mapping.upper}"
            if mapping.lower != mapping.upper
            else f"{_quoted(mapping.label)} = {mapping.lower}"
            for mapping in field_class.mappings
        )
        return f"enum : {self._integer(field_class)} {{ {mappings} }}"


def _length(length: int | str) -> str:
    return str(length) if isinstance(length, int) else f"_{length}"


def _entry(name: str, value: int | str) -> str:
    _check_identifier(name, "an entry of the environment")
    shown = value if isinstance(value, int) else _quoted(value)
    return f"\t{name} = {shown};\n"


def _check_identifier(name: str, what: str) -> None:
    if not is_identifier(name) or name in KEYWORDS:
        raise DeclarationError(
            f"the name of {what} must be one of letters, digits and underscores that "
            "is no keyword of CTF 1.8",
            name=name,
        )


def _truth(value: object) -> str:
    return "true" if value else "false"


def _quoted(text: str) -> str:
    """Return a string literal (CTF 1.8.3, C.1.6)."""
    if "\0" in text:
        raise DeclarationError("a text in metadata holds U+0000", name=text)
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return f'"{"".join(escapes.get(one, one) for one in text)}"'
