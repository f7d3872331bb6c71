"""Sizes, as options have them."""

from __future__ import annotations

from ..errors import SelectionError

__all__ = ["parse_size"]

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parse_size(text: str, option: str) -> int:
    """Read a size.

    Args:
        text: A number, with k, M or G.
        option: Whose value it is.

    Returns:
        Bytes.

    Raises:
        SelectionError: It is none.
    """
    plain = text.rstrip("bB")
    number, unit = plain.rstrip("kKmMgG"), plain.lstrip("0123456789")
    try:
        return int(number) * _UNITS[unit.lower()]
    except (ValueError, KeyError):
        raise SelectionError(
            f"{option}={text}: expected a number with k, M or G"
        ) from None
