"""Field classes that are read.

State of each, by the names of :class:`..ir_object.IrObject`: ``_user_attributes``, and

- bit arrays ``_length``; integers ``_field_value_range`` (bits) and
  ``_preferred_display_base``; enumerations ``_mappings``, a dictionary of lists of
  pairs by the labels;
- structures ``_members``, variants ``_options``: lists of members and options;
- arrays ``_element_field_class`` and ``_length``; options ``_field_class``; both and
  variants ``_selector_field_path`` if another field tells the length or selects, which
  is ``_selector`` (its class) or ``_selector_name``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..ir_object import IrObject, view_as
from ..values.integer_ranges import (
    _SignedIntegerRangeSetConst,
    _UnsignedIntegerRangeSetConst,
)
from . import field as fields
from .field import field_of

__all__ = ["IntegerDisplayBase", "const_field_class"]


class IntegerDisplayBase:
    """Bases in which integers are shown."""

    BINARY = 2
    OCTAL = 8
    DECIMAL = 10
    HEXADECIMAL = 16


class _FieldClassConst(IrObject):
    """Any field class."""

    _field_type: Any = None
    """The Python class of its fields."""
    _NAME = "Const field class"


def const_field_class(field_class: Any) -> Any:
    """Return the read-only view of a field class.

    Args:
        field_class: The field class, or ``None``.
    """
    if field_class is None:
        return None
    for kind in type(field_class).__mro__:
        if "_is_const" in kind.__dict__:
            return view_as(kind, field_class)
    return field_class


class _BoolFieldClassConst(_FieldClassConst):
    """A class of booleans."""

    _is_const = True
    _field_type = fields._BoolFieldConst
    _NAME = "Const boolean"


class _BitArrayFieldClassConst(_FieldClassConst):
    """A class of bit arrays."""

    _is_const = True
    _field_type = fields._BitArrayFieldConst
    _NAME = "Const bit array"

    @property
    def length(self) -> int:
        """Number of bits."""
        return int(self._of("length"))


class _IntegerFieldClassConst(_FieldClassConst):
    """A class of integers."""

    @property
    def field_value_range(self) -> int:
        """Number of bits that its values need."""
        return int(self._of("field_value_range", 64))

    @property
    def preferred_display_base(self) -> int:
        """The base in which its values are shown."""
        return int(self._of("preferred_display_base", IntegerDisplayBase.DECIMAL))


class _UnsignedIntegerFieldClassConst(_IntegerFieldClassConst):
    """A class of integers that are not negative."""

    _is_const = True
    _field_type = fields._UnsignedIntegerFieldConst
    _NAME = "Const unsigned integer"


class _SignedIntegerFieldClassConst(_IntegerFieldClassConst):
    """A class of integers that may be negative."""

    _is_const = True
    _field_type = fields._SignedIntegerFieldConst
    _NAME = "Const signed integer"


class _RealFieldClassConst(_FieldClassConst):
    """A class of floating point numbers."""

    _NAME = "Const real"


class _SinglePrecisionRealFieldClassConst(_RealFieldClassConst):
    """A class of floating point numbers of 32 bits."""

    _is_const = True
    _field_type = fields._SinglePrecisionRealFieldConst
    _NAME = "Const single-precision real"


class _DoublePrecisionRealFieldClassConst(_RealFieldClassConst):
    """A class of floating point numbers of 64 bits."""

    _is_const = True
    _field_type = fields._DoublePrecisionRealFieldConst
    _NAME = "Const double-precision real"


class _EnumerationFieldClassMapping:
    """A label with its ranges.

    Args:
        label: The label.
        ranges: The ranges.
    """

    def __init__(self, label: str, ranges: Any) -> None:
        self._label = label
        self._ranges = ranges

    @property
    def label(self) -> str:
        """The label."""
        return self._label

    @property
    def ranges(self) -> Any:
        """The ranges."""
        return self._ranges


class _UnsignedEnumerationFieldClassMappingConst(_EnumerationFieldClassMapping):
    """A label with ranges of integers that are not negative."""


class _SignedEnumerationFieldClassMappingConst(_EnumerationFieldClassMapping):
    """A label with ranges of integers that may be negative."""


class _EnumerationFieldClassConst(_IntegerFieldClassConst, Mapping[str, Any]):
    """A class of integers whose values have labels."""

    _mapping_type: type[_EnumerationFieldClassMapping]
    _range_set_type: Any

    def _mapping(self, label: str) -> _EnumerationFieldClassMapping:
        ranges = self._range_set_type(self._of("mappings", {})[label])
        return self._mapping_type(label, ranges)

    def mappings_for_value(self, value: int) -> list[_EnumerationFieldClassMapping]:
        """Return the mappings that a value is in.

        Args:
            value: The value.
        """
        return [
            self._mapping(label)
            for label, ranges in self._of("mappings", {}).items()
            if any(lower <= value <= upper for lower, upper in ranges)
        ]

    def __getitem__(self, label: str) -> _EnumerationFieldClassMapping:
        return self._mapping(label)

    def __iter__(self) -> Iterator[str]:
        return iter(self._of("mappings", {}))

    def __len__(self) -> int:
        return len(self._of("mappings", {}))

    __eq__ = IrObject.__eq__
    __hash__ = IrObject.__hash__


class _UnsignedEnumerationFieldClassConst(
    _EnumerationFieldClassConst, _UnsignedIntegerFieldClassConst
):
    """A class of enumerations of integers that are not negative."""

    _is_const = True
    _field_type = fields._UnsignedEnumerationFieldConst
    _mapping_type = _UnsignedEnumerationFieldClassMappingConst
    _range_set_type = _UnsignedIntegerRangeSetConst
    _NAME = "Const unsigned enumeration"


class _SignedEnumerationFieldClassConst(
    _EnumerationFieldClassConst, _SignedIntegerFieldClassConst
):
    """A class of enumerations of integers that may be negative."""

    _is_const = True
    _field_type = fields._SignedEnumerationFieldConst
    _mapping_type = _SignedEnumerationFieldClassMappingConst
    _range_set_type = _SignedIntegerRangeSetConst
    _NAME = "Const signed enumeration"


class _StringFieldClassConst(_FieldClassConst):
    """A class of strings."""

    _is_const = True
    _field_type = fields._StringFieldConst
    _NAME = "Const string"


class _ClassOfPartsConst(_FieldClassConst, Mapping[str, Any]):
    """A class whose parts have names: members of structures, options of variants."""

    _PARTS = ""

    @property
    def _part_type(self) -> type[IrObject]:
        """What a part is for those who look at it."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise TypeError(
                f"key for {self._PARTS.removesuffix('s')} must be a 'str', "
                f"got '{type(name).__name__}'"
            )
        return view_as(self._part_type, self._part(name))

    def __contains__(self, name: object) -> bool:
        return name in self._by_name()

    def _part(self, name: str) -> Any:
        """Return a part as it is.

        Args:
            name: Its name.

        Raises:
            KeyError: There is none.
        """
        return self._by_name()[name]

    def _by_name(self) -> dict[object, Any]:
        """Return all parts by their names; there may be more of them later."""
        parts = self._of(self._PARTS, ())
        count, known = self.__dict__.get("_parts_by_name", (0, {}))
        if count != len(parts):
            # Of a name the first part counts.
            for one in parts[count:]:
                known.setdefault(one.name, one)
            self.__dict__["_parts_by_name"] = len(parts), known
        return known  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return (part.name for part in self._of(self._PARTS, ()))

    def __len__(self) -> int:
        return len(self._of(self._PARTS, ()))

    def _part_at_index(self, index: int) -> Any:
        if not 0 <= index < len(self):
            raise IndexError
        return view_as(self._part_type, self._of(self._PARTS)[index])

    __eq__ = IrObject.__eq__
    __hash__ = IrObject.__hash__


class _StructureFieldClassMemberConst(IrObject):
    """A member of a structure: ``_name``, ``_field_class``."""

    @property
    def name(self) -> str:
        """Its name."""
        return str(self._of("name"))

    @property
    def field_class(self) -> Any:
        """Its field class."""
        return const_field_class(self._of("field_class"))


class _StructureFieldClassConst(_ClassOfPartsConst):
    """A class of structures."""

    _is_const = True
    _field_type = fields._StructureFieldConst
    _member_type: type[_StructureFieldClassMemberConst] = (
        _StructureFieldClassMemberConst
    )
    _NAME = "Const structure"
    _PARTS = "members"

    @property
    def _part_type(self) -> type[IrObject]:
        return self._member_type

    def _member(self, value: Mapping[str, Any], name: str) -> Any:
        """Return the field of a name of a value, or ``None``."""
        if name not in self:
            return None
        return field_of(value[name], const_field_class(self[name].field_class))

    def member_at_index(self, index: int) -> Any:
        """Return a member by its index.

        Args:
            index: The index.

        Raises:
            IndexError: There is none.
        """
        return self._part_at_index(index)


class _WithSelector(_FieldClassConst):
    """What another field decides."""

    @property
    def selector_field_path(self) -> Any:
        """Where that field is, or ``None`` if nothing uses the class yet."""
        return self._of("selector_field_path")


class _OptionFieldClassConst(_FieldClassConst):
    """A class of fields that may be there or not."""

    _is_const = True
    _field_type = fields._OptionFieldConst
    _NAME = "Const option"

    @property
    def field_class(self) -> Any:
        """The class of the field when it is there."""
        return const_field_class(self._of("field_class"))


class _OptionWithSelectorFieldClassConst(_OptionFieldClassConst, _WithSelector):
    """A class of options about which another field decides."""

    _NAME = "Const option (with selector)"


class _OptionWithBoolSelectorFieldClassConst(_OptionWithSelectorFieldClassConst):
    """A class of options about which a boolean decides."""

    _is_const = True

    @property
    def selector_is_reversed(self) -> bool:
        """Whether the field is there when the boolean is false."""
        return bool(self._of("selector_is_reversed", False))


class _OptionWithIntegerSelectorFieldClassConst(_OptionWithSelectorFieldClassConst):
    """A class of options about which an integer decides."""

    _range_set_type: Any = _UnsignedIntegerRangeSetConst

    @property
    def ranges(self) -> Any:
        """The numbers with which the field is there."""
        return self._range_set_type(self._of("ranges", ()))


class _OptionWithUnsignedIntegerSelectorFieldClassConst(
    _OptionWithIntegerSelectorFieldClassConst
):
    """A class of options about which an integer decides that is not negative."""

    _is_const = True


class _OptionWithSignedIntegerSelectorFieldClassConst(
    _OptionWithIntegerSelectorFieldClassConst
):
    """A class of options about which an integer decides that may be negative."""

    _is_const = True
    _range_set_type = _SignedIntegerRangeSetConst


class _VariantFieldClassOptionConst(IrObject):
    """An option of a variant: ``_name``, ``_field_class``, ``_ranges``."""

    _range_set_type: Any = _UnsignedIntegerRangeSetConst

    @property
    def name(self) -> str | None:
        """Its name, or ``None``."""
        name = self._of("name")
        return None if name is None else str(name)

    @property
    def field_class(self) -> Any:
        """Its field class."""
        return const_field_class(self._of("field_class"))


class _VariantFieldClassWithIntegerSelectorOptionConst(_VariantFieldClassOptionConst):
    """An option that an integer selects."""

    @property
    def ranges(self) -> Any:
        """The numbers that select it."""
        return self._range_set_type(self._of("ranges", ()))


class _VariantFieldClassWithUnsignedIntegerSelectorOptionConst(
    _VariantFieldClassWithIntegerSelectorOptionConst
):
    """An option that an integer selects that is not negative."""


class _VariantFieldClassWithSignedIntegerSelectorOptionConst(
    _VariantFieldClassWithIntegerSelectorOptionConst
):
    """An option that an integer selects that may be negative."""

    _range_set_type = _SignedIntegerRangeSetConst


class _VariantFieldClassConst(_ClassOfPartsConst):
    """A class of variants."""

    _field_type = fields._VariantFieldConst
    _NAME = "Const variant"
    _option_type: type[_VariantFieldClassOptionConst] = _VariantFieldClassOptionConst

    _PARTS = "options"

    @property
    def _part_type(self) -> type[IrObject]:
        return self._option_type

    def option_at_index(self, index: int) -> Any:
        """Return an option by its index.

        Args:
            index: The index.

        Raises:
            IndexError: There is none.
        """
        return self._part_at_index(index)


class _VariantFieldClassWithoutSelectorConst(_VariantFieldClassConst):
    """A class of variants about which no field decides."""

    _is_const = True


class _VariantFieldClassWithIntegerSelectorConst(
    _VariantFieldClassConst, _WithSelector
):
    """A class of variants about which an integer decides."""


class _VariantFieldClassWithUnsignedIntegerSelectorConst(
    _VariantFieldClassWithIntegerSelectorConst
):
    """A class of variants about which an integer decides that is not negative."""

    _is_const = True
    _option_type = _VariantFieldClassWithUnsignedIntegerSelectorOptionConst


class _VariantFieldClassWithSignedIntegerSelectorConst(
    _VariantFieldClassWithIntegerSelectorConst
):
    """A class of variants about which an integer decides that may be negative."""

    _is_const = True
    _option_type = _VariantFieldClassWithSignedIntegerSelectorOptionConst


class _ArrayFieldClassConst(_FieldClassConst):
    """A class of arrays."""

    @property
    def element_field_class(self) -> Any:
        """The class of the elements."""
        return const_field_class(self._of("element_field_class"))


class _StaticArrayFieldClassConst(_ArrayFieldClassConst):
    """A class of arrays of one length."""

    _is_const = True
    _field_type = fields._StaticArrayFieldConst
    _NAME = "Const static array"

    @property
    def length(self) -> int:
        """The number of elements."""
        return int(self._of("length"))


class _DynamicArrayFieldClassConst(_ArrayFieldClassConst):
    """A class of arrays of any length."""

    _is_const = True
    _field_type = fields._DynamicArrayFieldConst
    _NAME = "Const dynamic array"


class _DynamicArrayWithLengthFieldFieldClassConst(_DynamicArrayFieldClassConst):
    """A class of arrays whose length another field tells."""

    _is_const = True
    _NAME = "Const dynamic array (with length field)"

    @property
    def length_field_path(self) -> Any:
        """Where that field is, or ``None`` if nothing uses the class yet."""
        return self._of("selector_field_path")
