"""Values: parameters, results of queries, entries of environments."""

from __future__ import annotations

import numbers
from collections.abc import (
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    Sequence,
)
from typing import Any

from .operators import BitOperators, NumberOperators, number_of

__all__ = ["const_value", "create_value", "plain_value"]


class _ValueConst:
    """Any value: what is there is ``_value``."""

    __slots__ = ("_value",)
    _value: Any
    _NAME = "Const value"

    @property
    def addr(self) -> int:
        """A number of its own among the values that live."""
        return id(self)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __eq__(self, other: object) -> bool:
        return bool(self._value == plain_value(other))

    def __hash__(self) -> int:
        raise TypeError(f"unhashable type: '{self._NAME}'")

    def __repr__(self) -> str:
        return repr(self._value)


class _Value(_ValueConst):
    """Any value that can be changed."""

    __slots__ = ()

    def _set_value(self, value: Any) -> None:
        self._value = self._checked(value)

    def _checked(self, value: Any) -> Any:
        raise NotImplementedError

    value = property(fset=lambda self, value: self._set_value(value))


class _NumericValueConst(NumberOperators, _ValueConst):
    """A number."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        try:
            return bool(self._value == number_of(other))
        except TypeError:
            return False

    __hash__ = _ValueConst.__hash__

    def _comparable(self, other: object) -> Any:
        return number_of(other)

    def __int__(self) -> int:
        return int(self._value)

    def __float__(self) -> float:
        return float(self._value)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __str__(self) -> str:
        return str(self._value)


@numbers.Integral.register
class _IntegralValueConst(BitOperators, _NumericValueConst):
    """A number without fraction."""

    __slots__ = ()
    __hash__ = _ValueConst.__hash__


class _BoolValueConst(_IntegralValueConst):
    """A boolean."""

    __slots__ = ()
    _NAME = "Const boolean"


class _IntegerValueConst(_IntegralValueConst):
    """An integer."""

    __slots__ = ()


class _UnsignedIntegerValueConst(_IntegerValueConst):
    """An integer that is not negative."""

    __slots__ = ()
    _NAME = "Const unsigned integer"


class _SignedIntegerValueConst(_IntegerValueConst):
    """An integer that may be negative."""

    __slots__ = ()
    _NAME = "Const signed integer"


@numbers.Real.register
class _RealValueConst(_NumericValueConst):
    """A floating point number."""

    __slots__ = ()
    _NAME = "Const real number"
    __hash__ = _ValueConst.__hash__


class _StringValueConst(_ValueConst):
    """A string."""

    __slots__ = ()
    _NAME = "Const string"

    @staticmethod
    def _text(other: object) -> str:
        if isinstance(other, _StringValueConst):
            return str(other._value)
        if isinstance(other, str):
            return other
        raise TypeError("expecting a 'str' object")

    def __eq__(self, other: object) -> bool:
        try:
            return bool(self._value == self._text(other))
        except TypeError:
            return False

    __hash__ = _ValueConst.__hash__

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

    def __str__(self) -> str:
        return str(self._value)

    def __format__(self, specification: str) -> str:
        return format(self._value, specification)

    def __getitem__(self, index: Any) -> str:
        return str(self._value[index])

    def __len__(self) -> int:
        return len(self._value)


class _ArrayValueConst(_ValueConst, Sequence[Any]):
    """An array of values."""

    __slots__ = ()
    _NAME = "Const array"

    def _element(self, index: int) -> Any:
        return const_value(self._value[index])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return False
        return len(self) == len(other) and all(
            one == two for one, two in zip(self, other, strict=True)
        )

    __hash__ = _ValueConst.__hash__

    def __len__(self) -> int:
        return len(self._value)

    def _index(self, index: Any) -> int:
        if not isinstance(index, numbers.Integral):
            raise TypeError(
                f"'{type(index).__name__}' is not an integral number object: "
                "invalid index"
            )
        number = int(index)
        if not 0 <= number < len(self._value):
            raise IndexError("array value object index is out of range")
        return number

    def __getitem__(self, index: Any) -> Any:
        return self._element(self._index(index))

    def __repr__(self) -> str:
        return f"[{', '.join(map(repr, self))}]"


class _MapValueConst(_ValueConst, Mapping[str, Any]):
    """Values by their names."""

    __slots__ = ()
    _NAME = "Const map"

    def _entry(self, name: str) -> Any:
        return const_value(self._value[name])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return False
        return len(self) == len(other) and all(
            name in other and self[name] == other[name] for name in self
        )

    __hash__ = _ValueConst.__hash__

    def __len__(self) -> int:
        return len(self._value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def __contains__(self, name: object) -> bool:
        _check_name(name)
        return name in self._value

    def __getitem__(self, name: str) -> Any:
        _check_name(name)
        return self._entry(name)

    def __repr__(self) -> str:
        entries = (f"{name!r}: {self[name]!r}" for name in self)
        return f"{{{', '.join(entries)}}}"


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"'{type(name).__name__}' is not a 'str' object")


class BoolValue(_BoolValueConst, _Value):
    """A boolean that can be changed."""

    __slots__ = ()
    _NAME = "Boolean"

    def __init__(self, value: object = False) -> None:
        self._value = self._checked(False if value is None else value)

    def _checked(self, value: Any) -> bool:
        if isinstance(value, _BoolValueConst):
            value = value._value
        if not isinstance(value, bool):
            raise TypeError(
                f"'{type(value)}' object is not a 'bool', 'BoolValue', or "
                "'_BoolValueConst' object"
            )
        return value


class _IntegerValue(_IntegerValueConst, _Value):
    """An integer that can be changed."""

    __slots__ = ()
    _LOWEST = 0
    _HIGHEST = (1 << 64) - 1

    def __init__(self, value: object = 0) -> None:
        self._value = self._checked(0 if value is None else value)

    def _checked(self, value: Any) -> int:
        if not isinstance(value, numbers.Integral):
            raise TypeError("expecting an integral number object")
        number = int(value)
        if not self._LOWEST <= number <= self._HIGHEST:
            raise ValueError(f"expecting a 64-bit integral value: {value}")
        return number


class UnsignedIntegerValue(_UnsignedIntegerValueConst, _IntegerValue):
    """An integer that is not negative, and can be changed."""

    __slots__ = ()
    _NAME = "Unsigned integer"


class SignedIntegerValue(_SignedIntegerValueConst, _IntegerValue):
    """An integer that may be negative, and can be changed."""

    __slots__ = ()
    _NAME = "Signed integer"
    _LOWEST = -(1 << 63)
    _HIGHEST = (1 << 63) - 1


class RealValue(_RealValueConst, _Value):
    """A floating point number that can be changed."""

    __slots__ = ()
    _NAME = "Real number"

    def __init__(self, value: object = 0.0) -> None:
        self._value = self._checked(0.0 if value is None else value)

    def _checked(self, value: Any) -> float:
        if not isinstance(value, numbers.Real):
            raise TypeError("expecting a real number object")
        return float(value)


class StringValue(_StringValueConst, _Value):
    """A string that can be changed."""

    __slots__ = ()
    _NAME = "String"

    def __init__(self, value: object = "") -> None:
        self._value = self._checked("" if value is None else value)

    def _checked(self, value: Any) -> str:
        return self._text(value)

    def __iadd__(self, other: object) -> StringValue:  # noqa: PYI034 - there is no subclass
        self._value += self._text(other)
        return self


class ArrayValue(_ArrayValueConst, _Value, MutableSequence[Any]):
    """An array of values that can be changed."""

    __slots__ = ()
    _NAME = "Array"

    def __init__(self, value: Sequence[Any] | None = None) -> None:
        self._value = self._checked([] if value is None else value)

    def _checked(self, value: Any) -> list[Any]:
        if not isinstance(value, Sequence):
            raise TypeError("expecting a sequence object")
        return [create_value(one) for one in value]

    def _element(self, index: int) -> Any:
        return self._value[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._value[self._index(index)] = create_value(value)

    def __delitem__(self, index: Any) -> None:
        raise NotImplementedError

    def insert(self, index: int, value: Any) -> None:
        """Refuse to put a value before others.

        Args:
            index: Where.
            value: The value.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError

    def append(self, value: Any) -> None:
        """Add a value.

        Args:
            value: The value.
        """
        self._value.append(create_value(value))

    def __iadd__(self, values: Any) -> ArrayValue:  # noqa: PYI034 - there is no subclass
        for one in values:
            self.append(one)
        return self


class MapValue(_MapValueConst, _Value, MutableMapping[str, Any]):
    """Values by their names that can be changed."""

    __slots__ = ()
    _NAME = "Map"

    def __init__(self, value: Mapping[str, Any] | None = None) -> None:
        self._value = self._checked({} if value is None else value)

    def _checked(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise TypeError("expecting a mapping object")
        made = {}
        for name, one in value.items():
            _check_name(name)
            made[name] = create_value(one)
        return made

    def _entry(self, name: str) -> Any:
        return self._value[name]

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        self._value[name] = create_value(value)

    def __delitem__(self, name: str) -> None:
        raise NotImplementedError


def create_value(value: Any) -> Any:
    """Make a value that can be changed.

    Args:
        value: A plain value, or a value already.

    Returns:
        The value; ``None`` stays as it is.

    Raises:
        TypeError: There is no value for such an object.
    """
    if value is None or isinstance(value, _Value):
        return value
    kinds: tuple[tuple[Any, Any], ...] = (
        ((bool, _BoolValueConst), BoolValue),
        (_UnsignedIntegerValueConst, UnsignedIntegerValue),
        (numbers.Integral, SignedIntegerValue),
        (numbers.Real, RealValue),
        ((str, _StringValueConst), StringValue),
        (Sequence, ArrayValue),
        (Mapping, MapValue),
    )
    for kind, made in kinds:
        if isinstance(value, kind):
            return made(value)
    raise TypeError(f"cannot create value object from '{type(value).__name__}' object")


_CONST: dict[type, type[_ValueConst]] = {
    BoolValue: _BoolValueConst,
    UnsignedIntegerValue: _UnsignedIntegerValueConst,
    SignedIntegerValue: _SignedIntegerValueConst,
    RealValue: _RealValueConst,
    StringValue: _StringValueConst,
    ArrayValue: _ArrayValueConst,
    MapValue: _MapValueConst,
}


def const_value(value: Any) -> Any:
    """Make a value that can be read only.

    Args:
        value: A plain value, or a value already.

    Returns:
        The value; ``None`` stays as it is.

    Raises:
        TypeError: There is no value for such an object.
    """
    if value is None or (
        isinstance(value, _ValueConst) and not isinstance(value, _Value)
    ):
        return value
    made = create_value(value)
    kind = next(_CONST[one] for one in type(made).__mro__ if one in _CONST)
    const = kind.__new__(kind)
    const._value = made._value
    return const


def plain_value(value: Any) -> Any:
    """Return what a value is in Python.

    Args:
        value: A value, or a plain value already.
    """
    if isinstance(value, _ArrayValueConst):
        return [plain_value(one) for one in value._value]
    if isinstance(value, _MapValueConst):
        return {name: plain_value(one) for name, one in value._value.items()}
    if isinstance(value, _ValueConst):
        return value._value
    if isinstance(value, Mapping):
        return {name: plain_value(one) for name, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain_value(one) for one in value]
    return value
