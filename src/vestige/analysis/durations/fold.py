"""From the core's fold of calls to :class:`Durations` of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ... import core
from ...units import Nanoseconds
from ..functions import Function
from ..threads import Thread
from .durations import Durations, LongCall

__all__ = ["function_durations"]


@dataclass(slots=True)
class _Sums:
    """What is known of a function that the core may have under several numbers."""

    buckets: dict[int, int] = field(default_factory=dict)
    shortest: int | None = None
    longest: int = 0
    most: int = 0
    calls: list[LongCall] = field(default_factory=list)


def function_durations(
    fold: core.CallFold, functions: Sequence[Function], threads: Mapping[int, Thread]
) -> dict[Function, Durations[LongCall]]:
    """Return how long the complete calls of functions took.

    Args:
        fold: A fold that keeps it, and has seen everything.
        functions: The functions, by their numbers in the fold.
        threads: The threads, by the indexes of their roots.
    """
    sums: dict[Function, _Sums] = {}
    paths = _Paths(fold, functions, threads, sums)
    for number, buckets, longest in fold.durations():
        one = sums.setdefault(functions[number], _Sums())
        for bucket, count in buckets:
            one.buckets[bucket] = one.buckets.get(bucket, 0) + count
        one.most = max(one.most, len(longest))
        one.calls += [
            paths.call(functions[number], duration, begin, node)
            for duration, begin, node in longest
        ]
    return {
        function: Durations(
            one.buckets,
            one.shortest or 0,
            one.longest,
            sorted(one.calls, key=_by_duration)[: one.most],
        )
        for function, one in sums.items()
        if one.buckets
    }


def _by_duration(call: LongCall) -> tuple[int, int]:
    return -call.duration, call.begin


class _Paths:
    """Whose calls those of a node are."""

    def __init__(
        self,
        fold: core.CallFold,
        functions: Sequence[Function],
        threads: Mapping[int, Thread],
        sums: dict[Function, _Sums],
    ) -> None:
        self._functions = functions
        self._threads = threads
        self._roots: list[int] = []
        self._callers: list[int] = []
        self._numbers: list[int] = []
        for index, ((parent, number), counts, times) in enumerate(fold.nodes()):
            self._roots.append(index if parent == index else self._roots[parent])
            self._callers.append(parent)
            self._numbers.append(number)
            if counts[1] and number < len(functions):
                one = sums.setdefault(functions[number], _Sums())
                known = times[3] if one.shortest is None else one.shortest
                one.shortest = min(known, times[3])
                one.longest = max(one.longest, times[4])

    def call(
        self, function: Function, duration: int, begin: int, node: int
    ) -> LongCall:
        """Return a call at a node."""
        caller = self._numbers[self._callers[node]]
        is_known = caller < len(self._functions)
        return LongCall(
            function=function,
            begin=Nanoseconds(begin),
            duration=duration,
            thread=self._threads[self._roots[node]],
            caller=self._functions[caller] if is_known else None,
        )
