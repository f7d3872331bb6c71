"""Refusing arguments of other types, in the words of Babeltrace's bindings."""

from __future__ import annotations

from typing import Any

__all__ = ["check_bool", "check_int", "check_str", "check_type", "check_uint64"]


def check_type(one: Any, expected: type) -> None:
    """Refuse what is not of a type.

    Args:
        one: The argument.
        expected: The type.

    Raises:
        TypeError: It is of another.
    """
    if not isinstance(one, expected):
        article = "an" if expected.__name__[0] in "aeiou" else "a"
        raise TypeError(
            f"'{type(one).__name__}' is not {article} '{expected.__name__}' object"
        )


def check_bool(one: Any) -> None:
    """Refuse what is no boolean.

    Args:
        one: The argument.
    """
    check_type(one, bool)


def check_str(one: Any) -> None:
    """Refuse what is no string.

    Args:
        one: The argument.
    """
    check_type(one, str)


def check_int(one: Any) -> None:
    """Refuse what is no integer.

    Args:
        one: The argument.
    """
    check_type(one, int)


def check_uint64(one: Any) -> None:
    """Refuse what is no integer from 0 to 2^64 - 1.

    Args:
        one: The argument.

    Raises:
        ValueError: It is out of range.
    """
    check_type(one, int)
    if not 0 <= one < 1 << 64:
        raise ValueError(f"expecting an unsigned 64-bit integral value: {one}")
