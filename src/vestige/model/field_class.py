"""Field classes (CTF 1.8.3, section 4; CTF2-SPEC-2.0, section 5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .attributes import no_attributes

__all__ = [
    "ArrayFieldClass",
    "BitArrayFieldClass",
    "BitMapFieldClass",
    "BlobFieldClass",
    "BooleanFieldClass",
    "EncodedStringFieldClass",
    "EnumerationFieldClass",
    "EnumerationMapping",
    "FieldClass",
    "FloatFieldClass",
    "IntegerFieldClass",
    "Member",
    "OptionalFieldClass",
    "StringFieldClass",
    "StructureFieldClass",
    "VariableLengthIntegerFieldClass",
    "VariantFieldClass",
]


ByteOrder = Literal["little", "big"]
"""Byte order of numbers."""


@dataclass(frozen=True, slots=True)
class FieldClass:
    """What all field classes have in common."""

    alignment: int
    """Alignment of a field, bits."""
    visible: bool
    """Whether the field is shown; those that only serve the decoder are not."""
    attributes: Mapping[str, object] = field(
        default_factory=no_attributes, hash=False, kw_only=True
    )
    """What the producer tells about it, by namespace."""


@dataclass(frozen=True, slots=True)
class IntegerFieldClass(FieldClass):
    """An integer."""

    size: int
    """Size, bits."""
    signed: bool
    """Whether values can be negative."""
    base: int
    """Preferred display base: 2, 8, 10 or 16."""
    byte_order: ByteOrder | None = field(default=None, compare=False, kw_only=True)
    """Byte order; ``None`` in a declaration that leaves it to the trace."""


@dataclass(frozen=True, slots=True)
class EnumerationMapping:
    """A label of an enumeration with one of its ranges."""

    label: str
    """The label."""
    lower: int
    """Lowest value."""
    upper: int
    """Highest value."""


@dataclass(frozen=True, slots=True)
class EnumerationFieldClass(IntegerFieldClass):
    """An integer whose values have labels."""

    mappings: tuple[EnumerationMapping, ...]
    """The labels with their ranges."""


@dataclass(frozen=True, slots=True)
class FloatFieldClass(FieldClass):
    """A binary floating point number (IEEE 754)."""

    size: int
    """Size, bits: 32 or 64; in CTF 2 also 16, 128 and more."""
    byte_order: ByteOrder | None = field(default=None, compare=False, kw_only=True)
    """Byte order; ``None`` in a declaration that leaves it to the trace."""


@dataclass(frozen=True, slots=True)
class StringFieldClass(FieldClass):
    """A NUL-terminated string."""


@dataclass(frozen=True, slots=True)
class ArrayFieldClass(FieldClass):
    """An array of fields of one class."""

    element: FieldClass
    """Class of the elements."""
    length: int | str
    """Number of elements, or the path of the field that holds it."""
    text: bool
    """Whether the elements are the bytes of a text."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a structure or an option of a variant."""

    name: str
    """Its name; empty for an option without one."""
    field_class: FieldClass
    """Its class."""
    attributes: Mapping[str, object] = field(default_factory=no_attributes, hash=False)
    """What the producer tells about it, by namespace."""


@dataclass(frozen=True, slots=True)
class StructureFieldClass(FieldClass):
    """A structure."""

    members: tuple[Member, ...]
    """The members in order."""

    def member(self, name: str) -> Member | None:
        """Return the member of a name, or ``None``."""
        return next((member for member in self.members if member.name == name), None)


@dataclass(frozen=True, slots=True)
class VariantFieldClass(FieldClass):
    """One of several options, selected by another field."""

    options: tuple[Member, ...]
    """The options."""
    selector: str
    """Path of the field that selects one of them."""
    ranges: tuple[tuple[tuple[int, int], ...], ...] = ()
    """For each option the ranges of the selector that choose it, both ends included."""


@dataclass(frozen=True, slots=True)
class VariableLengthIntegerFieldClass(FieldClass):
    """An integer in the LEB128 encoding."""

    signed: bool
    """Whether values can be negative."""
    base: int
    """Preferred display base: 2, 8, 10 or 16."""
    mappings: tuple[EnumerationMapping, ...] = ()
    """Labels of values with their ranges."""


@dataclass(frozen=True, slots=True)
class BitArrayFieldClass(FieldClass):
    """Bits without a meaning of their own."""

    size: int
    """Size, bits."""
    byte_order: ByteOrder | None = field(default=None, compare=False, kw_only=True)
    """Byte order; ``None`` in a declaration that leaves it to the trace."""


@dataclass(frozen=True, slots=True)
class BooleanFieldClass(BitArrayFieldClass):
    """Bits that are true when any of them is set."""


@dataclass(frozen=True, slots=True)
class BitMapFieldClass(BitArrayFieldClass):
    """Bits with names."""

    flags: tuple[EnumerationMapping, ...]
    """Names of flags with their ranges of bit indexes."""


@dataclass(frozen=True, slots=True)
class EncodedStringFieldClass(StringFieldClass):
    """A string with a length, or in another encoding than UTF-8."""

    length: int | str | None
    """Number of bytes, the path of the field that holds it, or ``None`` to U+0000."""
    encoding: str
    """``utf-8``, ``utf-16le``, ``utf-16be``, ``utf-32le`` or ``utf-32be``."""


@dataclass(frozen=True, slots=True)
class BlobFieldClass(FieldClass):
    """Bytes with a media type."""

    length: int | str
    """Number of bytes, or the path of the field that holds it."""
    media_type: str
    """IANA media type."""


@dataclass(frozen=True, slots=True)
class OptionalFieldClass(FieldClass):
    """A field that may be there or not."""

    field_class: FieldClass
    """Class of the field when it is there."""
    selector: str
    """Path of the field that tells."""
    ranges: tuple[tuple[int, int], ...]
    """Ranges of the selector with which the field is there; a boolean is 0 or 1."""
