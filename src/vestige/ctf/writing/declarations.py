"""Declaring field classes in few words.

What :class:`.Writer` takes as a field class is a *declaration*: a class of
:mod:`vestige.model`, or one of the short forms below.

======================  ======================================================
``int``, ``float``      integer with a sign and floating point number, 64 bits
``str``                 text
``bool``                boolean, 8 bits; in CTF 1.8 an integer
``bytes``               bytes; in CTF 1.8 an array of integers
``"u16"``, ``"s3"``     integers without and with a sign, of 1 to 64 bits
``"x64"``, ``"o16"``    the same without a sign, shown in base 16, 8 or 2
``"u32be"``             of a byte order: ``be`` or ``le``
``"f32"``, ``"f64"``    floating point numbers
an ``enum.Enum``        enumeration with the names of its members
``[declaration]``       array of any length
``{name: declaration}`` structure
======================  ======================================================
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from ...errors import DeclarationError
from ...model import (
    ArrayFieldClass,
    BitArrayFieldClass,
    BitMapFieldClass,
    BlobFieldClass,
    BooleanFieldClass,
    EncodedStringFieldClass,
    EnumerationFieldClass,
    EnumerationMapping,
    FieldClass,
    FloatFieldClass,
    IntegerFieldClass,
    Member,
    OptionalFieldClass,
    StringFieldClass,
    StructureFieldClass,
    VariableLengthIntegerFieldClass,
    VariantFieldClass,
)
from ...model.field_class import ByteOrder

__all__ = [
    "AUTOMATIC",
    "Declaration",
    "array",
    "bit_array",
    "bit_map",
    "blob",
    "boolean",
    "enumeration",
    "field_class",
    "floating_point",
    "integer",
    "optional",
    "string",
    "structure",
    "variable_length_integer",
    "variant",
]

Declaration: TypeAlias = (
    FieldClass | type | str | Sequence[Any] | Mapping[str, Any]  # of declarations
)
"""A field class, or a short form of one."""

AUTOMATIC = ""
"""The path of a length or a selector that the writer declares and writes itself."""

_NUMBER = re.compile(r"([usxobf])([1-9][0-9]{0,4})(le|be)?")
_BASES = {"u": 10, "s": 10, "x": 16, "o": 8, "b": 2}
_ORDERS: Mapping[str | None, ByteOrder | None] = {
    None: None,
    "le": "little",
    "be": "big",
}
_BYTE = 8
_Range = tuple[int, int]


def integer(
    size: int,
    *,
    signed: bool = False,
    base: int = 10,
    byte_order: ByteOrder | None = None,
    alignment: int | None = None,
) -> IntegerFieldClass:
    """Declare an integer (CTF 1.8.3, section 4.1.5; CTF2-SPEC-2.0, section 5.3.8).

    Args:
        size: Size, bits: 1 to 64; in CTF 2 any.
        signed: Whether values can be negative.
        base: Preferred display base: 2, 8, 10 or 16.
        byte_order: Byte order, if it is not that of the trace.
        alignment: Alignment, bits; by default whole bytes lie on a byte, and others
            follow what is before them.

    Returns:
        The field class.

    Example:
        >>> integer(12, signed=True).alignment
        1
    """
    return IntegerFieldClass(
        alignment or _usual_alignment(size),
        visible=True,
        size=size,
        signed=signed,
        base=base,
        byte_order=byte_order,
    )


def enumeration(  # noqa: PLR0913 - properties, by name
    size: int,
    labels: Mapping[str, int | _Range],
    *,
    signed: bool = False,
    base: int = 10,
    byte_order: ByteOrder | None = None,
    alignment: int | None = None,
) -> EnumerationFieldClass:
    """Declare an enumeration (CTF 1.8.3, section 4.1.8).

    Args:
        size: Size, bits.
        labels: Each label with its value, or with its lowest and highest one.
        signed: Whether values can be negative.
        base: Preferred display base.
        byte_order: Byte order, if it is not that of the trace.
        alignment: Alignment, bits.

    Returns:
        The field class.
    """
    return EnumerationFieldClass(
        alignment or _usual_alignment(size),
        visible=True,
        size=size,
        signed=signed,
        base=base,
        mappings=_mappings(labels),
        byte_order=byte_order,
    )


def variable_length_integer(
    *,
    signed: bool = False,
    base: int = 10,
    labels: Mapping[str, int | _Range] | None = None,
) -> VariableLengthIntegerFieldClass:
    """Declare an integer in the LEB128 encoding (CTF2-SPEC-2.0, section 5.3.10).

    Args:
        signed: Whether values can be negative.
        base: Preferred display base.
        labels: Labels of values, as those of :func:`enumeration`.

    Returns:
        The field class.
    """
    mappings = _mappings(labels or {})
    return VariableLengthIntegerFieldClass(
        _BYTE, visible=True, signed=signed, base=base, mappings=mappings
    )


def floating_point(
    size: int, *, byte_order: ByteOrder | None = None, alignment: int = 8
) -> FloatFieldClass:
    """Declare a floating point number (CTF 1.8.3, section 4.1.7).

    Args:
        size: Size, bits: 32 or 64.
        byte_order: Byte order, if it is not that of the trace.
        alignment: Alignment, bits.

    Returns:
        The field class.
    """
    return FloatFieldClass(alignment, visible=True, size=size, byte_order=byte_order)


def string(
    *, encoding: str = "utf-8", length: int | str | None = None
) -> StringFieldClass:
    """Declare a text (CTF 1.8.3, section 4.2.5; CTF2-SPEC-2.0, section 5.3.12).

    Args:
        encoding: ``utf-8``; in CTF 2 also ``utf-16le``, ``utf-16be``, ``utf-32le``,
            ``utf-32be``.
        length: ``None`` to end it with U+0000. In CTF 2 also a number of bytes to fill
            or :data:`AUTOMATIC`.

    Returns:
        The field class.
    """
    if encoding == "utf-8" and length is None:
        return StringFieldClass(_BYTE, visible=True)
    return EncodedStringFieldClass(
        _BYTE, visible=True, length=length, encoding=encoding
    )


def boolean(size: int = 8, *, alignment: int | None = None) -> BooleanFieldClass:
    """Declare a boolean (CTF2-SPEC-2.0, section 5.3.7).

    Args:
        size: Size, bits.
        alignment: Alignment, bits.

    Returns:
        The field class.
    """
    return BooleanFieldClass(
        alignment or _usual_alignment(size), visible=True, size=size
    )


def bit_array(size: int, *, alignment: int | None = None) -> BitArrayFieldClass:
    """Declare bits without a meaning (CTF2-SPEC-2.0, section 5.3.5).

    Args:
        size: Size, bits.
        alignment: Alignment, bits.

    Returns:
        The field class.
    """
    return BitArrayFieldClass(
        alignment or _usual_alignment(size), visible=True, size=size
    )


def bit_map(
    size: int, flags: Mapping[str, int | _Range], *, alignment: int | None = None
) -> BitMapFieldClass:
    """Declare bits with names (CTF2-SPEC-2.0, section 5.3.6).

    Args:
        size: Size, bits.
        flags: Each name with the index of its bit, or with its lowest and highest one.
        alignment: Alignment, bits.

    Returns:
        The field class.
    """
    return BitMapFieldClass(
        alignment or _usual_alignment(size),
        visible=True,
        size=size,
        flags=_mappings(flags),
    )


def blob(
    length: int | str = AUTOMATIC, *, media_type: str = "application/octet-stream"
) -> BlobFieldClass:
    """Declare bytes with a media type (CTF2-SPEC-2.0, section 5.3.15).

    Args:
        length: Number of bytes, the name of the field that holds it, or
            :data:`AUTOMATIC`.
        media_type: IANA media type.

    Returns:
        The field class.
    """
    return BlobFieldClass(_BYTE, visible=True, length=length, media_type=media_type)


def array(
    element: Declaration, length: int | str = AUTOMATIC, *, text: bool = False
) -> ArrayFieldClass:
    """Declare an array (CTF 1.8.3, sections 4.2.3 and 4.2.4).

    Args:
        element: Its elements.
        length: Their number, the name of the field that holds it, or
            :data:`AUTOMATIC`: the writer puts a field with the length before it.
        text: Whether the elements, bytes, are those of a text.

    Returns:
        The field class.
    """
    inner = field_class(element)
    return ArrayFieldClass(
        inner.alignment, visible=True, element=inner, length=length, text=text
    )


def structure(
    members: Mapping[str, Declaration], *, alignment: int = 1
) -> StructureFieldClass:
    """Declare a structure (CTF 1.8.3, section 4.2.1).

    Args:
        members: The declarations of its members, in order.
        alignment: Least alignment, bits.

    Returns:
        The field class.
    """
    inner = tuple(
        Member(name, _named_field_class(name, member))
        for name, member in members.items()
    )
    alignments = (member.field_class.alignment for member in inner)
    return StructureFieldClass(
        max([alignment, *alignments]), visible=True, members=inner
    )


def variant(
    options: Mapping[str, Declaration],
    selector: str = AUTOMATIC,
    ranges: Mapping[str, Sequence[_Range]] | None = None,
) -> VariantFieldClass:
    """Declare one of several options (CTF 1.8.3, section 4.2.2).

    A value is a tuple of the name of its option and what that takes.

    Args:
        options: The declarations of its options.
        selector: Name of the field that selects one, or :data:`AUTOMATIC`. In CTF 1.8
            it is an enumeration whose labels are the names of the options.
        ranges: In CTF 2, for each option the ranges of a selector of one's own.

    Returns:
        The field class.
    """
    inner = tuple(
        Member(name, _named_field_class(name, option))
        for name, option in options.items()
    )
    chosen = tuple(tuple(ranges[name]) for name in options) if ranges else ()
    return VariantFieldClass(
        1, visible=True, options=inner, selector=selector, ranges=chosen
    )


def optional(
    inner: Declaration,
    selector: str = AUTOMATIC,
    ranges: Sequence[_Range] = ((1, 1),),
) -> OptionalFieldClass:
    """Declare a field that may be there or not (CTF2-SPEC-2.0, section 5.3.22).

    The value of one that is not there is ``None``.

    Args:
        inner: The declaration of the field.
        selector: Name of the field that tells, or :data:`AUTOMATIC`.
        ranges: Ranges of the selector with which it is there.

    Returns:
        The field class.
    """
    return OptionalFieldClass(
        1,
        visible=True,
        field_class=field_class(inner),
        selector=selector,
        ranges=tuple(ranges),
    )


def field_class(declaration: Declaration) -> FieldClass:
    """Return the field class that a declaration is short for.

    Args:
        declaration: The declaration.

    Returns:
        The field class.

    Raises:
        DeclarationError: There is no such short form.
    """
    if isinstance(declaration, FieldClass):
        return declaration
    if isinstance(declaration, str):
        return _number(declaration)
    if isinstance(declaration, type):
        return _of_type(declaration)
    if isinstance(declaration, Mapping):
        return structure(declaration)
    if isinstance(declaration, Sequence) and len(declaration) == 1:
        return array(declaration[0])
    raise DeclarationError(
        f"{declaration!r} is no field class: expected such as int, 'u16', [str]"
    )


def _named_field_class(name: str, declaration: Declaration) -> FieldClass:
    try:
        return field_class(declaration)
    except DeclarationError as error:
        error.name = f"{name}.{error.name}" if error.name else name
        raise


def _of_type(declaration: type) -> FieldClass:
    if issubclass(declaration, enum.Enum):
        return _of_enum(declaration)
    simple: Mapping[type, FieldClass] = {
        bool: boolean(),
        int: integer(64, signed=True),
        float: floating_point(64),
        str: string(),
        bytes: blob(),
    }
    if declaration not in simple:
        raise DeclarationError(
            f"{declaration.__name__} is no field class: expected int, float, str, "
            "bool, bytes or an enumeration"
        )
    return simple[declaration]


def _of_enum(declaration: type[enum.Enum]) -> EnumerationFieldClass:
    members = {name: one.value for name, one in declaration.__members__.items()}
    wrong = [name for name, value in members.items() if not isinstance(value, int)]
    if wrong or not members:
        what = f"{wrong[0]} is none" if wrong else "there is no member"
        raise DeclarationError(
            f"the members of {declaration.__name__} must be integers: {what}"
        )
    values = cast("Mapping[str, int]", members)
    signed = min(values.values()) < 0
    bits = max(
        (value if value >= 0 else ~value).bit_length() for value in values.values()
    )
    sizes = (size for size in (8, 16, 32, 64) if bits + signed <= size)
    return enumeration(next(sizes, bits + signed), values, signed=signed)


def _number(text: str) -> FieldClass:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise DeclarationError(
            f"{text!r} is no field class: expected such as 'u16', 's32', 'x64be', 'f32'"
        )
    kind, size, order = match[1], int(match[2]), _ORDERS[match[3]]
    if kind == "f":
        return floating_point(size, byte_order=order)
    return integer(size, signed=kind == "s", base=_BASES[kind], byte_order=order)


def _usual_alignment(size: int) -> int:
    return 1 if size % _BYTE else _BYTE


def _mappings(labels: Mapping[str, int | _Range]) -> tuple[EnumerationMapping, ...]:
    pairs = (
        (label, (value, value) if isinstance(value, int) else value)
        for label, value in labels.items()
    )
    return tuple(EnumerationMapping(label, *pair) for label, pair in pairs)
