"""The report of threads: which there are, from when to when, and what they did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..._typing import TYPE_CHECKING
from ...debuginfo import CALL_ENTRY_EVENTS
from ..render.call_style import SHOW_ALL, bold, duration
from ..render.debuginfo import count
from ..render.event_table import (
    count_from,
    first_lines,
    origin_title,
    recorder_note,
)
from ..render.pair_table import origin_facts
from .events import read_events
from .report import Table

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.events import EventTable, OriginEvents
    from ...damage import Damage
    from ..render.call_style import CallStyle
    from .reading import Reading

__all__ = ["ThreadsReport", "make_report"]

HEAD = ("events", "calls", "first", "last", "time")
GAP = "  "


class ThreadsReport:
    """The threads of some traces.

    Args:
        events: Their events.
    """

    def __init__(self, events: EventTable) -> None:
        self.events = events

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be read."""
        return self.events.damage

    def lines(self, style: CallStyle) -> Iterator[str]:
        """Write it for people; see :class:`Report`."""
        origins = _sorted(self.events.origins, style.sort)
        processes = {(one.origin.trace, one.origin.process) for one in origins}
        yield (
            f"{count(len(origins), 'thread')} of {count(len(processes), 'process')}, "
            f"{count(self.events.events, 'event')}"
        )
        begin = count_from(self.events)
        if begin is None or self.events.begin is None:
            return
        yield from first_lines(self.events)
        yield ""
        shown = origins[: style.limit] if style.limit else origins
        rows = [_cells(one, begin) for one in shown]
        widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
        several = len({one.origin.trace for one in origins}) > 1
        titles = [
            origin_title(one.origin, one.name, with_trace=several) for one in shown
        ]
        for cells, title in zip((HEAD, *rows), ("thread", *titles), strict=True):
            numbers = [
                cell.rjust(width) for cell, width in zip(cells, widths, strict=True)
            ]
            text = title if cells is HEAD else bold(title, style)
            yield GAP.join([*numbers, text])
        if len(shown) < len(origins):
            yield f"and {count(len(origins) - len(shown), 'thread')} more: {SHOW_ALL}"
        notes = [*recorder_note(self.events)]
        if self.events.lost:
            notes.append(f"{count(self.events.lost, 'event')} lost by the tracer")
        yield from ["", *notes] if notes else []

    def facts(self, style: CallStyle) -> dict[str, Any]:
        """Return it as JSON has it; see :class:`Report`."""
        origins = _sorted(self.events.origins, style.sort)
        return {
            "version": 1,
            "report": "threads",
            "origin_ns": self.events.origin,
            "begin_ns": self.events.begin,
            "end_ns": self.events.end,
            "lost_events": self.events.lost,
            "recorder_events": self.events.recorder_events,
            "threads": [_facts(one) for one in origins[: style.limit or None]],
            "damage": [found._asdict() for found in self.damage],
        }

    def table(self, style: CallStyle) -> Table:
        """Return the threads; see :class:`Report`."""
        columns = (
            *("trace", "vpid", "vtid", "cpu", "stream", "name"),
            *("events", "calls", "first_ns", "last_ns"),
        )
        rows = self.facts(style)["threads"]
        return Table(columns, [[row[name] for name in columns] for row in rows])


def _sorted(origins: Sequence[OriginEvents], key: str) -> list[OriginEvents]:
    """Sort threads; by begin, those of a process follow each other."""
    if key == "name":
        return sorted(origins, key=lambda one: (one.name or "", _first(one) or 0))
    if key in {"total", "calls"}:
        value = _calls if key == "calls" else _time
        return sorted(origins, key=lambda one: (-value(one), _first(one) or 0))
    order: dict[object, int] = {}
    begins = sorted(origins, key=lambda one: _first(one) or 0)
    for one in begins:
        order.setdefault((one.origin.trace, one.origin.process), len(order))
    return sorted(begins, key=lambda one: order[one.origin.trace, one.origin.process])


def _first(one: OriginEvents) -> int | None:
    times = (kind.first for kind in one.kinds)
    return min((time for time in times if time is not None), default=None)


def _last(one: OriginEvents) -> int | None:
    times = (kind.last for kind in one.kinds)
    return max((time for time in times if time is not None), default=None)


def _time(one: OriginEvents) -> int:
    return (_last(one) or 0) - (_first(one) or 0)


def _calls(one: OriginEvents) -> int:
    return sum(kind.events for kind in one.kinds if kind.name in CALL_ENTRY_EVENTS)


def _cells(one: OriginEvents, begin: int) -> tuple[str, ...]:
    first, last = _first(one), _last(one)
    has_times = first is not None and last is not None
    return (
        f"{one.events:,}",
        f"{_calls(one):,}",
        f"+{duration(first - begin)}" if first is not None else "-",
        f"+{duration(last - begin)}" if last is not None else "-",
        duration(last - first) if has_times else "-",  # type: ignore[operator] # has_times
    )


def _facts(one: OriginEvents) -> dict[str, Any]:
    return {
        **origin_facts(one.origin),
        "name": one.name,
        "events": one.events,
        "calls": _calls(one),
        "first_ns": _first(one),
        "last_ns": _last(one),
    }


def make_report(reading: Reading) -> ThreadsReport:
    """Count the events of each thread.

    Args:
        reading: The traces.

    Raises:
        CommandError: None of the events is of the threads that were asked for.
    """
    events = read_events(reading)
    return ThreadsReport(replace(events, origins=_named(events.origins, reading)))


def _named(origins: Sequence[OriginEvents], reading: Reading) -> list[OriginEvents]:
    """Add names and processes that others tell: kernels do, of all threads."""
    named = []
    for one in origins:
        thread, trace = one.origin.thread, one.origin.trace
        if thread is None or (one.name is not None and one.origin.process is not None):
            named.append(one)
            continue
        known = reading.names.known
        process = one.origin.process
        if process is None:
            process = known.process_of(trace, thread)
        named.append(
            replace(
                one,
                origin=replace(one.origin, process=process),
                name=one.name or known.last(trace, thread),
            )
        )
    return named
