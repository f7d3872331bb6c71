"""Field classes that a component makes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import field_classes as const
from . import made_fields as fields

__all__ = ["FieldClassFactory", "pairs"]

MOST_BITS = 64
"""Bits of the largest integers."""


class _FieldClass(const._FieldClassConst):
    """Any field class."""

    _made_field: Callable[[Any], Any]


class _BoolFieldClass(_FieldClass, const._BoolFieldClassConst):
    """Booleans."""

    _made_field = fields._BoolField
    _NAME = "Boolean"


class _BitArrayFieldClass(_FieldClass, const._BitArrayFieldClassConst):
    """Bits."""

    _made_field = fields._BitArrayField
    _NAME = "Bit array"


class _IntegerFieldClass(_FieldClass, const._IntegerFieldClassConst):
    """Integers."""

    _is_signed = False

    def __init__(
        self,
        field_value_range: int | None = None,
        preferred_display_base: Any = None,
        user_attributes: Any = None,
    ) -> None:
        size = MOST_BITS if field_value_range is None else int(field_value_range)
        if not 1 <= size <= MOST_BITS:
            raise ValueError(f"Value is outside valid range [1, {MOST_BITS}] ({size})")
        base = 10 if preferred_display_base is None else preferred_display_base
        super().__init__(
            field_value_range=size,
            preferred_display_base=int(base),
            user_attributes=user_attributes,
        )


class _UnsignedIntegerFieldClass(
    _IntegerFieldClass, const._UnsignedIntegerFieldClassConst
):
    """Integers without a sign."""

    _made_field = fields._UnsignedIntegerField
    _NAME = "Unsigned integer"


class _SignedIntegerFieldClass(_IntegerFieldClass, const._SignedIntegerFieldClassConst):
    """Integers with a sign."""

    _is_signed = True
    _made_field = fields._SignedIntegerField
    _NAME = "Signed integer"


class _EnumerationFieldClass(_IntegerFieldClass, const._EnumerationFieldClassConst):
    """Integers with labels."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._mappings: dict[str, list[tuple[int, int]]] = {}

    def add_mapping(self, label: str, ranges: Any) -> None:
        """Add a label.

        Args:
            label: The label.
            ranges: The ranges of its values.
        """
        if label in self._mappings:
            raise ValueError(f"duplicate mapping label '{label}'")
        self._mappings[label] = pairs(ranges)

    def __iadd__(self, mappings: Iterable[tuple[str, Any]]) -> Any:
        for label, ranges in mappings:
            self.add_mapping(label, ranges)
        return self


class _UnsignedEnumerationFieldClass(
    _EnumerationFieldClass, const._UnsignedEnumerationFieldClassConst
):
    """Integers without a sign, with labels."""

    _made_field = fields._UnsignedEnumerationField
    _NAME = "Unsigned enumeration"


class _SignedEnumerationFieldClass(
    _EnumerationFieldClass, const._SignedEnumerationFieldClassConst
):
    """Integers with a sign, with labels."""

    _is_signed = True
    _made_field = fields._SignedEnumerationField
    _NAME = "Signed enumeration"


class _RealFieldClass(_FieldClass, const._RealFieldClassConst):
    """Floating point numbers."""

    _size = 64


class _SinglePrecisionRealFieldClass(
    _RealFieldClass, const._SinglePrecisionRealFieldClassConst
):
    """Floating point numbers of 32 bits."""

    _size = 32
    _made_field = fields._SinglePrecisionRealField
    _NAME = "Single-precision real"


class _DoublePrecisionRealFieldClass(
    _RealFieldClass, const._DoublePrecisionRealFieldClassConst
):
    """Floating point numbers of 64 bits."""

    _made_field = fields._DoublePrecisionRealField
    _NAME = "Double-precision real"


class _StringFieldClass(_FieldClass, const._StringFieldClassConst):
    """Texts."""

    _made_field = fields._StringField
    _NAME = "String"


class _StructureFieldClassMember(const._StructureFieldClassMemberConst):
    """A member of a structure."""

    @property
    def field_class(self) -> Any:
        """Its field class, which other structures may use, too."""
        return self._of("field_class")


class _StructureFieldClass(_FieldClass, const._StructureFieldClassConst):
    """Members with names."""

    _made_field = fields._StructureField
    _member_type = _StructureFieldClassMember
    _NAME = "Structure"

    def __init__(self, members: Any = None, user_attributes: Any = None) -> None:
        super().__init__(members=[], user_attributes=user_attributes)
        self.__iadd__(members or ())

    def append_member(
        self, name: str, field_class: Any, user_attributes: Any = None
    ) -> None:
        """Add a member behind the others.

        Args:
            name: Its name.
            field_class: Its field class.
            user_attributes: What is told about it.
        """
        if name in self:
            raise ValueError(f"duplicate member name '{name}'")
        member = _StructureFieldClassMember(
            name=name, field_class=field_class, user_attributes=user_attributes
        )
        self._of("members").append(member)

    def __iadd__(self, members: Iterable[tuple[str, Any]]) -> Any:
        for name, field_class in members:
            self.append_member(name, field_class)
        return self

    def _class_of(self, name: str) -> Any:
        return self._part(name)._field_class


class _ArrayFieldClass(_FieldClass, const._ArrayFieldClassConst):
    """Elements of one class."""


class _StaticArrayFieldClass(_ArrayFieldClass, const._StaticArrayFieldClassConst):
    """A number of elements that is always the same."""

    _made_field = fields._StaticArrayField
    _NAME = "Static array"


class _DynamicArrayFieldClass(_ArrayFieldClass, const._DynamicArrayFieldClassConst):
    """Any number of elements."""

    _made_field = fields._DynamicArrayField
    _NAME = "Dynamic array"


class _DynamicArrayWithLengthFieldFieldClass(
    _DynamicArrayFieldClass, const._DynamicArrayWithLengthFieldFieldClassConst
):
    """Any number of elements, which another field tells."""

    _NAME = "Dynamic array (with length field)"


class _OptionFieldClass(_FieldClass, const._OptionFieldClassConst):
    """A field that may be there."""

    _made_field = fields._OptionField
    _NAME = "Option"


class _OptionWithBoolSelectorFieldClass(
    _OptionFieldClass, const._OptionWithBoolSelectorFieldClassConst
):
    """A field that is there if a boolean tells so."""

    _NAME = "Option (with boolean selector)"


class _OptionWithUnsignedIntegerSelectorFieldClass(
    _OptionFieldClass, const._OptionWithUnsignedIntegerSelectorFieldClassConst
):
    """A field that is there for some values of an integer without a sign."""

    _NAME = "Option (with unsigned integer selector)"


class _OptionWithSignedIntegerSelectorFieldClass(
    _OptionFieldClass, const._OptionWithSignedIntegerSelectorFieldClassConst
):
    """A field that is there for some values of an integer with a sign."""

    _NAME = "Option (with signed integer selector)"


class _VariantFieldClass(_FieldClass, const._VariantFieldClassConst):
    """One of several fields."""

    _made_field = fields._VariantField
    _NAME = "Variant"

    def append_option(
        self,
        name: str,
        field_class: Any,
        ranges: Any = None,
        user_attributes: Any = None,
    ) -> None:
        """Add an option behind the others.

        Args:
            name: Its name.
            field_class: Its field class.
            ranges: The values of the selector with which it is there.
            user_attributes: What is told about it.
        """
        if name in self:
            raise ValueError(f"duplicate option name '{name}'")
        option = self._option_type(
            name=name,
            field_class=field_class,
            ranges=pairs(ranges or ()),
            user_attributes=user_attributes,
        )
        self._of("options").append(option)

    def __iadd__(self, options: Iterable[tuple[Any, ...]]) -> Any:
        for option in options:
            self.append_option(*option)
        return self


class _VariantFieldClassWithoutSelector(
    _VariantFieldClass, const._VariantFieldClassWithoutSelectorConst
):
    """One of several fields, whichever its maker chooses."""


class _VariantFieldClassWithUnsignedIntegerSelector(
    _VariantFieldClass, const._VariantFieldClassWithUnsignedIntegerSelectorConst
):
    """One of several fields, which an integer without a sign chooses."""


class _VariantFieldClassWithSignedIntegerSelector(
    _VariantFieldClass, const._VariantFieldClassWithSignedIntegerSelectorConst
):
    """One of several fields, which an integer with a sign chooses."""


class FieldClassFactory:
    """Makes field classes: a part of a trace class."""

    def create_bool_field_class(self, user_attributes: Any = None) -> Any:
        """Make a class of booleans."""
        return _BoolFieldClass(user_attributes=user_attributes)

    def create_bit_array_field_class(
        self, length: int, user_attributes: Any = None
    ) -> Any:
        """Make a class of bits."""
        if not 1 <= length <= MOST_BITS:
            raise ValueError(f"invalid length {length}: expecting 1 to {MOST_BITS}")
        return _BitArrayFieldClass(length=length, user_attributes=user_attributes)

    def create_unsigned_integer_field_class(self, *given: Any, **named: Any) -> Any:
        """Make a class of integers without a sign."""
        return _UnsignedIntegerFieldClass(*given, **named)

    def create_signed_integer_field_class(self, *given: Any, **named: Any) -> Any:
        """Make a class of integers with a sign."""
        return _SignedIntegerFieldClass(*given, **named)

    def create_unsigned_enumeration_field_class(self, *given: Any, **named: Any) -> Any:
        """Make a class of integers without a sign that have labels."""
        return _UnsignedEnumerationFieldClass(*given, **named)

    def create_signed_enumeration_field_class(self, *given: Any, **named: Any) -> Any:
        """Make a class of integers with a sign that have labels."""
        return _SignedEnumerationFieldClass(*given, **named)

    def create_single_precision_real_field_class(
        self, user_attributes: Any = None
    ) -> Any:
        """Make a class of floating point numbers of 32 bits."""
        return _SinglePrecisionRealFieldClass(user_attributes=user_attributes)

    def create_double_precision_real_field_class(
        self, user_attributes: Any = None
    ) -> Any:
        """Make a class of floating point numbers of 64 bits."""
        return _DoublePrecisionRealFieldClass(user_attributes=user_attributes)

    def create_string_field_class(self, user_attributes: Any = None) -> Any:
        """Make a class of texts."""
        return _StringFieldClass(user_attributes=user_attributes)

    def create_structure_field_class(
        self, members: Any = None, user_attributes: Any = None
    ) -> Any:
        """Make a class of structures, without any member yet."""
        return _StructureFieldClass(members, user_attributes)

    def create_static_array_field_class(
        self, elem_fc: Any, length: int, user_attributes: Any = None
    ) -> Any:
        """Make a class of arrays that all have the same length."""
        return _StaticArrayFieldClass(
            element_field_class=elem_fc, length=length, user_attributes=user_attributes
        )

    def create_dynamic_array_field_class(
        self, elem_fc: Any, length_fc: Any = None, user_attributes: Any = None
    ) -> Any:
        """Make a class of arrays of any length."""
        kind: Any = _DynamicArrayFieldClass
        if length_fc is not None:
            kind = _DynamicArrayWithLengthFieldFieldClass
        return kind(
            element_field_class=elem_fc,
            selector=length_fc,
            user_attributes=user_attributes,
        )

    def create_option_without_selector_field_class(
        self, content_fc: Any, user_attributes: Any = None
    ) -> Any:
        """Make a class of fields that may be there."""
        return _OptionFieldClass(
            field_class=content_fc, user_attributes=user_attributes
        )

    def create_option_with_bool_selector_field_class(
        self,
        content_fc: Any,
        selector_fc: Any,
        selector_is_reversed: bool = False,
        user_attributes: Any = None,
    ) -> Any:
        """Make a class of fields that are there if another one tells so."""
        return _OptionWithBoolSelectorFieldClass(
            field_class=content_fc,
            selector=selector_fc,
            selector_is_reversed=selector_is_reversed,
            user_attributes=user_attributes,
        )

    def create_option_with_integer_selector_field_class(
        self,
        content_fc: Any,
        selector_fc: Any,
        ranges: Any,
        user_attributes: Any = None,
    ) -> Any:
        """Make a class of fields that are there for some values of another one."""
        kind: Any = _OptionWithUnsignedIntegerSelectorFieldClass
        if selector_fc._is_signed:
            kind = _OptionWithSignedIntegerSelectorFieldClass
        if not pairs(ranges):
            raise ValueError("integer range set is empty")
        return kind(
            field_class=content_fc,
            selector=selector_fc,
            ranges=pairs(ranges),
            user_attributes=user_attributes,
        )

    def create_variant_field_class(
        self, selector_fc: Any = None, user_attributes: Any = None
    ) -> Any:
        """Make a class of one of several fields, without any option yet."""
        kind: Any = _VariantFieldClassWithoutSelector
        if selector_fc is not None:
            kind = _VariantFieldClassWithUnsignedIntegerSelector
            if selector_fc._is_signed:
                kind = _VariantFieldClassWithSignedIntegerSelector
        return kind(options=[], selector=selector_fc, user_attributes=user_attributes)


def pairs(ranges: Any) -> list[tuple[int, int]]:
    """Return ranges as pairs of integers.

    Args:
        ranges: Ranges of Babeltrace's module, pairs or single values.
    """
    found = []
    for one in ranges:
        if hasattr(one, "lower"):
            found.append((int(one.lower), int(one.upper)))
        elif isinstance(one, tuple | list):
            lower, upper = one
            found.append((int(lower), int(upper)))
        else:
            found.append((int(one), int(one)))
    return sorted(found)
