"""Sizes and times as options have them."""

from __future__ import annotations

from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LARGEST", "read_size", "read_time", "round_sizes"]

_SIZES = {"k": 10, "K": 10, "M": 20, "G": 30}
_TIMES = {"us": 1, "ms": 1000, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6}
_DIGITS = "0123456789abcdef"
_SUBBUF_SIZES: dict[object, int] = {"pid": 16384, "global": 1 << 20}
"""Of channels of which no other size was said, by buffering scheme."""
LARGEST = (1 << 64) - 1
"""Of all numbers that LTTng takes."""


def read_size(text: str) -> int | None:
    """Return bytes; ``None`` if it is no size.

    Args:
        text: A number, with ``k``, ``M`` or ``G`` of 1024 after it; ``0x`` and ``0``
            begin one with base 16 and 8.
    """
    shift = _SIZES.get(text[-1:], 0)
    number = _read_number(text[:-1] if shift else text)
    return None if number is None or number << shift > LARGEST else number << shift


def read_time(text: str) -> int | None:
    """Return microseconds; ``None`` if it is no time.

    Args:
        text: A decimal number, with ``us``, ``ms``, ``s``, ``m`` or ``h`` after it.
    """
    digits = text.rstrip("hmsu")
    factor = _TIMES.get(text[len(digits) :] or "us")
    if factor is None or not (digits.isascii() and digits.isdigit()):
        return None
    number = int(digits) * factor
    return number if number <= LARGEST else None


def _read_number(text: str) -> int | None:
    digits, base = text, 10
    if text[:2] in {"0x", "0X"}:
        digits, base = text[2:], 16
    elif text.startswith("0") and text != "0":
        digits, base = text[1:], 8
    # Python would also take white space, underscores and other prefixes.
    is_number = {*digits.lower()} <= {*_DIGITS[:base]}
    return int(digits, base) if digits and is_number else None


def round_sizes(attributes: dict[str, object]) -> Iterator[tuple[str, int, int]]:
    """Round sizes and numbers of a channel up to what there can be.

    Args:
        attributes: Of the channel, by name; some of them are replaced.

    Yields:
        The name of each that was replaced, what was given, and what it is now.
    """
    for name in ("subbuf_size", "num_subbuf"):
        number = attributes.get(name)
        if isinstance(number, int) and number > 0:
            attributes[name] = rounded = 1 << (number - 1).bit_length()
            if rounded != number:
                yield name, number, rounded
    size = attributes.get("tracefile_size")
    by_default = _SUBBUF_SIZES.get(attributes.get("buffers"), 524288)
    least = attributes.get("subbuf_size", by_default)
    if isinstance(size, int) and isinstance(least, int) and 0 < size < least:
        attributes["tracefile_size"] = least
        yield "tracefile_size", size, least
