"""Ranges of integers, as mappings of enumerations and selectors have them."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, MutableSet
from collections.abc import Set as AbstractSet
from typing import Any

__all__ = [
    "SignedIntegerRange",
    "SignedIntegerRangeSet",
    "UnsignedIntegerRange",
    "UnsignedIntegerRangeSet",
]


class _IntegerRangeConst:
    """A range of integers, both ends included.

    Args:
        lower: Its lower end.
        upper: Its upper end; the lower one if absent.

    Raises:
        TypeError: An end is no integer.
        ValueError: An end is too small or too large, or the ends are the wrong way.
    """

    _LOWEST = 0
    _HIGHEST = (1 << 64) - 1

    def __init__(self, lower: Any, upper: Any = None) -> None:
        upper = lower if upper is None else upper
        for end in (lower, upper):
            if not isinstance(end, numbers.Integral):
                raise TypeError("expecting an integral number object")
            if not self._LOWEST <= int(end) <= self._HIGHEST:
                raise ValueError(f"expecting a 64-bit integer: {end}")
        if lower > upper:
            raise ValueError(
                f"range's lower bound ({lower}) is greater than its upper "
                f"bound ({upper})"
            )
        self._lower = int(lower)
        self._upper = int(upper)

    @property
    def lower(self) -> int:
        """Its lower end."""
        return self._lower

    @property
    def upper(self) -> int:
        """Its upper end."""
        return self._upper

    def contains(self, value: Any) -> bool:
        """Tell whether a number is in it.

        Args:
            value: The number.

        Raises:
            TypeError: It is no integer.
            ValueError: It is too small or too large.
        """
        type(self)(value)
        return self._lower <= int(value) <= self._upper

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _IntegerRangeConst):
            return False
        return (self._lower, self._upper) == (other._lower, other._upper)

    def __hash__(self) -> int:
        return hash((self._lower, self._upper))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._lower}, {self._upper})"


class _UnsignedIntegerRangeConst(_IntegerRangeConst):
    """A range of integers that are not negative."""


class _SignedIntegerRangeConst(_IntegerRangeConst):
    """A range of integers that may be negative."""

    _LOWEST = -(1 << 63)
    _HIGHEST = (1 << 63) - 1


class UnsignedIntegerRange(_UnsignedIntegerRangeConst):
    """A range of integers that are not negative."""


class SignedIntegerRange(_SignedIntegerRangeConst):
    """A range of integers that may be negative."""


class _IntegerRangeSetConst(AbstractSet[Any]):
    """Some ranges.

    Args:
        ranges: The ranges, or pairs of their ends, or single numbers.
    """

    _RANGE: type[_IntegerRangeConst] = _UnsignedIntegerRangeConst

    def __init__(self, ranges: Iterable[Any] = ()) -> None:
        self._ranges: list[_IntegerRangeConst] = []
        for one in ranges:
            self._add(one)

    @classmethod
    def _from_iterable(cls, it: Iterable[Any]) -> _IntegerRangeSetConst:
        return cls(it)

    def _range(self, one: Any) -> _IntegerRangeConst:
        if isinstance(one, _IntegerRangeConst):
            return self._RANGE(one.lower, one.upper)
        if isinstance(one, numbers.Integral):
            return self._RANGE(int(one))
        return self._RANGE(one[0], one[1])

    def _add(self, one: Any) -> None:
        found = self._range(one)
        if found not in self._ranges:
            self._ranges.append(found)

    def contains_value(self, value: int) -> bool:
        """Tell whether a number is in one of the ranges.

        Args:
            value: The number.
        """
        return any(one.contains(value) for one in self._ranges)

    def __contains__(self, other: object) -> bool:
        return isinstance(other, _IntegerRangeConst) and other in self._ranges

    def __iter__(self) -> Iterator[Any]:
        return iter(self._ranges)

    def __len__(self) -> int:
        return len(self._ranges)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AbstractSet):
            return False
        return len(self) == len(other) and all(one in other for one in self)

    __hash__ = None  # type: ignore[assignment]


class _UnsignedIntegerRangeSetConst(_IntegerRangeSetConst):
    """Ranges of integers that are not negative."""


class _SignedIntegerRangeSetConst(_IntegerRangeSetConst):
    """Ranges of integers that may be negative."""

    _RANGE = _SignedIntegerRangeConst


class UnsignedIntegerRangeSet(_UnsignedIntegerRangeSetConst, MutableSet[Any]):
    """Ranges of integers that are not negative, and can become more."""

    _RANGE = UnsignedIntegerRange

    def add(self, value: Any) -> None:
        """Add a range.

        Args:
            value: The range, a pair of its ends, or a single number.
        """
        self._add(value)

    def discard(self, value: Any) -> None:
        """Refuse to remove a range.

        Args:
            value: The range.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError


class SignedIntegerRangeSet(_SignedIntegerRangeSetConst, MutableSet[Any]):
    """Ranges of integers that may be negative, and can become more."""

    _RANGE = SignedIntegerRange

    def add(self, value: Any) -> None:
        """Add a range.

        Args:
            value: The range, a pair of its ends, or a single number.
        """
        self._add(value)

    def discard(self, value: Any) -> None:
        """Refuse to remove a range.

        Args:
            value: The range.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError
