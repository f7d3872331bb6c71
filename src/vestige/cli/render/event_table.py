"""The table of events of ``vestige report``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from ..._typing import TYPE_CHECKING
from ...plain_text import plain
from ...units import NANOSECONDS_PER_SECOND
from .call_style import LEAST_NAME, SHOW_ALL, CallStyle, bold, cut, duration
from .debuginfo import count
from .pair_table import origin_facts, pair_facts, pair_lines, pair_notes

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.events import (
        EventKind,
        EventTable,
        Origin,
        OriginEvents,
        PairTimes,
    )

__all__ = [
    "clock_time",
    "count_from",
    "event_lines",
    "events_facts",
    "events_table",
    "first_lines",
    "origin_title",
    "recorder_note",
]

HEAD = ("events", "share", "rate", "first", "last", "threads")
LESS_IMPORTANT = (3, 4, 2)
"""Columns that go on a narrow terminal, in this order."""
GAP = "  "
UNNAMED = "(no name)"
_LEAST_EPOCH_SECONDS = 1_000_000_000
"""A time from 2001 on, which no machine has been running for."""


def event_lines(
    table: EventTable, style: CallStyle, notes: Sequence[str] = ()
) -> Iterator[str]:
    """Write the table for people.

    Args:
        table: The events.
        style: What is shown.
        notes: What else is said.

    Yields:
        The lines.
    """
    yield from _head_lines(table)
    if table.events:
        if style.by_thread:
            pairs = _by_origin(table)
            several = len({one.origin.trace for one in table.origins}) > 1
            for one in table.origins:
                yield ""
                title = origin_title(one.origin, one.name, with_trace=several)
                yield bold(f"{title}: {count(one.events, 'event')}", style)
                yield from _table_lines(one.kinds, table, style, of=one.events)
                if one.origin in pairs:
                    own = pairs[one.origin]
                    yield from pair_lines(own, style, begin=count_from(table))
        else:
            yield ""
            yield from _table_lines(table.kinds, table, style)
        if table.pairs and not style.by_thread:
            yield ""
            yield from pair_lines(table.pairs, style, begin=count_from(table))
    notes = [*_notes(table), *pair_notes(table.pairs), *notes]
    if notes:
        yield ""
    yield from notes


def origin_title(origin: Origin, name: str | None, *, with_trace: bool) -> str:
    """Return what a thread is called; where it is unknown, its CPU or data stream.

    Args:
        origin: The thread.
        name: The name of its process, where it is known.
        with_trace: Whether to name its trace.
    """
    if origin.thread is not None:
        title = f"thread {origin.thread}"
        title += "" if origin.process is None else f" of process {origin.process}"
    elif origin.cpu is not None:
        title = f"CPU {origin.cpu}"
        title += "" if origin.process is None else f", process {origin.process}"
    else:
        title = f"data stream {plain(origin.stream or '')}"
        title += "" if origin.process is None else f" of process {origin.process}"
    title += f" ({plain(name)})" if name else ""
    return title + (f" of {plain(origin.trace)}" if origin.trace and with_trace else "")


def _by_origin(table: EventTable) -> dict[Origin | None, list[PairTimes]]:
    found: dict[Origin | None, list[PairTimes]] = {}
    for pair in table.pairs_of_threads or ():
        found.setdefault(pair.origin, []).append(pair)
    return found


def _makers(origins: Iterable[OriginEvents]) -> str:
    """Return what makes events here, in one word."""
    for one in origins:
        if one.origin.thread is None:
            return "CPU" if one.origin.cpu is not None else "stream"
        return "thread"
    return "thread"


def _head_lines(table: EventTable) -> Iterator[str]:
    if not table.events:
        yield "no events"
        return
    begin, end = table.begin, table.end
    maker = _makers(table.origins)
    maker = "data stream" if maker == "stream" else maker
    line = (
        f"{count(table.events, 'event')} of {count(len(table.kinds), 'name')} "
        f"{'on' if maker == 'CPU' else 'in'} {count(len(table.origins), maker)}"
    )
    if begin is None or end is None:
        yield line
        return
    yield f"{line}, over {duration(end - begin)}"
    yield from first_lines(table)


def first_lines(table: EventTable) -> Iterator[str]:
    """Say when the first event was, and from when on times count.

    Args:
        table: The events.

    Yields:
        A line, or two.
    """
    is_absolute = table.has_absolute_times
    yield f"the first at {clock_time(table.begin or 0, is_absolute=is_absolute)}"
    if table.origin not in {None, table.begin}:
        begin = clock_time(table.origin or 0, is_absolute=is_absolute)
        yield f"times count from {begin}, when the trace begins"


def count_from(table: EventTable) -> int | None:
    """Return from when on times count, as ``+`` of options does.

    Args:
        table: The events.
    """
    return table.begin if table.origin is None else table.origin


def clock_time(time: int, *, is_absolute: bool) -> str:
    """Write a time with all digits: of day where it counts from the epoch.

    Args:
        time: Nanoseconds.
        is_absolute: Whether it is told that it counts from the Unix epoch.
    """
    seconds, part = divmod(time, NANOSECONDS_PER_SECOND)
    # Clocks that do not say what they count from are taken for the time of day where
    # lines of text are made; what is near zero is none.
    if is_absolute or seconds >= _LEAST_EPOCH_SECONDS:
        try:
            local = datetime.fromtimestamp(seconds, UTC).astimezone()
        except (OverflowError, ValueError, OSError):
            pass
        else:
            return f"{local:%Y-%m-%d %H:%M:%S}.{part:09d}"
    return f"{seconds}.{part:09d} s"


def _table_lines(
    kinds: Sequence[EventKind],
    table: EventTable,
    style: CallStyle,
    *,
    of: int | None = None,
) -> Iterator[str]:
    if style.sort == "name":
        kinds = sorted(kinds, key=lambda kind: kind.name or "")
    shown = kinds[: style.limit] if style.limit else kinds
    rows = [_cells(kind, table, of or table.events) for kind in shown]
    heads = (*HEAD[:-1], f"{_makers(table.origins)}s")
    columns = [0, 1, 2, 3, 4] if style.by_thread else [0, 1, 2, 3, 4, 5]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for index in LESS_IMPORTANT:
        used = sum(widths[column] + len(GAP) for column in columns)
        if style.width - used >= LEAST_NAME:
            break
        columns.remove(index)
    room = style.width - sum(widths[column] + len(GAP) for column in columns)
    room = max(room, LEAST_NAME)
    names = [plain(kind.name) if kind.name is not None else UNNAMED for kind in shown]
    for cells, name in ((heads, "event"), *zip(rows, names, strict=True)):
        text = cut(name, room)
        if cells is not heads:
            text = bold(text, style)
        numbers = [cells[column].rjust(widths[column]) for column in columns]
        yield GAP.join([*numbers, text])
    if len(shown) < len(kinds):
        yield f"and {count(len(kinds) - len(shown), 'name')} more: {SHOW_ALL}"


def _cells(kind: EventKind, table: EventTable, whole: int) -> tuple[str, ...]:
    begin = count_from(table) or 0
    rate = _rate(kind, table)
    return (
        f"{kind.events:,}",
        f"{100 * kind.events / whole:.1f} %",
        "-" if rate is None else _rate_text(rate),
        "-" if kind.first is None else f"+{duration(kind.first - begin)}",
        "-" if kind.last is None else f"+{duration(kind.last - begin)}",
        f"{kind.origins:,}",
    )


def _rate(kind: EventKind, table: EventTable) -> float | None:
    """Return the events a second, over the time of the whole table."""
    if table.begin is None or table.end is None or table.end == table.begin:
        return None
    return kind.events * NANOSECONDS_PER_SECOND / (table.end - table.begin)


def _rate_text(rate: float) -> str:
    digits = 0 if rate >= 100 else 1 if rate >= 10 else 2  # noqa: PLR2004 - three digits
    return f"{rate:,.{digits}f}/s"


def recorder_note(table: EventTable) -> Iterator[str]:
    """Say which events are not counted.

    Args:
        table: The events.

    Yields:
        A line, if there are any.
    """
    if table.recorder_events:
        number = count(table.recorder_events, "event")
        yield f"{number} of the recorder itself left out; --all counts them"


def _notes(table: EventTable) -> Iterator[str]:
    yield from recorder_note(table)
    if table.lost:
        yield f"{count(table.lost, 'event')} lost by the tracer"
    if table.left_out:
        yield f"{count(table.left_out, 'event')} of too many threads are in no thread"


def events_facts(table: EventTable, style: CallStyle) -> dict[str, Any]:
    """Return the table as JSON has it.

    Args:
        table: The events.
        style: What is shown.
    """
    return {
        "version": 1,
        "report": "events",
        "events": table.events,
        "origin_ns": table.origin,
        "begin_ns": table.begin,
        "end_ns": table.end,
        "lost_events": table.lost,
        "losses": len(table.losses),
        "left_out": table.left_out,
        "recorder_events": table.recorder_events,
        "names": [
            _kind_facts(kind, table, table.events)
            for kind in _limited(table.kinds, style)
        ],
        "pairs": [pair_facts(one, style) for one in table.pairs],
        "threads": _origins_facts(table, style),
        "damage": [found._asdict() for found in table.damage],
    }


def _limited(kinds: Sequence[EventKind], style: CallStyle) -> Sequence[EventKind]:
    return kinds[: style.limit] if style.limit else kinds


def _kind_facts(kind: EventKind, table: EventTable, whole: int) -> dict[str, Any]:
    return {
        "event": kind.name,
        "events": kind.events,
        "share": kind.events / whole,
        "rate_hz": _rate(kind, table),
        "first_ns": kind.first,
        "last_ns": kind.last,
        "threads": kind.origins,
    }


def _origins_facts(table: EventTable, style: CallStyle) -> list[dict[str, Any]]:
    pairs = _by_origin(table)
    return [
        _origin_facts(one, table, style, pairs.get(one.origin, ()))
        for one in table.origins
    ]


def _origin_facts(
    one: OriginEvents,
    table: EventTable,
    style: CallStyle,
    pairs: Sequence[PairTimes],
) -> dict[str, Any]:
    facts: dict[str, Any] = {
        **origin_facts(one.origin),
        "name": one.name,
        "events": one.events,
    }
    if style.by_thread:
        kinds = _limited(one.kinds, style)
        facts["pairs"] = [pair_facts(pair, style) for pair in pairs]
        facts["names"] = [_kind_facts(kind, table, one.events) for kind in kinds]
    return facts


def events_table(
    table: EventTable, style: CallStyle
) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
    """Return columns and rows: a row for each name, or for each name and thread.

    Args:
        table: The events.
        style: What is shown.
    """
    columns = ("event", "events", "share", "rate_hz", "first_ns", "last_ns", "threads")
    if not style.by_thread:
        facts = events_facts(table, style)["names"]
        return columns, [[one[name] for name in columns] for one in facts]
    own = ("trace", "vpid", "vtid", "cpu", "stream", "name")
    rows = [
        [*(one[name] for name in own), *(kind[name] for name in columns[:-1])]
        for one in events_facts(table, style)["threads"]
        for kind in one["names"]
    ]
    return (*own, *columns[:-1]), rows
