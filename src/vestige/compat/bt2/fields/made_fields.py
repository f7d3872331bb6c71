"""Fields that a component fills.

A field keeps a plain value; what is in a container are fields again. Containers make
the fields in them when they are asked for. As with Babeltrace's module, the class of a
field that can be changed derives from that of one that is read.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any

from ....core import FieldBase
from ..values.operators import number_of
from . import field as const
from .field import leaf_field

__all__ = ["field_of_class", "plain_of"]


def field_of_class(field_class: Any) -> Any:
    """Make a field without a value.

    Args:
        field_class: Its field class.
    """
    return field_class._made_field(field_class)


def plain_of(field: Any) -> Any:
    """Return what the core encodes.

    Args:
        field: A field, or ``None`` if there is none.
    """
    return None if field is None else field._plain()


class _Field:
    """Any field: a part of classes whose other base is that of fields that are read."""

    __slots__ = ()

    _class: Any
    _value: Any

    def __new__(cls, field_class: Any) -> Any:
        # The next class is one that makes a field of a value and its class.
        return super().__new__(cls, None, field_class)  # type: ignore[call-arg]

    def __init__(self, field_class: Any) -> None:
        """Do nothing: it has its class, and no value."""

    def _set(self, value: Any) -> None:
        self._value = value

    def _plain(self) -> Any:
        return self._value

    def __eq__(self, other: object) -> bool:
        return bool(self._plain() == plain(other))

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return repr(self._plain())

    def __str__(self) -> str:
        return str(self._plain())

    def __bool__(self) -> bool:
        return bool(self._plain())


def plain(value: Any) -> Any:
    """Return a value that may be a field, as a plain one.

    Args:
        value: A field of a component, or of a trace, or a plain value.
    """
    if isinstance(value, _Field):
        return value._plain()
    return value


class _Scalar(_Field):
    __slots__ = ()

    _default: Any = 0

    def _get(self) -> Any:
        return self._default if self._value is None else self._value

    value = property(_get, lambda self, value: self._set(value))

    def _plain(self) -> Any:
        return self._get()


class _Number(_Scalar):
    __slots__ = ()

    def __init__(self, field_class: Any) -> None:
        super().__init__(field_class)
        self._value = self._default

    def __int__(self) -> int:
        return int(self._value)

    def __float__(self) -> float:
        return float(self._value)

    def __eq__(self, other: object) -> bool:
        try:
            return bool(self._value == number_of(leaf_field(plain(other))))
        except TypeError:
            return False

    def __hash__(self) -> int:
        # Its value may be another one later.
        raise TypeError(f"unhashable type: '{type(self).__name__}'")


class _BoolField(_Number, const._BoolFieldConst):
    """A boolean."""

    __slots__ = ()
    _default = False

    def _set(self, value: Any) -> None:
        if isinstance(value, FieldBase):
            value = value._value
        if not isinstance(value, bool):
            raise TypeError(
                f"'{type(value)}' object is not a 'bool', '_BoolFieldConst', or "
                "'_BoolField' object"
            )
        self._value = value


class _BitArrayField(_Number, const._BitArrayFieldConst):
    """Bits."""

    __slots__ = ()

    def __len__(self) -> int:
        return int(self._class.length)

    @property
    def value_as_integer(self) -> int:
        """The bits as an integer."""
        return int(self)

    @value_as_integer.setter
    def value_as_integer(self, value: int) -> None:
        self._set(value)

    def _set(self, value: Any) -> None:
        if not isinstance(value, numbers.Integral):
            raise TypeError("expecting an integral number object")
        self._value = int(value) & ((1 << len(self)) - 1)

    __hash__ = _Number.__hash__

    def __eq__(self, other: object) -> bool:
        # Bits are no number: they are like no other thing.
        if not isinstance(other, const._BitArrayFieldConst):
            return False
        return bool(self._value == other._value)


class _IntegerField(_Number, const._IntegerFieldConst):
    """An integer."""

    __slots__ = ()

    def _set(self, value: Any) -> None:
        if not isinstance(value, numbers.Integral):
            raise TypeError("expecting an integral number object")
        number = int(value)
        size = self._class._field_value_range
        low, high = (-(1 << (size - 1)), (1 << (size - 1)) - 1)
        if not self._class._is_signed:
            low, high = 0, (1 << size) - 1
        if not low <= number <= high:
            raise ValueError(f"Value {number} is outside valid range [{low}, {high}]")
        self._value = number


class _UnsignedIntegerField(_IntegerField, const._UnsignedIntegerFieldConst):
    """An integer without a sign."""

    __slots__ = ()


class _SignedIntegerField(_IntegerField, const._SignedIntegerFieldConst):
    """An integer with a sign."""

    __slots__ = ()


class _EnumerationField(_IntegerField, const._EnumerationFieldConst):
    """An integer with labels."""

    __slots__ = ()
    __repr__ = const._EnumerationFieldConst.__repr__
    __str__ = const._EnumerationFieldConst.__str__


class _UnsignedEnumerationField(
    _EnumerationField, _UnsignedIntegerField, const._UnsignedEnumerationFieldConst
):
    """An integer without a sign, with labels."""

    __slots__ = ()


class _SignedEnumerationField(
    _EnumerationField, _SignedIntegerField, const._SignedEnumerationFieldConst
):
    """An integer with a sign, with labels."""

    __slots__ = ()


class _RealField(_Number, const._RealFieldConst):
    """A floating point number."""

    __slots__ = ()
    _default = 0.0

    def _set(self, value: Any) -> None:
        if not isinstance(value, numbers.Real):
            raise TypeError("expecting a real number object")
        self._value = float(value)


class _SinglePrecisionRealField(_RealField, const._SinglePrecisionRealFieldConst):
    """A floating point number of 32 bits."""

    __slots__ = ()


class _DoublePrecisionRealField(_RealField, const._DoublePrecisionRealFieldConst):
    """A floating point number of 64 bits."""

    __slots__ = ()


class _StringField(_Scalar, const._StringFieldConst):
    """A text."""

    __eq__ = _Scalar.__eq__

    def __hash__(self) -> int:
        # Its value may be another one later.
        raise TypeError(f"unhashable type: '{type(self).__name__}'")

    __slots__ = ()
    _default = ""

    def _set(self, value: Any) -> None:
        if not isinstance(plain(value), str) and not hasattr(value, "_value"):
            raise TypeError("expecting a 'str' object")
        self._value = str(value)

    def __iadd__(self, value: Any) -> _StringField:  # noqa: PYI034 - it is itself
        self._value = self._get() + str(value)
        return self

    def __len__(self) -> int:
        return len(self._get())

    def __getitem__(self, index: Any) -> str:
        return str(self._get()[index])


class _StructureField(_Field, const._StructureFieldConst):
    """Members with names."""

    __slots__ = ()

    def __init__(self, field_class: Any) -> None:
        super().__init__(field_class)
        self._value: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise TypeError(f"'{type(name).__name__}' is not a 'str' object")
        field = self._value.get(name)
        if field is None:
            field = field_of_class(self._class._class_of(name))
            self._value[name] = field
        return field

    def __setitem__(self, name: str, value: Any) -> None:
        self[name]._set(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._class)

    def __len__(self) -> int:
        return len(self._class)

    __hash__ = _Field.__hash__
    __eq__ = _Field.__eq__

    def member_at_index(self, index: int) -> Any:
        """Return a member.

        Args:
            index: Its index.
        """
        return self[self._class.member_at_index(index).name]

    def _set(self, value: Any) -> None:
        for name, one in value.items():
            self[name] = one

    value = property(lambda self: self._plain(), _set)

    def _plain(self) -> dict[str, Any]:
        plain_value: dict[str, Any] = {}
        users = self._users()
        for member in self._class._members:
            name = member._name
            field = self._value.get(name)
            if field is not None and not (
                isinstance(field, _Scalar) and field._value is None
            ):
                plain_value[name] = field._plain()
            elif id(member._field_class) not in users:
                # A length or selector that nobody gave is worked out.
                plain_value[name] = self[name]._plain()
        return plain_value

    def _users(self) -> set[int]:
        """Return the classes of members that tell lengths or select."""
        return {
            id(selector)
            for member in self._class._members
            if (selector := member._field_class._of("selector")) is not None
        }


class _ArrayField(_Field, const._ArrayFieldConst):
    """Elements of one class."""

    __slots__ = ()

    def __init__(self, field_class: Any) -> None:
        super().__init__(field_class)
        self._value: list[Any] = []

    def _resize(self, length: int) -> None:
        del self._value[length:]
        for _ in range(length - len(self._value)):
            self._value.append(field_of_class(self._class._element_field_class))

    @property
    def length(self) -> int:
        """The number of elements."""
        return len(self._value)

    def _checked(self, index: Any) -> int:
        if not isinstance(index, numbers.Integral):
            raise TypeError(f"'{type(index).__name__}' is not an integral number")
        if not 0 <= int(index) < len(self._value):
            raise IndexError("array field object index is out of range")
        return int(index)

    def __getitem__(self, index: Any) -> Any:
        return self._value[self._checked(index)]

    def __setitem__(self, index: int, value: Any) -> None:
        field = self._value[self._checked(index)]
        if not isinstance(field, _Scalar):
            raise TypeError("only numbers and texts can be set by their index")
        field._set(value)

    def __len__(self) -> int:
        return len(self._value)

    __hash__ = _Field.__hash__
    __eq__ = _Field.__eq__

    def insert(self, index: int, value: Any) -> None:
        """Refuse to add an element: the length is set before.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError

    def _set(self, value: Any) -> None:
        values = [*value]
        self._resize(len(values))
        for field, one in zip(self._value, values, strict=True):
            field._set(one)

    value = property(lambda self: self._plain(), lambda self, value: self._set(value))

    def _plain(self) -> list[Any]:
        return [field._plain() for field in self._value]


class _StaticArrayField(_ArrayField, const._StaticArrayFieldConst):
    """A number of elements that is always the same."""

    __slots__ = ()

    def __init__(self, field_class: Any) -> None:
        super().__init__(field_class)
        self._resize(field_class._length)

    def _set(self, value: Any) -> None:
        if len(value) != len(self):
            raise ValueError("expected length of value and array field to match")
        super()._set(value)


class _DynamicArrayField(_ArrayField, const._DynamicArrayFieldConst):
    """Any number of elements."""

    __slots__ = ()

    @property
    def length(self) -> int:
        """The number of elements."""
        return len(self)

    @length.setter
    def length(self, length: int) -> None:
        self._resize(length)


class _OptionField(_Field, const._OptionFieldConst):
    """A field that may be there."""

    __slots__ = ("_field",)

    def __init__(self, field_class: Any) -> None:
        super().__init__(field_class)
        self._field: Any = None

    @property
    def has_field(self) -> bool:
        """Whether it is there."""
        return self._value is not None

    @has_field.setter
    def has_field(self, value: bool) -> None:
        if value and self._field is None:
            self._field = field_of_class(self._class._field_class)
        self._value = self._field if value else None

    @property
    def field(self) -> Any:
        """The field, or ``None``."""
        return self._value

    def _set(self, value: Any) -> None:
        self.has_field = True
        self._field._set(value)

    value = property(lambda self: self._plain(), _set)

    def _plain(self) -> Any:
        return None if self._value is None else self._value._plain()


class _VariantField(_Field, const._VariantFieldConst):
    """One of several fields."""

    __slots__ = ("_index",)

    def __init__(self, field_class: Any) -> None:
        super().__init__(field_class)
        self._index: int | None = None

    @property
    def selected_option_index(self) -> Any:
        """The index of the option."""
        return self._index

    @selected_option_index.setter
    def selected_option_index(self, index: int) -> None:
        if not 0 <= index < len(self._class):
            raise IndexError(f"{self._class} has no option at index {index}")
        self._index = index
        self._value = field_of_class(self._class._options[index]._field_class)

    @property
    def selected_option(self) -> Any:
        """The field of the option."""
        if self._index is None:
            self.selected_option_index = 0
        return self._value

    def __len__(self) -> int:
        return len(self._class)

    def __bool__(self) -> bool:
        raise NotImplementedError

    __hash__ = _Field.__hash__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _VariantField):
            return super().__eq__(other)
        return bool(self.selected_option == leaf_field(other))

    def _set(self, value: Any) -> None:
        self.selected_option._set(value)

    value = property(lambda self: self.selected_option.value, _set)

    def _plain(self) -> Any:
        field = self.selected_option
        return (self._class._options[self._index]._name, field._plain())
