"""The event records of a range as rows of a table: all but entries and exits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from glob import escape
from itertools import islice
from typing import Any

from ..analysis.intervals import Intervals
from ..core import Event
from ..debuginfo import CALL_ENTRY_EVENTS, CALL_EXIT_EVENTS
from ..graph import Selection, Stream, merges
from ..plain_text import plain
from .field_texts import FieldTexts

__all__ = ["EventRows"]

_LONGEST_TEXT = 400
"""Characters of the fields of an event record."""
_RECORDS_OF_PART = 30_000
"""To begin to read somewhere takes about as long as to read so many event records."""
_ENDS = frozenset({*CALL_ENTRY_EVENTS, *CALL_EXIT_EVENTS})

_Origin = tuple[str, int | None, int | None, str | None]
"""Name of the trace, process ID, thread ID, and name of the data stream."""


class EventRows:
    """Reads event records that are neither entries nor exits of functions.

    Args:
        streams: The data streams.
        intervals: The timeline: its rows, when it begins, and when there are such
            event records.
    """

    def __init__(self, streams: Iterable[Stream], intervals: Intervals) -> None:
        self._streams = [*streams]
        self._intervals = intervals
        self._origin = intervals.begin
        self._records = sum(row.events for row in intervals.rows)
        self._fields = FieldTexts(_LONGEST_TEXT)
        self._names = sorted(
            {name for stream in self._streams for name in _names_of(stream)}
        )
        self._rows: dict[_Origin, int] = {}
        for number, row in enumerate(intervals.rows):
            # Of the two rows of a thread that of its other event records comes last.
            name = row.name if row.tid is None else None
            self._rows[row.process.trace, row.process.pid, row.tid, name] = number

    def between(self, begin: int, end: int, limit: int) -> dict[str, Any]:
        """Return the event records of a range.

        Args:
            begin: First time, nanoseconds since the first event record.
            end: Last time, likewise.
            limit: How many at most.

        Returns:
            ``events`` as time, number of the row, name and fields; and whether there
            are ``more``.
        """
        found = [*islice(self._events(begin, end), limit + 1)]
        return {
            "events": [self._row_of(one) for one in found[:limit]],
            "more": len(found) > limit,
            "leftOut": 0,
        }

    def _events(self, begin: int, end: int) -> Iterator[Event]:
        if not self._names:
            return
        patterns = (tuple(escape(name) for name in self._names),)
        for first, last in self._parts(begin, end):
            wanted = Selection(
                begin=self._origin + first, end=self._origin + last, patterns=patterns
            )
            # Damage was told when the trace was opened.
            for merge in merges(self._streams, wanted, tell=lambda _: None):
                yield from merge.events()

    def _parts(self, begin: int, end: int) -> list[tuple[int, int]]:
        """Return what is read of a range: all of it where that takes no longer."""
        parts = self._intervals.other_spans(begin, end)
        whole = max(self._intervals.end - self._origin, 1)
        share = min((end - begin + 1) / whole, 1)
        if len(parts) * _RECORDS_OF_PART > self._records * share:
            return [(begin, end)]
        return parts

    def _row_of(self, event: Event) -> list[Any]:
        known = (self._rows.get(origin) for origin in _origins(event))
        row = next((number for number in known if number is not None), None)
        # What is selected by time has one.
        since = (event.timestamp or 0) - self._origin
        name = plain(event.name or "")[:_LONGEST_TEXT]
        return [since, row, name, self._fields.of(event)]


def _origins(event: Event) -> Iterator[_Origin]:
    """Return whose row an event record can be on, from the most exact one on.

    A row knows less than an event record does where only calls tell more.
    """
    stream = event.stream
    trace, process, thread = stream.trace.name, event.process, event.thread
    if thread is not None:
        yield trace, process, thread, None
        yield trace, None, thread, None
    yield trace, process, None, stream.name
    yield trace, None, None, stream.name
    yield trace, process, None, None
    yield trace, None, None, None


def _names_of(stream: Stream) -> Iterator[str]:
    left_out = Selection(recorder_events=False).left_out_classes(stream)
    names = stream.event_names
    for name, is_left_out in zip(names, left_out or [False] * len(names), strict=True):
        if name is not None and not is_left_out and name not in _ENDS:
            yield name
