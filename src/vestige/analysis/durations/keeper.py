"""Counting durations one by one: buckets, ends, and the longest ones."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush, heappushpop

from ..._typing import TYPE_CHECKING
from .durations import Durations, bucket_of

if TYPE_CHECKING:
    from typing import Any

__all__ = ["DurationKeeper"]


class DurationKeeper:
    """Counts durations in the same memory, whatever their number.

    Args:
        longest: How many of the longest are kept.
    """

    def __init__(self, longest: int) -> None:
        self._most = longest
        self._buckets: dict[int, int] = {}
        self._ends: tuple[int, int] | None = None
        # The shortest of the longest is first; of equal ones the last to begin.
        self._longest: list[tuple[int, int, int, Any]] = []
        self.count = 0
        """How many there are."""
        self.total = 0
        """Their sum, nanoseconds."""

    def add(self, duration: int, begin: int, what: object) -> None:
        """Add one.

        Args:
            duration: How long it took, nanoseconds.
            begin: When it began, nanoseconds.
            what: What is kept of it if it is among the longest.
        """
        bucket = bucket_of(duration)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1
        low, high = self._ends or (duration, duration)
        self._ends = min(low, duration), max(high, duration)
        self.count += 1
        self.total += duration
        row = duration, -begin, -self.count, what
        if len(self._longest) < self._most:
            heappush(self._longest, row)
        else:
            heappushpop(self._longest, row)

    def durations(self, long_of: Callable[[int, Any], Any]) -> Durations[Any]:
        """Return how long they took.

        Args:
            long_of: Makes one of the longest of its duration and of what was kept.
        """
        rows = sorted(self._longest, key=lambda row: row[:3], reverse=True)
        return Durations(
            self._buckets,
            *(self._ends or (0, 0)),
            [long_of(duration, what) for duration, _, _, what in rows],
        )
