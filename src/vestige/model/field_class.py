"""Field classes (CTF 1.8.3, section 4)."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ArrayFieldClass",
    "EnumerationFieldClass",
    "EnumerationMapping",
    "FieldClass",
    "FloatFieldClass",
    "IntegerFieldClass",
    "Member",
    "StringFieldClass",
    "StructureFieldClass",
    "VariantFieldClass",
]


@dataclass(frozen=True, slots=True)
class FieldClass:
    """What all field classes have in common."""

    alignment: int
    """Alignment of a field, bits."""
    visible: bool
    """Whether the field is shown; those that only serve the decoder are not."""


@dataclass(frozen=True, slots=True)
class IntegerFieldClass(FieldClass):
    """An integer."""

    size: int
    """Size, bits."""
    signed: bool
    """Whether values can be negative."""
    base: int
    """Preferred display base: 2, 8, 10 or 16."""


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
    """Size, bits: 32 or 64."""


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
    """Its name."""
    field_class: FieldClass
    """Its class."""


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
