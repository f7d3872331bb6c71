"""Field classes of events, from what programs send to TSDL."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence

from ...._typing import NamedTuple
from .abi import NAME_SIZE, text

__all__ = ["EnumLabels", "UnknownFieldClassError", "field_lines", "quoted"]

FIELD_SIZE = 920
TYPE_AT, TYPE_END = 260, 892
LABEL_SIZE, LABEL_AT, OPTIONS_AT = 336, 48, 304
IS_AUTOMATIC = 1
"""The value of a label is that after the last one."""
INTEGER, STRING, FLOAT, VARIANT, ENUM, ARRAY, SEQUENCE = 0, 4, 5, 6, 8, 9, 10
STRUCT = 11
MOST_FIELDS = 4096
MOST_NESTED = 16
"""How many field classes may be within each other."""
ENCODINGS = ("none", "UTF8", "ASCII")


class UnknownFieldClassError(ValueError):
    """A class of fields that there is no TSDL for here."""


class EnumLabels(NamedTuple):
    """The labels of an enumeration, as a program sent them."""

    name: str
    raw: bytes


class _Row(NamedTuple):
    name: str
    kind: int
    facts: bytes


def field_lines(raw: bytes, enums: Mapping[int, EnumLabels]) -> list[str]:
    """Return the declarations of fields.

    Args:
        raw: What a program sent of them.
        enums: The enumerations that it has named before.

    Returns:
        A declaration for each field, with the underscore that LTTng puts before names.

    Raises:
        UnknownFieldClassError: One of them has no TSDL here.
    """
    if len(raw) % FIELD_SIZE or len(raw) > MOST_FIELDS * FIELD_SIZE:
        raise UnknownFieldClassError("expected whole descriptions of fields")
    rows = [
        _Row(
            text(raw[at : at + NAME_SIZE]),
            struct.unpack_from("=i", raw, at + NAME_SIZE)[0],
            raw[at + TYPE_AT : at + TYPE_END],
        )
        for at in range(0, len(raw), FIELD_SIZE)
    ]
    lines = []
    while rows:
        name, before, after = _declare(rows, enums)
        lines.append(f"{before} _{_identifier(name)}{after};")
    return lines


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def quoted(value: str) -> str:
    """Return a string of TSDL.

    Args:
        value: What it says.
    """
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _declare(
    rows: list[_Row], enums: Mapping[int, EnumLabels], depth: int = 1
) -> tuple[str, str, str]:
    """Take a field with all of its own; return its name and what is around it."""
    if depth > MOST_NESTED:
        raise UnknownFieldClassError(
            f"expected up to {MOST_NESTED} field classes within each other"
        )
    if not rows:
        raise UnknownFieldClassError("expected an element after an array")
    name, kind, facts = rows.pop(0)
    if kind == INTEGER:
        return name, _integer(facts), ""
    if kind == STRING:
        (encoding,) = struct.unpack_from("=i", facts)
        return name, f"string {{ encoding = {_encoding(encoding)}; }}", ""
    if kind == FLOAT:
        exponent, mantissa, reverse, align = struct.unpack_from("=IIIH", facts)
        order = " byte_order = be;" if reverse else ""
        facts_text = f"exp_dig = {exponent}; mant_dig = {mantissa}; align = {align};"
        return name, f"floating_point {{ {facts_text}{order} }}", ""
    return name, *_declare_compound(kind, facts, rows, enums, depth)


def _declare_compound(
    kind: int,
    facts: bytes,
    rows: list[_Row],
    enums: Mapping[int, EnumLabels],
    depth: int,
) -> tuple[str, str]:
    """Take what belongs to a field after it; return what is around its name."""
    if kind == ENUM:
        (number,) = struct.unpack_from("=Q", facts, NAME_SIZE)
        is_signed = bool(rows) and struct.unpack_from("=I", rows[0].facts, 4)[0]
        _, container, _ = _declare(rows, enums, depth + 1)
        if number not in enums:
            raise UnknownFieldClassError("expected an enumeration that was sent")
        labels = _labels(enums[number].raw, is_signed=bool(is_signed))
        return f"enum : {container} {{ {', '.join(labels)} }}", ""
    (count,) = struct.unpack_from("=I", facts)
    if kind in {ARRAY, SEQUENCE}:
        length = (
            str(count) if kind == ARRAY else f"_{_identifier(text(facts[:NAME_SIZE]))}"
        )
        _, element, rest = _declare(rows, enums, depth + 1)
        return element, f"[{length}]{rest}"
    if kind in {STRUCT, VARIANT}:
        members = "".join(
            f" {before} _{_identifier(member)}{after};"
            for member, before, after in (
                _declare(rows, enums, depth + 1) for _ in range(count)
            )
        )
        tag = _identifier(text(facts[4 : 4 + NAME_SIZE]))
        head = "struct" if kind == STRUCT else f"variant <_{tag}>"
        return f"{head} {{{members} }}", ""
    raise UnknownFieldClassError(f"expected no field class {kind}")


def _integer(facts: bytes) -> str:
    size, signed, reverse, base, encoding, align = struct.unpack_from("=IIIIiH", facts)
    order = " byte_order = be;" if reverse else ""
    return (
        f"integer {{ size = {size}; align = {align}; signed = {int(bool(signed))}; "
        f"encoding = {_encoding(encoding)}; base = {base};{order} }}"
    )


def _encoding(number: int) -> str:
    return ENCODINGS[number] if 0 <= number < len(ENCODINGS) else "none"


def _labels(raw: bytes, *, is_signed: bool) -> Sequence[str]:
    labels = []
    value = "=q" if is_signed else "=Q"
    following = 0
    for at in range(0, len(raw) - LABEL_SIZE + 1, LABEL_SIZE):
        first, last = (
            struct.unpack_from(value, raw, at + place)[0] for place in (0, 24)
        )
        (options,) = struct.unpack_from("=I", raw, at + OPTIONS_AT)
        if options & IS_AUTOMATIC:
            first = last = following
        following = last + 1
        label = quoted(text(raw[at + LABEL_AT : at + LABEL_AT + NAME_SIZE]))
        labels.append(f"{label} = {first} ... {last}")
    return labels
