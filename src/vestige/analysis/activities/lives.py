"""How long spans and coroutines took, and for what the longest ones waited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import heappush, heappushpop

from ..._typing import TYPE_CHECKING, NamedTuple
from ...units import Nanoseconds
from ..durations import Durations
from ..durations.durations import bucket_of
from ..functions import Function
from ..threads import Thread

if TYPE_CHECKING:
    from typing import Any

    from .activity import Activity

__all__ = ["Life", "Lives", "LongActivity", "Place", "Wait", "WaitSums"]

MOST_WAITS = 5
"""Places where the longest ones waited that are told of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """All that one span or coroutine waited in one place."""

    path: tuple[Function, ...]
    """The coroutine functions that awaited each other there, the outermost first: that
    of the coroutine itself, or the one in which the span began."""
    count: int
    """How often it waited there."""
    total: int
    """How long, nanoseconds."""
    longest: int
    """The longest time, nanoseconds."""
    begin: Nanoseconds
    """When the longest one began, nanoseconds."""

    @property
    def name(self) -> str:
        """What was awaited, such as ``render > sleep``; itself if nothing is known."""
        awaited = self.path[1:] or self.path
        return " > ".join(one.name for one in awaited)


@dataclass(frozen=True, slots=True, kw_only=True)
class LongActivity:
    """A span, or a call of a coroutine, that is among the longest."""

    begin: Nanoseconds
    """When it began, nanoseconds."""
    duration: int
    """How long it took, waits included, nanoseconds."""
    thread: Thread
    """The thread in which it began."""
    running: int | None
    """How long it ran, nanoseconds; ``None`` where nobody knows whether it waited."""
    waits: list[Wait]
    """Where it waited, the place with most time first; the first few."""
    task: str | None
    """Name of the asyncio task of a span; ``None`` for coroutines, and without one."""
    fields: dict[str, Any]
    """What the program told of a span when it began."""

    @property
    def end(self) -> Nanoseconds:
        """When it ended, nanoseconds."""
        return Nanoseconds(self.begin + self.duration)


class Place(NamedTuple):
    """Where a coroutine waits: its function, and what that awaits."""

    activity: Activity
    """The coroutine function."""
    inner: Place | None
    """What it awaits; ``None`` where it waits itself."""


class WaitSums(dict[int, "list[Any]"]):
    """What one span or coroutine waited, by place: place, count, total, longest, begin.

    Keys are identities of places, of which there is one for each path.
    """

    def note(self, place: Place, begin: int, time: int) -> None:
        """Add a wait.

        Args:
            place: Where.
            begin: When it began, nanoseconds.
            time: How long it was, nanoseconds.
        """
        sums = self.get(id(place))
        if sums is None:
            self[id(place)] = [place, 1, time, time, begin]
            return
        sums[1] += 1
        sums[2] += time
        if time > sums[3]:
            sums[3:] = time, begin

    def waits(self) -> list[Wait]:
        """Return the places with most time, when functions have their names."""
        rows = sorted(self.values(), key=lambda sums: (-sums[2], sums[4]))
        found = []
        for place, count, total, longest, begin in rows[:MOST_WAITS]:
            wait = Wait(
                path=tuple(_functions(place)),
                count=count,
                total=total,
                longest=longest,
                begin=Nanoseconds(begin),
            )
            found.append(wait)
        return found


def _functions(place: Place | None) -> Iterable[Function]:
    while place is not None:
        if place.activity.function is not None:
            yield place.activity.function
        place = place.inner


class Life(NamedTuple):
    """What is kept of one of the longest."""

    begin: int
    """When it began, nanoseconds."""
    running: int | None
    """How long it ran, nanoseconds, where that is known."""
    waits: WaitSums | None
    """Where it waited; ``None`` where nobody knows."""
    thread: Thread
    """Its thread."""
    task: str | None
    """Its task."""
    fields: Mapping[str, Any]
    """What the program told of it."""


class Lives:
    """How long those of one name took, in the same memory whatever their number.

    Args:
        longest: How many of the longest are kept.
    """

    def __init__(self, longest: int) -> None:
        self._most = longest
        self._buckets: dict[int, int] = {}
        self._ends: tuple[int, int] | None = None
        # The shortest of the longest is first; of equal ones the last to begin.
        self._longest: list[tuple[int, int, int, Life]] = []
        self._added = 0
        self.total = 0
        """The sum of their times, nanoseconds."""

    def add(self, duration: int, life: Life) -> None:
        """Add one that has ended.

        Args:
            duration: How long it took, nanoseconds.
            life: What may be kept of it.
        """
        bucket = bucket_of(duration)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1
        low, high = self._ends or (duration, duration)
        self._ends = min(low, duration), max(high, duration)
        self._added += 1
        self.total += duration
        row = duration, -life.begin, -self._added, life
        if len(self._longest) < self._most:
            heappush(self._longest, row)
        else:
            heappushpop(self._longest, row)

    def durations(self) -> Durations[LongActivity]:
        """Return how long they took, when functions have their names."""
        rows = sorted(self._longest, key=lambda row: row[:3], reverse=True)
        return Durations(
            self._buckets,
            *(self._ends or (0, 0)),
            [_long(duration, life) for duration, _, _, life in rows],
        )


def _long(duration: int, life: Life) -> LongActivity:
    return LongActivity(
        begin=Nanoseconds(life.begin),
        duration=duration,
        thread=life.thread,
        running=life.running,
        waits=[] if life.waits is None else life.waits.waits(),
        task=life.task,
        fields=dict(life.fields),
    )
