"""What the page is told of calls: functions, sums, durations, the call tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..analysis.call_nodes import CallNode, FunctionCalls
from ..analysis.functions import Function
from ..analysis.threads import Thread
from ..plain_text import plain

__all__ = ["QUANTILES", "FunctionTable", "durations", "sums", "tree"]

QUANTILES = (0.5, 0.9, 0.99, 0.999, 1.0)
MOST_NODES = 20_000
"""Nodes of the tree that the page gets: those with most time."""
MOST_HISTOGRAMS = 500
"""Functions of which it gets the durations: those with most time."""
_LONGEST_NAME = 2_000
"""Characters of a name; templates can make far longer ones."""


class FunctionTable:
    """Numbers functions for the page.

    Args:
        functions: Those that have numbers already, in their order.
    """

    def __init__(self, functions: Iterable[Function] = ()) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self.functions: list[Function] = []
        for function in functions:
            self.functions.append(function)
            self._numbers.setdefault(_identity(function), len(self.functions) - 1)

    def number(self, function: Function) -> int:
        """Return the number of a function, which it gets if it has none."""
        key = _identity(function)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.functions)
            self.functions.append(function)
        return number

    def facts(self) -> list[dict[str, Any]]:
        """Return name, object and source of each function, by number."""
        return [
            {
                "name": plain(one.name)[:_LONGEST_NAME],
                "object": _text(one.object),
                "source": _text(one.source),
            }
            for one in self.functions
        ]


def _identity(function: Function) -> tuple[object, ...]:
    # Those of an index and those of a call tree are different objects.
    return function.name, function.object, function.source, function.address


def _text(value: str | None) -> str | None:
    return None if value is None else plain(value)[:_LONGEST_NAME]


def sums(rows: Iterable[FunctionCalls], table: FunctionTable) -> dict[int, Any]:
    """Return what the calls of each function add up to, by its number.

    Args:
        rows: The functions.
        table: Numbers them.
    """
    return {
        table.number(row.function): {
            "calls": row.calls,
            "complete": row.complete,
            "duration": row.total,
            "self": row.self_time,
            "mean": row.mean,
        }
        for row in rows
    }


def durations(
    rows: Sequence[FunctionCalls],
    table: FunctionTable,
    threads: Mapping[Thread, int],
    begin: int,
) -> dict[int, Any]:
    """Return histogram, quantiles and longest calls of functions, by their numbers.

    Args:
        rows: The functions, those with most time first.
        table: Numbers them.
        threads: The row of each thread in the page.
        begin: When the trace begins, nanoseconds.
    """
    found: dict[int, Any] = {}
    for row in rows[:MOST_HISTOGRAMS]:
        told = row.durations
        if told is None or not told.count:
            continue
        found[table.number(row.function)] = {
            "buckets": [[one.begin, one.end, one.count] for one in told.histogram()],
            "quantiles": [[part, told.quantile(part)] for part in QUANTILES],
            "longest": [
                [threads.get(call.thread), call.begin - begin, call.duration]
                for call in told.longest
            ],
        }
    return found


def tree(root: CallNode, table: FunctionTable) -> dict[str, Any]:
    """Return a call tree as columns, callers before their callees.

    It may be deeper than nested lists can be.

    Args:
        root: Its root.
        table: Numbers the functions.

    Returns:
        ``rows``: of each node the index of its caller (-1: none), the number of its
        function, its calls, the complete ones, its time and its own time; and how many
        nodes are ``leftOut``: those with least time.
    """
    times = sorted((node.duration for _, node in root.walk()), reverse=True)[1:]
    least = times[MOST_NODES - 1] if len(times) > MOST_NODES else -1
    room = sum(time == least for time in times[:MOST_NODES])
    rows: list[list[int]] = []
    waiting = [(node, -1) for node in reversed(root.by_time())]
    while waiting:
        node, caller = waiting.pop()
        if node.duration <= least:
            if node.duration < least or not room:
                continue
            room -= 1
        here = len(rows)
        number = table.number(node.function)
        counts = (node.calls, node.complete, node.duration, node.self_time)
        rows.append([caller, number, *counts])
        waiting.extend((callee, here) for callee in reversed(node.by_time()))
    return {"rows": rows, "leftOut": len(times) - len(rows)}
