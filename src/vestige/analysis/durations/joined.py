"""Durations of several functions, spans or pairs as those of one."""

from __future__ import annotations

from collections.abc import Sequence

from ..._typing import TYPE_CHECKING
from .durations import Durations

if TYPE_CHECKING:
    from typing import Any

__all__ = ["joined_durations"]

_LONGEST = 10
"""How many of the longest are kept at least, if there are so many."""


def joined_durations(durations: Sequence[Durations[Any]]) -> Durations[Any]:
    """Put durations together.

    Args:
        durations: Those of several functions, spans or pairs.

    Returns:
        All of them, with the longest of all.
    """
    if len(durations) == 1:
        return durations[0]
    buckets: dict[int, int] = {}
    for one in durations:
        for bucket, count in one.buckets.items():
            buckets[bucket] = buckets.get(bucket, 0) + count
    shortest = [time for one in durations if (time := one.quantile(0)) is not None]
    longest = [time for one in durations if (time := one.quantile(1)) is not None]
    most = max((len(one.longest) for one in durations), default=0)
    every = [long for one in durations for long in one.longest]
    every.sort(key=lambda long: (-long.duration, long.begin))
    return Durations(
        buckets,
        min(shortest, default=0),
        max(longest, default=0),
        every[: max(most, _LONGEST)],
    )
