"""Arithmetic of numbers that stand behind an object."""

from __future__ import annotations

import math
import numbers
from typing import Any

__all__ = ["BitOperators", "NumberOperators", "number_of"]


def number_of(other: object) -> Any:
    """Return the plain number that an operand is.

    Args:
        other: The operand.

    Raises:
        TypeError: It is no number.
    """
    if type(other) in {int, float, bool}:
        return other
    if isinstance(other, NumberOperators):
        return other._value
    for kind, plain in (
        (numbers.Integral, int),
        (numbers.Real, float),
        (numbers.Complex, complex),
    ):
        if isinstance(other, kind):
            return plain(other)  # type: ignore[arg-type,call-overload]
    raise TypeError(f"'{type(other).__name__}' object is not a number object")


class NumberOperators:
    """What numbers can do; the number is ``_value``, the results are plain numbers."""

    __slots__ = ()

    _value: Any

    def __lt__(self, other: object) -> bool:
        return bool(self._value < self._comparable(other))

    def __le__(self, other: object) -> bool:
        return bool(self._value <= self._comparable(other))

    def __gt__(self, other: object) -> bool:
        return bool(self._value > self._comparable(other))

    def __ge__(self, other: object) -> bool:
        return bool(self._value >= self._comparable(other))

    def _comparable(self, other: object) -> Any:
        if not isinstance(other, numbers.Number):
            raise TypeError(
                f"unorderable types: {type(self).__name__}() < {type(other).__name__}()"
            )
        return number_of(other)

    def __mod__(self, other: object) -> Any:
        return self._value % number_of(other)

    def __rmod__(self, other: object) -> Any:
        return number_of(other) % self._value

    def __floordiv__(self, other: object) -> Any:
        return self._value // number_of(other)

    def __rfloordiv__(self, other: object) -> Any:
        return number_of(other) // self._value

    def __add__(self, other: object) -> Any:
        return self._value + number_of(other)

    def __radd__(self, other: object) -> Any:
        return number_of(other) + self._value

    def __sub__(self, other: object) -> Any:
        return self._value - number_of(other)

    def __rsub__(self, other: object) -> Any:
        return number_of(other) - self._value

    def __mul__(self, other: object) -> Any:
        return self._value * number_of(other)

    def __rmul__(self, other: object) -> Any:
        return number_of(other) * self._value

    def __truediv__(self, other: object) -> Any:
        return self._value / number_of(other)

    def __rtruediv__(self, other: object) -> Any:
        return number_of(other) / self._value

    def __pow__(self, other: object) -> Any:
        return self._value ** number_of(other)

    def __rpow__(self, other: object) -> Any:
        return number_of(other) ** self._value

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self._value, ndigits)

    def __ceil__(self) -> Any:
        return math.ceil(self._value)

    def __floor__(self) -> Any:
        return math.floor(self._value)

    def __trunc__(self) -> int:
        return int(self._value)

    def __abs__(self) -> Any:
        return abs(self._value)

    def __neg__(self) -> Any:
        return -self._value

    def __pos__(self) -> Any:
        return +self._value

    def __divmod__(self, other: object) -> Any:
        return divmod(self._value, number_of(other))

    def __rdivmod__(self, other: object) -> Any:
        return divmod(number_of(other), self._value)

    def __complex__(self) -> complex:
        return complex(self._value)

    @property
    def real(self) -> Any:
        """The number itself: it is no complex one."""
        return self._value

    @property
    def imag(self) -> int:
        """Nothing: it is no complex number."""
        return 0

    def conjugate(self) -> Any:
        """Return the number itself."""
        return self._value

    def __format__(self, specification: str) -> str:
        return format(self._value, specification) if specification else str(self)


class BitOperators:
    """What integers can do besides; the number is ``_value``."""

    __slots__ = ()

    _value: Any

    def __lshift__(self, other: object) -> Any:
        return self._value << number_of(other)

    def __rlshift__(self, other: object) -> Any:
        return number_of(other) << self._value

    def __rshift__(self, other: object) -> Any:
        return self._value >> number_of(other)

    def __rrshift__(self, other: object) -> Any:
        return number_of(other) >> self._value

    def __and__(self, other: object) -> Any:
        return self._value & number_of(other)

    def __rand__(self, other: object) -> Any:
        return number_of(other) & self._value

    def __xor__(self, other: object) -> Any:
        return self._value ^ number_of(other)

    def __rxor__(self, other: object) -> Any:
        return number_of(other) ^ self._value

    def __or__(self, other: object) -> Any:
        return self._value | number_of(other)

    def __ror__(self, other: object) -> Any:
        return number_of(other) | self._value

    def __invert__(self) -> int:
        return int(~self._value)

    @property
    def numerator(self) -> int:
        """The number itself."""
        return int(self._value)

    @property
    def denominator(self) -> int:
        """One."""
        return 1

    def __index__(self) -> int:
        return int(self._value)
