"""Functions of several processes as one, and the order of what is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..durations.joined import joined_durations
from .activity import Activity

__all__ = ["joined_functions", "sorted_activities"]


def joined_functions(functions: Iterable[Activity]) -> Iterator[Activity]:
    """Put together what is the same function in several processes.

    Args:
        functions: The coroutines of each process.

    Yields:
        Those of functions that are known, of all processes.
    """
    known: dict[tuple[str, str | None], Activity] = {}
    for one in functions:
        if one.function is None:
            continue
        one.name = one.function.name
        key = (one.name, one.function.source)
        first = known.setdefault(key, one)
        if first is not one:
            _merge(first, one)
    yield from known.values()


def _merge(first: Activity, other: Activity) -> None:
    first.calls += other.calls
    first.resumes += other.resumes
    first.unended += other.unended
    first.uncertain += other.uncertain
    if first.durations is not None and other.durations is not None:
        first.durations = joined_durations([first.durations, other.durations])
        first.durations_total += other.durations_total
    for mine, theirs in (
        (first.elapsed, other.elapsed),
        (first.running, other.running),
    ):
        mine.count += theirs.count
        mine.total += theirs.total
        ends = [mine.shortest, theirs.shortest, mine.longest, theirs.longest]
        times = [time for time in ends if time is not None]
        mine.shortest, mine.longest = min(times, default=None), max(times, default=None)


def sorted_activities(activities: Iterable[Activity]) -> list[Activity]:
    """Return activities, those that took longest first.

    Args:
        activities: The activities.
    """
    return sorted(activities, key=lambda one: (-one.elapsed.total, one.name))
