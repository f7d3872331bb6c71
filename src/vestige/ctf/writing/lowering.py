"""Completing declared classes: what the writer adds, and what a version does not have.

A length, a selector or a presence that is :data:`~.declarations.AUTOMATIC` becomes a
member of its own in front of the member that needs it. Its name is that of the other,
with an underscore before and ``_length``, ``_tag`` or ``_present`` after it, as LTTng
names its lengths.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from ...errors import DeclarationError
from ...model import (
    ArrayFieldClass,
    BitArrayFieldClass,
    BlobFieldClass,
    BooleanFieldClass,
    EncodedStringFieldClass,
    EnumerationFieldClass,
    EnumerationMapping,
    FieldClass,
    IntegerFieldClass,
    Member,
    OptionalFieldClass,
    StructureFieldClass,
    VariableLengthIntegerFieldClass,
    VariantFieldClass,
)
from .declarations import AUTOMATIC, array, boolean, integer
from .properties import check_properties

__all__ = ["KEYWORDS", "Version", "is_identifier", "lowered"]

Version: TypeAlias = Literal["1.8", "2"]
"""Version of the Common Trace Format."""

MAX_DEPTH = 100
"""Deepest nesting of field classes."""

_TYPES = {
    "_Bool",
    "_Complex",
    "_Imaginary",
    "char",
    "const",
    "double",
    "float",
    "int",
    "long",
    "short",
    "signed",
    "unsigned",
    "void",
}
_RESERVED = {
    "align",
    "callsite",
    "clock",
    "enum",
    "env",
    "event",
    "floating_point",
    "integer",
    "stream",
    "string",
    "struct",
    "trace",
    "typealias",
    "typedef",
    "variant",
}
KEYWORDS = frozenset(_TYPES | _RESERVED)
"""Words that are no names in TSDL (CTF 1.8.3, C.1.2)."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_Names: TypeAlias = tuple[str, ...]
"""Names of the members that stand before, the nearest last."""

_LENGTH = integer(32)
_BYTE = integer(8, base=16)


def lowered(structure: StructureFieldClass, version: Version) -> StructureFieldClass:
    """Return a structure with all that its members need.

    Args:
        structure: The structure of a scope, such as a payload.
        version: The version of the format that it is for.

    Returns:
        The structure, in which every length and selector is a member.

    Raises:
        DeclarationError: The version has no such classes.
    """
    return _structure(structure, version, 0, ())


def is_identifier(name: str) -> bool:
    """Tell whether a name is one that TSDL has (CTF 1.8.3, C.1.2).

    Args:
        name: The name.
    """
    return _IDENTIFIER.fullmatch(name) is not None


def _structure(
    structure: StructureFieldClass, version: Version, depth: int, outer: _Names
) -> StructureFieldClass:
    members: list[Member] = []
    for member in structure.members:
        visible = (*outer, *(one.name for one in members))
        members += _member(member, version, depth + 1, visible)
    names = [member.name for member in members]
    for name in names:
        _check_name(name, version)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DeclarationError("a second member of this name", name=twice)
    alignments = (member.field_class.alignment for member in members)
    return replace(
        structure,
        members=tuple(members),
        alignment=max([structure.alignment, *alignments]),
    )


def _check_name(name: str, version: Version) -> None:
    if not name:
        raise DeclarationError("a name is empty")
    if "\0" in name:
        raise DeclarationError("a name holds U+0000", name=name)
    if version == "1.8" and not is_identifier(name):
        raise DeclarationError(
            "expected a name of letters, digits and underscores: CTF 1.8 has no other",
            name=name,
        )


def _member(
    member: Member, version: Version, depth: int, visible: _Names
) -> Iterator[Member]:
    """Yield a member after those that it needs."""
    name = member.name
    try:
        inner = _field(member.field_class, version, depth, visible)
        inner, needed = _with_needs(member, inner)
    except DeclarationError as error:
        error.name = f"{name}.{error.name}" if error.name else name
        raise
    yield from needed
    yield replace(member, field_class=inner)


def _with_needs(
    member: Member, field_class: FieldClass
) -> tuple[FieldClass, tuple[Member, ...]]:
    match field_class:
        case (
            ArrayFieldClass(length=str(length))
            | BlobFieldClass(length=str(length))
            | EncodedStringFieldClass(length=str(length))
        ) if length == AUTOMATIC:
            path = f"_{member.name}_length"
            return replace(field_class, length=path), (Member(path, _LENGTH),)
        case VariantFieldClass(selector="", options=options):
            path = f"_{member.name}_tag"
            ranges = tuple(((index, index),) for index in range(len(options)))
            inner = replace(field_class, selector=path, ranges=ranges)
            return inner, (Member(path, _tag(options)),)
        case OptionalFieldClass(selector=""):
            path = f"_{member.name}_present"
            return replace(field_class, selector=path, ranges=()), (
                Member(path, boolean()),
            )
    return field_class, ()


def _tag(options: tuple[Member, ...]) -> EnumerationFieldClass:
    mappings = tuple(
        EnumerationMapping(option.name, index, index)
        for index, option in enumerate(options)
    )
    size = 8 if len(options) <= 1 << 8 else 32
    return EnumerationFieldClass(
        8, visible=True, size=size, signed=False, base=10, mappings=mappings
    )


def _field(
    field_class: FieldClass, version: Version, depth: int, visible: _Names
) -> FieldClass:
    if depth > MAX_DEPTH:
        raise DeclarationError(f"field classes are nested more than {MAX_DEPTH} deep")
    if version == "1.8":
        field_class = _old(field_class)
    field_class = _located(field_class, visible)
    check_properties(field_class)
    match field_class:
        case StructureFieldClass():
            return _structure(field_class, version, depth, visible)
        case ArrayFieldClass():
            element = _nested(
                field_class.element, version, depth, visible, "an element"
            )
            return replace(
                field_class,
                element=element,
                alignment=max(field_class.alignment, element.alignment),
            )
        case VariantFieldClass(options=options):
            return replace(
                field_class, options=_options(options, version, depth, visible)
            )
        case OptionalFieldClass():
            what = "an optional field"
            inner = _nested(field_class.field_class, version, depth, visible, what)
            return replace(field_class, field_class=inner)
    return field_class


def _options(
    options: tuple[Member, ...], version: Version, depth: int, visible: _Names
) -> tuple[Member, ...]:
    if not options:
        raise DeclarationError("a variant without an option")
    for option in options:
        _check_name(option.name, version)
        # An underscore in front of it would be a part of the label that selects it.
        if version == "1.8" and (
            option.name in KEYWORDS or option.name.startswith("_")
        ):
            raise DeclarationError(
                "expected the name of an option that is no keyword of CTF 1.8 and has "
                "no underscore in front",
                name=option.name,
            )
    return tuple(
        replace(
            option,
            field_class=_nested(
                option.field_class, version, depth, visible, "an option"
            ),
        )
        for option in options
    )


def _nested(
    field_class: FieldClass, version: Version, depth: int, visible: _Names, what: str
) -> FieldClass:
    """Return a class that is no member, and so has no place for a length before it."""
    inner = _field(field_class, version, depth + 1, visible)
    if getattr(inner, "length", None) == AUTOMATIC or (
        getattr(inner, "selector", None) == AUTOMATIC
    ):
        raise DeclarationError(
            f"{what} with a length or a selector of its own must be in a structure"
        )
    return inner


def _old(field_class: FieldClass) -> FieldClass:
    """Return what CTF 1.8 has instead of a class."""
    match field_class:
        case BooleanFieldClass(size=size, alignment=alignment):
            return integer(size, alignment=alignment)
        case BlobFieldClass(length=length):
            return array(_BYTE, length)
        case IntegerFieldClass(size=size) if size > 64:  # noqa: PLR2004 - as it says
            raise DeclarationError(
                f"an integer of {size} bits: CTF 1.8 has up to 64 that readers take"
            )
        case (
            BitArrayFieldClass()
            | EncodedStringFieldClass()
            | OptionalFieldClass()
            | VariableLengthIntegerFieldClass()
        ):
            kind = type(field_class).__name__.removesuffix("FieldClass")
            raise DeclarationError(f"CTF 1.8 has no field class {kind}")
    return field_class


def _located(field_class: FieldClass, visible: _Names) -> FieldClass:
    """Return a class whose length or selector has the name that the member has here.

    In a class that was read from a trace it is the path in the metadata: in CTF 1.8
    with the underscore that readers remove, in CTF 2 after the place where it begins.
    """
    for fact in ("length", "selector"):
        path = getattr(field_class, fact, None)
        if isinstance(path, str) and path != AUTOMATIC and path not in visible:
            last = path.rpartition(".")[2]
            names = (last, last.removeprefix("_"))
            name = next((name for name in names if name in visible), path)
            changed: dict[str, Any] = {fact: name}
            return replace(field_class, **changed)
    return field_class
