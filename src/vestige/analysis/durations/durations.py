"""The durations of the complete calls of a function: :class:`Durations`.

They are counted in buckets, of which each power of two has 32. So memory does not grow
with the number of calls, and a quantile is never further from the true one than 1.6 %.
Calls of which entry or exit was not seen, calls across a loss, and calls that the range
of time cuts have a time that is not theirs: they are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..._typing import TYPE_CHECKING
from ...errors import SelectionError
from ...units import Nanoseconds
from ..functions import Function
from ..threads import Thread

__all__ = ["DurationBucket", "Durations", "LongCall", "bucket_of"]

if TYPE_CHECKING:
    from typing import Generic, Protocol, TypeVar

    from ...notebook import Picture

    class Long(Protocol):
        """What all of the longest have."""

        @property
        def begin(self) -> int:
            """When it began, nanoseconds."""

        @property
        def duration(self) -> int:
            """How long it took, nanoseconds."""

        @property
        def thread(self) -> Thread:
            """Its thread."""

    _Long = TypeVar("_Long", bound=Long)
else:
    # The import of typing takes longer than a small trace.
    class Generic:
        """The base of classes that say what they are about."""

        def __class_getitem__(cls, _: object) -> type:
            """Return the class."""
            return cls

    _Long = None
"""What is kept of the longest: of calls a :class:`LongCall`."""

SUB_BUCKETS = 32
"""Buckets of a power of two, as ``vestige_ctf::intervals::histogram`` has them."""

_SHOWN = {
    "shortest": 0.0,
    "50 %": 0.5,
    "90 %": 0.9,
    "99 %": 0.99,
    "99.9 %": 0.999,
    "longest": 1.0,
}
"""Quantiles in notebooks."""


@dataclass(frozen=True, slots=True)
class DurationBucket:
    """How many calls took so long."""

    begin: int
    """The shortest duration in it, nanoseconds."""
    end: int
    """The shortest duration that is longer, nanoseconds."""
    count: int
    """The number of calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongCall:
    """A call that is among the longest of its function."""

    function: Function
    """The function."""
    begin: Nanoseconds
    """When it was entered, nanoseconds."""
    duration: int
    """How long it took, nanoseconds."""
    thread: Thread
    """The thread."""
    caller: Function | None
    """Who called it; ``None`` at the beginning of a thread, or after a loss."""

    @property
    def end(self) -> Nanoseconds:
        """When it was left, nanoseconds."""
        return Nanoseconds(self.begin + self.duration)


class Durations(Generic[_Long]):
    """How long the complete calls of a function took.

    Args:
        buckets: The number of calls by index of the bucket.
        shortest: The time of the shortest call, nanoseconds.
        longest_duration: That of the longest one.
        longest: The longest calls, the longest first.
    """

    picture: Picture | None = None
    """Draws the page of the trace for notebooks."""

    def __init__(
        self,
        buckets: Mapping[int, int],
        shortest: int,
        longest_duration: int,
        longest: Sequence[_Long] = (),
    ) -> None:
        self._buckets = dict(sorted(buckets.items()))
        self._ends = (shortest, longest_duration)
        self.count = sum(buckets.values())
        """The number of calls."""
        self.longest = list(longest)
        """The longest calls, the longest first; of equal ones the earliest."""

    def quantile(self, q: float) -> int | None:
        """Return how long a call takes that is longer than a part of the others.

        Args:
            q: The part: 0 for the shortest call, 0.5 for the median, 1 for the longest.

        Returns:
            Nanoseconds, at most 1.6 % off, and exact at 0 and 1; ``None`` without
            calls.

        Raises:
            SelectionError: The part is not between 0 and 1.
        """
        if not 0 <= q <= 1:
            raise SelectionError(f"quantile {q}: expected 0 to 1")
        if not self.count:
            return None
        shortest, longest = self._ends
        rank = round(q * (self.count - 1))
        if rank in {0, self.count - 1}:
            return longest if rank else shortest
        for bucket in self.histogram():
            if rank < bucket.count:
                middle = (bucket.begin + bucket.end - 1) // 2
                return min(max(middle, shortest), longest)
            rank -= bucket.count
        return longest

    @property
    def buckets(self) -> Mapping[int, int]:
        """The number of calls by index of the bucket, as the core numbers these."""
        return self._buckets

    def histogram(self) -> list[DurationBucket]:
        """Return the buckets that have any calls, in order.

        Returns:
            Buckets that never overlap, each at most 3.2 % wider than its begin.
        """
        return [
            DurationBucket(*_bounds(index), count)
            for index, count in self._buckets.items()
        ]

    def __repr__(self) -> str:
        """Show how many there are, and some quantiles."""
        if not self.count:
            return "<Durations: 0 calls>"
        middle, most = self.quantile(0.5), self.quantile(0.99)
        return (
            f"<Durations: {self.count} calls, median {middle} ns, 99 % {most} ns, "
            f"longest {self._ends[1]} ns>"
        )

    def _repr_html_(self) -> str:
        """Show in a notebook how long they took, and the longest."""
        from ...notebook import (  # noqa: PLC0415 - for notebooks only
            facts_html,
            rows_html,
            time_text,
            with_picture,
        )

        facts: list[tuple[str, object]] = [("count", f"{self.count:,}")]
        for name, part in _SHOWN.items():
            facts.append((name, time_text(self.quantile(part))))
        rows = [
            (time_text(one.duration), one.begin, one.thread) for one in self.longest
        ]
        head = ("duration", "begin ns", "thread")
        tables = facts_html("Durations", facts) + rows_html("The longest", head, rows)
        return with_picture(tables, self.picture)


def bucket_of(duration: int) -> int:
    """Return the index of the bucket of a duration, as the core numbers these.

    Args:
        duration: Nanoseconds, not negative.
    """
    if duration < SUB_BUCKETS:
        return max(duration, 0)
    power = duration.bit_length() - SUB_BUCKETS.bit_length() + 1
    return power * SUB_BUCKETS + (duration >> (power - 1)) - SUB_BUCKETS


def _bounds(bucket: int) -> tuple[int, int]:
    """Return the first duration of a bucket, and the first one behind it."""
    power, sub = divmod(bucket, SUB_BUCKETS)
    if power == 0:
        return sub, sub + 1
    width = 1 << (power - 1)
    begin = (SUB_BUCKETS + sub) * width
    return begin, begin + width
