"""What the properties of field classes may be, in whatever version of the format."""

from __future__ import annotations

from ...errors import DeclarationError
from ...model import (
    ArrayFieldClass,
    BitArrayFieldClass,
    EncodedStringFieldClass,
    EnumerationFieldClass,
    FieldClass,
    FloatFieldClass,
    IntegerFieldClass,
)

__all__ = ["check_properties"]

MAX_SIZE = 1 << 16
"""Most bits of a number, and of an alignment."""
_BASES = {2, 8, 10, 16}
_BYTE = 8
_ENCODINGS = {"utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be"}


def check_properties(field_class: FieldClass) -> None:
    """Refuse properties that no field class has.

    Args:
        field_class: The field class.

    Raises:
        DeclarationError: A property is out of its range.
    """
    alignment = field_class.alignment
    if not 1 <= alignment <= MAX_SIZE or alignment & (alignment - 1):
        raise DeclarationError(f"expected an alignment that is 1, 2, 4, …: {alignment}")
    match field_class:
        case FloatFieldClass(size=size):
            if size not in {32, 64}:
                raise DeclarationError(
                    f"a floating point number of {size} bits: expected 32 or 64"
                )
        case IntegerFieldClass():
            _check_integer(field_class)
        case BitArrayFieldClass(size=size):
            _check_size(size)
        case ArrayFieldClass():
            _check_array(field_class)
        case EncodedStringFieldClass(encoding=encoding):
            if encoding not in _ENCODINGS:
                known = ", ".join(sorted(_ENCODINGS))
                raise DeclarationError(f"expected one of {known}: {encoding!r}")


def _check_size(size: int) -> None:
    if not 1 <= size <= MAX_SIZE:
        raise DeclarationError(f"expected 1 to {MAX_SIZE} bits: {size}")


def _check_integer(field_class: IntegerFieldClass) -> None:
    _check_size(field_class.size)
    if field_class.base not in _BASES:
        raise DeclarationError(f"expected a base 2, 8, 10 or 16: {field_class.base}")
    if not isinstance(field_class, EnumerationFieldClass):
        return
    if not field_class.mappings:
        raise DeclarationError("an enumeration without a label")
    lowest = -(1 << (field_class.size - 1)) if field_class.signed else 0
    highest = (1 << (field_class.size - field_class.signed)) - 1
    for mapping in field_class.mappings:
        if not lowest <= mapping.lower <= mapping.upper <= highest:
            raise DeclarationError(
                f"the label {mapping.label!r} has values from {mapping.lower} to "
                f"{mapping.upper}: expected some from {lowest} to {highest}"
            )


def _check_array(field_class: ArrayFieldClass) -> None:
    length, element = field_class.length, field_class.element
    if isinstance(length, int) and length < 0:
        raise DeclarationError(f"expected a length of 0 or more: {length}")
    is_byte = isinstance(element, IntegerFieldClass) and element.size == _BYTE
    if field_class.text and not (is_byte and element.alignment == _BYTE):
        raise DeclarationError(
            "a text in an array has elements of 8 bits, byte-aligned"
        )
