"""Fields that are read: numbers, strings and containers of a field class.

A field is a value and a field class. The value of a structure is a dictionary, that of
an array a list, that of a variant the index of its option and what is in it, that of
an option what is in it or ``None``; what is in them are plain values, of which their
field classes make fields when they are asked for, or fields.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....core import FieldBase, NumberFieldBase, StructureFieldBase
from ..values.operators import BitOperators, NumberOperators, number_of

__all__ = ["field_of", "leaf_field"]


def leaf_field(field: Any) -> Any:
    """Return what is in a field that holds another one.

    Args:
        field: A field, or any other object.
    """
    # Those that a component fills have the same properties.
    while True:
        kind = type(field)
        if hasattr(kind, "selected_option"):
            field = field.selected_option
        elif hasattr(kind, "has_field"):
            field = field.field
        else:
            return field


def field_of(value: Any, field_class: Any) -> Any:
    """Make a field of a value that is in another one.

    Args:
        value: A plain value, or a field already.
        field_class: Its field class.
    """
    if isinstance(value, FieldBase):
        return value
    return field_class._field_type(value, field_class)


class _FieldConst(FieldBase):
    """Any field."""

    __slots__ = ()
    _NAME = "Const field"

    @property
    def cls(self) -> Any:
        """Its field class."""
        return self._class

    @property
    def addr(self) -> int:
        """A number of its own among the fields that live."""
        return id(self)

    def _spec_eq(self, other: Any) -> bool:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self._spec_eq(leaf_field(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        raise TypeError(f"unhashable type: '{self._NAME}'")

    def __repr__(self) -> str:
        return repr(self._value)


class _BitArrayFieldConst(_FieldConst):
    """A bit array."""

    __slots__ = ()
    _NAME = "Const bit array"

    @property
    def value_as_integer(self) -> int:
        """The bits as a number; the first one is that of the least weight."""
        return int(self._value)

    def _spec_eq(self, other: Any) -> bool:
        return type(other) is type(self) and self._value == other._value

    def __len__(self) -> int:
        return int(self._class.length)

    def __str__(self) -> str:
        return str(self._value)


class _NumericFieldConst(NumberOperators, NumberFieldBase, _FieldConst):
    """A number."""

    __slots__ = ()

    def _spec_eq(self, other: Any) -> bool:
        try:
            return bool(self._value == number_of(other))
        except TypeError:
            return False

    def __eq__(self, other: object) -> bool:
        if type(other) is int:
            return bool(self._value == other)
        return self._spec_eq(leaf_field(other))

    def __hash__(self) -> int:
        return hash(self._value)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __str__(self) -> str:
        return str(self._value)


@numbers.Integral.register
class _IntegralFieldConst(BitOperators, _NumericFieldConst):
    """A number without fraction."""

    __slots__ = ()


class _BoolFieldConst(_IntegralFieldConst):
    """A boolean."""

    __slots__ = ()
    _NAME = "Const boolean"


class _IntegerFieldConst(_IntegralFieldConst):
    """An integer."""

    __slots__ = ()


class _UnsignedIntegerFieldConst(_IntegerFieldConst):
    """An integer that is not negative."""

    __slots__ = ()
    _NAME = "Const unsigned integer"


class _SignedIntegerFieldConst(_IntegerFieldConst):
    """An integer that may be negative."""

    __slots__ = ()
    _NAME = "Const signed integer"


@numbers.Real.register
class _RealFieldConst(_NumericFieldConst):
    """A floating point number."""

    __slots__ = ()
    _NAME = "Const real"


class _SinglePrecisionRealFieldConst(_RealFieldConst):
    """A floating point number of 32 bits."""

    __slots__ = ()
    _NAME = "Const single-precision real"


class _DoublePrecisionRealFieldConst(_RealFieldConst):
    """A floating point number of 64 bits."""

    __slots__ = ()
    _NAME = "Const double-precision real"


class _EnumerationFieldConst(_IntegerFieldConst):
    """An integer whose values have labels."""

    __slots__ = ()

    @property
    def labels(self) -> list[str]:
        """The labels of the value."""
        return [one.label for one in self._class.mappings_for_value(self._value)]

    def __repr__(self) -> str:
        return f"{self._value} ({', '.join(self.labels)})"

    def __str__(self) -> str:
        return repr(self)


class _UnsignedEnumerationFieldConst(
    _EnumerationFieldConst, _UnsignedIntegerFieldConst
):
    """An enumeration of integers that are not negative."""

    __slots__ = ()
    _NAME = "Const unsigned Enumeration"


class _SignedEnumerationFieldConst(_EnumerationFieldConst, _SignedIntegerFieldConst):
    """An enumeration of integers that may be negative."""

    __slots__ = ()
    _NAME = "Const signed Enumeration"


class _StringFieldConst(_FieldConst):
    """A string."""

    __slots__ = ()
    _NAME = "Const string"

    @staticmethod
    def _text(value: object) -> str:
        if not isinstance(value, str):
            value = getattr(value, "_value", None)
        if not isinstance(value, str):
            raise TypeError("expecting a 'str' object")
        return value

    def _spec_eq(self, other: Any) -> bool:
        try:
            return bool(self._value == self._text(other))
        except TypeError:
            return False

    def __lt__(self, other: object) -> bool:
        return bool(self._value < self._text(other))

    def __le__(self, other: object) -> bool:
        return bool(self._value <= self._text(other))

    def __gt__(self, other: object) -> bool:
        return bool(self._value > self._text(other))

    def __ge__(self, other: object) -> bool:
        return bool(self._value >= self._text(other))

    def __bool__(self) -> bool:
        return bool(self._value)

    def __hash__(self) -> int:
        return hash(self._value)

    def __str__(self) -> str:
        return str(self._value)

    def __format__(self, specification: str) -> str:
        return format(self._value, specification)

    def __getitem__(self, index: Any) -> str:
        return str(self._value[index])

    def __len__(self) -> int:
        return len(self._value)


class _ContainerFieldConst(_FieldConst):
    """A field that has others in it."""

    __slots__ = ()

    def _count(self) -> int:
        return len(self._class)

    def __bool__(self) -> bool:
        return len(self) != 0

    def __len__(self) -> int:
        return self._count()

    def __delitem__(self, index: object) -> None:
        raise NotImplementedError

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(f"'{type(self)}' object does not support item assignment")


class _StructureFieldConst(StructureFieldBase, _ContainerFieldConst, Mapping[str, Any]):
    """A structure."""

    __slots__ = ()
    _NAME = "Const structure"

    def __iter__(self) -> Iterator[str]:
        return iter(self._class)

    def __contains__(self, name: object) -> bool:
        return name in self._class

    def _spec_eq(self, other: Any) -> bool:
        if not isinstance(other, Mapping) or len(self) != len(other):
            return False
        return all(name in other and self[name] == other[name] for name in self)

    def __repr__(self) -> str:
        members = (f"{name!r}: {self[name]!r}" for name in self)
        return f"{{{', '.join(members)}}}"

    def member_at_index(self, index: int) -> Any:
        """Return a member by its index.

        Args:
            index: The index.

        Raises:
            IndexError: There is none.
        """
        if not 0 <= index < len(self):
            raise IndexError
        return self[self._class.member_at_index(index).name]


class _OptionFieldConst(_FieldConst):
    """A field that may be there or not."""

    __slots__ = ()
    _NAME = "Const option"

    @property
    def field(self) -> Any:
        """What is there, or ``None``."""
        if self._value is None:
            return None
        return field_of(self._value, self._class.field_class)

    @property
    def has_field(self) -> bool:
        """Whether it is there."""
        return self._value is not None

    def _spec_eq(self, other: Any) -> bool:
        return bool(leaf_field(self) == other)

    def __bool__(self) -> bool:
        return self.has_field

    def __str__(self) -> str:
        return str(self.field)

    def __repr__(self) -> str:
        return repr(self.field)


class _VariantFieldConst(_ContainerFieldConst):
    """One of several fields."""

    __slots__ = ()
    _NAME = "Const variant"

    @property
    def selected_option_index(self) -> int:
        """Index of the option that is there."""
        return int(self._value[0])

    @property
    def selected_option(self) -> Any:
        """The field that is there."""
        index, value = self._value
        return field_of(value, self._class.option_at_index(index).field_class)

    def _spec_eq(self, other: Any) -> bool:
        return bool(leaf_field(self) == other)

    def __bool__(self) -> bool:
        raise NotImplementedError

    def __str__(self) -> str:
        return str(self.selected_option)

    def __repr__(self) -> str:
        return repr(self.selected_option)


class _ArrayFieldConst(_ContainerFieldConst, Sequence[Any]):
    """An array."""

    __slots__ = ()
    _NAME = "Const array"

    def _count(self) -> int:
        return len(self._value)

    @property
    def length(self) -> int:
        """The number of its elements."""
        return len(self._value)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, numbers.Integral):
            raise TypeError(
                f"'{type(index).__name__}' is not an integral number object: "
                "invalid index"
            )
        index = int(index)
        if not 0 <= index < len(self):
            raise IndexError(f"{self._NAME} field object index is out of range")
        return field_of(self._value[index], self._class.element_field_class)

    def _spec_eq(self, other: Any) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(one == two for one, two in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self))}]"


class _StaticArrayFieldConst(_ArrayFieldConst):
    """An array whose length its field class tells."""

    __slots__ = ()
    _NAME = "Const static array"


class _DynamicArrayFieldConst(_ArrayFieldConst):
    """An array of any length."""

    __slots__ = ()
    _NAME = "Const dynamic array"
