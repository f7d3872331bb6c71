"""Adding up where a span or a coroutine waits, until it ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..._typing import TYPE_CHECKING, NamedTuple
from ...units import Nanoseconds
from ..functions import Function
from ..threads import Thread
from .activity import Activity
from .lives import LongActivity, Wait

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Life", "Place", "WaitSums", "long_activity"]

MOST_WAITS = 5
"""Places where the longest ones waited that are told of each."""


class Place(NamedTuple):
    """Where a coroutine waits: its function, and what that awaits."""

    activity: Activity
    """The coroutine function."""
    inner: Place | None
    """What it awaits; ``None`` where it waits itself."""


class WaitSums(dict[int, "list[Any]"]):
    """What one span or coroutine waited, by place.

    A row has place, count, total, longest, its begin, and how long others ran.

    Keys are identities of places, of which there is one for each path.
    """

    def note(self, place: Place, begin: int, time: int, others: int) -> None:
        """Add a wait.

        Args:
            place: Where.
            begin: When it began, nanoseconds.
            time: How long it was, nanoseconds.
            others: How long its thread ran other coroutines meanwhile, nanoseconds.
        """
        sums = self.get(id(place))
        if sums is None:
            self[id(place)] = [place, 1, time, time, begin, others]
            return
        sums[1] += 1
        sums[2] += time
        sums[5] += others
        if time > sums[3]:
            sums[3:5] = time, begin

    def waits(self) -> list[Wait]:
        """Return the places with most time, when functions have their names."""
        rows = sorted(self.values(), key=lambda sums: (-sums[2], sums[4]))
        found = []
        for place, count, total, longest, begin, others in rows[:MOST_WAITS]:
            wait = Wait(
                path=tuple(_functions(place)),
                count=count,
                total=total,
                longest=longest,
                begin=Nanoseconds(begin),
                others=others,
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


def long_activity(duration: int, life: Life) -> LongActivity:
    """Return one of the longest, when functions have their names.

    Args:
        duration: How long it took, nanoseconds.
        life: What was kept of it.
    """
    return LongActivity(
        begin=Nanoseconds(life.begin),
        duration=duration,
        thread=life.thread,
        running=life.running,
        waits=[] if life.waits is None else life.waits.waits(),
        task=life.task,
        fields=dict(life.fields),
    )
