"""What ``vestige top`` shows: tables for people, a line of JSON for programs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from pwd import getpwuid
from typing import Any

from ..._typing import NamedTuple
from ...control.watching import Counts, Look, WatchedRecording, WatchedSession
from ...plain_text import plain

__all__ = ["SORTS", "Row", "Table", "json_line", "look_tables", "summary", "text_lines"]

HEAD = (
    *("SESSION", "CHANNEL", "STATE", "EVENTS", "EVENTS/S", "SIZE", "SIZE/S"),
    *("DISCARDED", "LOST PACKETS", "BUFFERS", "FULLEST"),
)
PROGRAMS_HEAD = ("PID", "USER", "TRACER", "SESSIONS", "PROGRAM")
LEFT = {"SESSION", "CHANNEL", "STATE", "USER", "TRACER", "SESSIONS", "PROGRAM"}
"""Columns of words; those of numbers end at the same place."""
GAP = "  "
KIBI = 1024
UNITS = "KMGTP"
HIGH_FILL = 0.75
"""From which on a buffer is shown as nearly full."""
LONGEST_NAME = 32
"""Characters of the name of a session or a channel."""


class Row(NamedTuple):
    """A line of a table."""

    cells: tuple[str, ...]
    is_warning: bool = False
    """Whether something is lost, or is about to be."""


class Table(NamedTuple):
    """A table."""

    head: tuple[str, ...]
    rows: list[Row]


SORTS: dict[str, Callable[[WatchedSession | WatchedRecording], Any]] = {
    "name": lambda one: one.name,
    "events": lambda one: -(one.counts.events_per_second or 0),
    "size": lambda one: -(one.counts.bytes_per_second or 0),
    "lost": lambda one: -one.counts.discarded_events,
    "buffers": lambda one: -one.counts.fill,
}
"""Orders of sessions and recordings, by the words of ``--sort``."""


def look_tables(look: Look, sort: str = "name") -> list[Table]:
    """Return the tables of sessions with recordings, and of programs.

    Args:
        look: What was seen.
        sort: One of :data:`SORTS`.
    """
    every: list[WatchedSession | WatchedRecording] = [*look.sessions, *look.recordings]
    found = sorted(every, key=SORTS[sort])
    rows = [row for one in found for row in _rows(one)]
    programs = sorted(
        look.programs, key=lambda one: (not _is_recorded(one), one["pid"])
    )
    return [
        Table(HEAD, rows),
        Table(PROGRAMS_HEAD, [Row(_program_cells(one)) for one in programs]),
    ]


def _is_recorded(program: dict[str, Any]) -> bool:
    return bool(program["sessions"] or program["recording"])


def _rows(one: WatchedSession | WatchedRecording) -> Iterator[Row]:
    if isinstance(one, WatchedSession):
        yield from _session_rows(one)
        return
    counts = one.counts
    is_warning = bool(counts.lost_per_second) or counts.fill >= HIGH_FILL
    state = "recording" if one.is_answering else "no answer"
    yield Row((_name(one.name), "-", state, *_cells(counts)), is_warning)


def _session_rows(session: WatchedSession) -> Iterator[Row]:
    state = "active" if session.is_active else "inactive"
    name = _name(session.name)
    if not session.channels:
        yield Row((name, "", state, *_cells(session.counts)))
    for channel in session.channels:
        counts = channel.counts
        is_warning = bool(counts.lost_per_second) or (
            session.is_active and counts.fill >= HIGH_FILL
        )
        own_state = state if channel.is_enabled else "disabled"
        cells = (name, _name(channel.name), own_state, *_cells(counts))
        yield Row(cells, is_warning)


def _name(text: str) -> str:
    text = plain(text)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 3] + "..."


def _cells(counts: Counts) -> tuple[str, ...]:
    is_about = "" if counts.is_exact else "~"
    return (
        "?" if counts.events is None else f"{is_about}{counts.events:,}",
        _rate(counts.events_per_second),
        size_text(counts.bytes),
        "-" if counts.bytes_per_second is None else size_text(counts.bytes_per_second),
        f"{counts.discarded_events:,}",
        f"{counts.lost_packets:,}",
        f"{size_text(counts.buffered)} of {size_text(counts.buffer_size)}",
        f"{counts.fill:.0%}",
    )


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:,.0f}"


def size_text(size: float) -> str:
    """Write a number of bytes in at most six characters.

    Args:
        size: Bytes.
    """
    if size < KIBI:
        return f"{size:.0f}"
    power = 0
    while size >= KIBI - 0.05 and power < len(UNITS):
        size /= KIBI
        power += 1
    return f"{size:.1f}{UNITS[power - 1]}"


def _program_cells(program: dict[str, Any]) -> tuple[str, ...]:
    names = [*program["sessions"]]
    if program["recording"]:
        names.append(Path(program["recording"]).name)
    sessions = ",".join(map(_name, names))
    pid = str(program["pid"]) if program["pid"] else "-"
    return (
        pid,
        _user(program["uid"]),
        program["tracer"],
        sessions or "-",
        plain(program["name"]),
    )


def _user(uid: int) -> str:
    try:
        return plain(getpwuid(uid).pw_name)
    except KeyError:
        return str(uid)


def summary(look: Look) -> str:
    """Return all in one line.

    Args:
        look: What was seen.
    """
    active = sum(one.is_active for one in look.sessions)
    recorded = sum(map(_is_recorded, look.programs))
    all_counts = [one.counts for one in look.sessions]
    all_counts += [one.counts for one in look.recordings]
    events = sum(one.events_per_second or 0 for one in all_counts)
    size = sum(one.bytes_per_second or 0 for one in all_counts)
    lost = sum(one.lost_per_second or 0 for one in all_counts)
    clock = time.strftime("%H:%M:%S", time.localtime(look.time))
    recordings = f"recordings: {len(look.recordings)}; " if look.recordings else ""
    return (
        f"{clock}  sessions: {len(look.sessions)}, {active} active; {recordings}"
        f"programs: {len(look.programs)}, {recorded} recorded; {_rate(events)} "
        f"events/s, {size_text(size)}B/s, {_rate(lost)} discarded/s"
    )


def text_lines(table: Table) -> list[tuple[str, Row | None]]:
    """Lay a table out.

    Args:
        table: The table.

    Returns:
        Its lines, each with its row; ``None`` for the head.
    """
    rows = [table.head, *(one.cells for one in table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_line(cells, table.head, widths) for cells in rows]
    return [*zip(lines, [None, *table.rows], strict=True)]


def _line(cells: Sequence[str], head: Sequence[str], widths: Iterable[int]) -> str:
    padded = (
        cell.ljust(width) if name in LEFT else cell.rjust(width)
        for cell, name, width in zip(cells, head, widths, strict=True)
    )
    return GAP.join(padded).rstrip()


def json_line(look: Look) -> str:
    """Write what was seen as an object of JSON, in one line.

    Args:
        look: What was seen.
    """
    sessions = [
        {
            "name": one.name,
            "uid": one.uid,
            "active": one.is_active,
            "output": one.output,
            **_counts_json(one.counts),
            "channels": [
                {"name": channel.name, "enabled": channel.is_enabled}
                | _counts_json(channel.counts)
                for channel in one.channels
            ],
        }
        for one in look.sessions
    ]
    recordings = [
        {
            "name": one.name,
            "uid": one.uid,
            "pid": one.pid or None,
            "answering": one.is_answering,
            "output": one.output,
            **_counts_json(one.counts),
        }
        for one in look.recordings
    ]
    return json.dumps(
        {
            "time": look.time,
            "seconds": look.seconds,
            "sessions": sessions,
            "recordings": recordings,
            "programs": look.programs,
        }
    )


def _counts_json(counts: Counts) -> dict[str, Any]:
    values = counts._asdict()
    values["events_exact"] = values.pop("is_exact") and counts.events is not None
    return values
