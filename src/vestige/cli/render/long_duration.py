"""Times of minutes, hours and days, as all outputs for people write them."""

from __future__ import annotations

__all__ = ["long_duration"]

_UNITS = (
    (86_400_000_000_000, "days"),
    (3_600_000_000_000, "h"),
    (60_000_000_000, "min"),
)
_LEAST = 2
"""How many of a unit a time has at least; shorter ones are told in the unit below."""


def long_duration(nanoseconds: float) -> str | None:
    """Write a time in the unit that suits it.

    Args:
        nanoseconds: The time.

    Returns:
        The text; ``None`` for less than two minutes, which need more digits.
    """
    for size, unit in _UNITS:
        if nanoseconds >= _LEAST * size:
            return f"{nanoseconds / size:,.1f} {unit}"
    return None
