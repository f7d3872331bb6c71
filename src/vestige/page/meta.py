"""What the page is told of a trace, but for the blocks of its timeline."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

from .._typing import TYPE_CHECKING
from ..analysis.calls import CallTree
from ..analysis.intervals import Intervals, Row
from ..analysis.threads import Process, Thread
from ..plain_text import plain
from .call_facts import FunctionTable, durations, sums, tree
from .cpus import cpus_of
from .turns import turns_of
from .waits import waits_of

if TYPE_CHECKING:
    from ..analysis.locks import Locks
    from ..analysis.turns import Turns

__all__ = ["meta_of", "order_of"]


def meta_of(  # noqa: PLR0913, PLR0917 - what is shown
    title: str,
    intervals: Intervals,
    calls: CallTree | None,
    levels: Sequence[int],
    table: FunctionTable | None = None,
    locks: Locks | None = None,
    turns: Turns | None = None,
) -> dict[str, Any]:
    """Return what the page begins with, as JSON has it.

    Times are nanoseconds since the first event record, but ``begin``, which is that one
    since the epoch, as text: it is more than the numbers of JavaScript hold.

    Args:
        title: What the trace is called.
        intervals: Rows, functions and losses.
        calls: The call tree, with durations where these are to be shown; ``None`` as
            long as it is not read.
        levels: How long a call is at least that is shown by itself, nanoseconds, for
            each level that the page can ask for; the finest first.
        table: Numbers the functions, which begins with those of the intervals.
        locks: What is known of mutexes, if they are to be shown.
        turns: What kernels tell of threads, likewise.
    """
    table = table or FunctionTable(intervals.functions)
    has_sums = calls is not None
    calls = calls or CallTree()
    begin = intervals.begin
    processes = _processes(intervals.rows)
    functions = calls.functions()
    rows = {
        row.thread: number
        for number, row in reversed([*enumerate(intervals.rows)])
        if row.kind == "calls"
    }
    return {
        "title": plain(title),
        "facts": _facts(intervals),
        "trouble": _trouble(intervals),
        "begin": str(begin),
        "span": max(intervals.end - begin, 1),
        "processes": [{"pid": one.pid, "name": _name(one)} for one in processes],
        "rows": _rows(intervals.rows, processes, cpus_of(intervals)),
        "order": order_of(intervals.rows),
        "levels": [{"width": width} for width in levels],
        "losses": _losses(intervals),
        "waits": waits_of(locks, intervals.rows, begin),
        "turns": turns_of(turns, intervals.rows, begin),
        "tree": tree(calls.root(), table) if has_sums else None,
        "sums": sums(functions, table),
        "durations": durations(functions, table, rows, begin),
        "functions": table.facts(),  # after all that numbers them
    }


def order_of(rows: Sequence[Row]) -> list[int]:
    """Return the numbers of rows as the page shows them, from top to bottom.

    Args:
        rows: The rows.
    """
    first: dict[Process, int] = {}
    for row in rows:
        first[row.process] = min(row.begin, first.get(row.process, row.begin))

    def place(number: int) -> tuple[Any, ...]:
        row = rows[number]
        process = row.process
        is_main = row.tid is not None and row.tid == process.pid
        thread = (not is_main, row.tid is None, row.tid or 0)
        return (first[process], process.pid or 0, thread, row.kind != "calls", number)

    return sorted(range(len(rows)), key=place)


def _processes(rows: Sequence[Row]) -> list[Process]:
    return list(dict.fromkeys(row.process for row in rows))


def _name(process: Process) -> str:
    return plain(process.name or process.trace or "process")


def _rows(
    rows: Sequence[Row], processes: Sequence[Process], cpus: Mapping[int, str]
) -> list[dict[str, Any]]:
    callers = {row.thread for row in rows if row.kind == "calls"}
    return [
        {
            "process": processes.index(row.process),
            "tid": row.tid,
            "name": cpus.get(number) or _row_name(row, callers),
            "thread": cpus.get(number) or _row_name(row, ()),
            "kind": row.kind,
            "depths": row.depth,
            "events": row.events,
            "calls": row.calls,
        }
        for number, row in enumerate(rows)
    ]


def _row_name(row: Row, callers: Container[Thread]) -> str:
    if row.kind == "events" and row.thread in callers:
        return "other events"
    if row.name:
        return plain(row.name)
    is_main = row.tid is not None and row.tid == row.process.pid
    return "main thread" if is_main else "thread"


def _losses(intervals: Intervals) -> list[dict[str, Any]]:
    begin, span = intervals.begin, intervals.end - intervals.begin
    return [
        {
            "row": loss.row,
            "begin": 0 if loss.begin is None else max(loss.begin - begin, 0),
            "end": span if loss.end is None else min(loss.end - begin, span),
            "count": loss.count,
            "kind": loss.kind,
        }
        for loss in intervals.losses
    ]


def _facts(intervals: Intervals) -> str:
    """Return a sentence on what there is."""
    events = sum(row.events for row in intervals.rows)
    words = (
        _counted(events, "event record"),
        "of",
        _counted(len(intervals.threads()), "thread"),
    )
    trouble = _trouble(intervals)
    return " ".join(words) + (f"; {trouble}." if trouble else ".")


def _trouble(intervals: Intervals) -> str:
    """Return what is not there; empty text if all is."""
    words = []
    lost = sum(one.count or 0 for one in intervals.losses if one.kind == "events")
    if lost:
        words.append(f"{_counted(lost, 'event')} lost")
    if intervals.damage:
        words.append(f"{_counted(len(intervals.damage), 'place')} unreadable")
    return ", ".join(words)


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
