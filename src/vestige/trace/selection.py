"""Selections of the event records of a trace: :class:`EventSelection`."""

from __future__ import annotations

import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Protocol, Self, Unpack

from ..advice import VestigeWarning, nearest
from ..caller import caller_level
from ..core import EventCounter, EventIterator, Merge
from ..errors import SelectionError
from ..graph import Selection, Stream
from ..notebook import facts_html
from ..units import NANOSECONDS_PER_SECOND
from .column_files import write_file
from .columns import ColumnKeywords, ColumnOptions, EventColumns, column_layout
from .dask_frame import data_frame
from .partitions import latest_beginning, partition_times

if TYPE_CHECKING:
    import dask.dataframe as dd
    import pandas as pd
    import polars as pl

__all__ = ["EventSelection", "Readable", "Time", "time_of"]

SECONDS_PER_DAY = 86_400
MOST_KEPT = 8
"""Merges that are kept between counting and iterating, of up to 4 MiB of records."""
LARGEST_TIME_BITS = 63
"""Bits of a time in nanoseconds without its sign."""
Time = int | datetime | timedelta
"""A time: nanoseconds since the epoch, or a datetime (without a zone: local time).

For clocks that do not count from the epoch, it is the time since their origin:
nanoseconds or a timedelta.
"""


class Readable(Protocol):
    """What a selection needs of the trace that it selects from."""

    @property
    def streams(self) -> Sequence[Stream]:
        """The data streams."""

    @property
    def event_names(self) -> Sequence[str]:
        """The names of all event record classes that the metadata declare."""

    @property
    def debug_info_name(self) -> str | None:
        """Name of the source places among other fields; ``None`` without them."""

    @property
    def added_names(self) -> tuple[str, ...]:
        """Names of the fields that event records have besides those of the trace."""

    def read(self, selection: Selection, *, debug_info: bool = True) -> Iterator[Merge]:
        """Read merges.

        Args:
            selection: Which event records are wanted.
            debug_info: Whether debug information is attached, if the trace has it.
        """


class _Reading:
    """The merges of one iteration; what counting reads before it begins is kept."""

    def __init__(self, merges: Iterator[Merge]) -> None:
        self._merges = merges
        self._kept: list[Merge] = []
        self._has_begun = False
        # One thread may count while another one takes the first event record.
        self._lock = threading.RLock()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Merge:
        with self._lock:
            self._has_begun = True
            return self._kept.pop(0) if self._kept else next(self._merges)

    def close(self) -> None:
        """End the reading."""
        self._has_begun = True
        self._kept.clear()
        close = getattr(self._merges, "close", None)
        if close is not None:
            close()

    def counter(self, again: Callable[[], Iterator[Merge]]) -> EventCounter | None:
        """Count all event records, if few merges hold them; these are kept.

        Args:
            again: Begins the iteration anew when there are more of them.
        """
        with self._lock:
            if self._has_begun:
                return None
            is_whole = False
            try:
                counter = EventCounter()
                for merge in self._merges:
                    counter.add(merge)
                    if len(merge) > 0:
                        self._kept.append(merge)
                    if len(self._kept) > MOST_KEPT:
                        return None
                is_whole = True
            finally:
                # Also after an error, of which the iteration is to tell again.
                if not is_whole:
                    self._kept.clear()
                    self._merges = again()
            return counter


class EventSelection:
    """Event records of a trace, in time order, that can be iterated again and again.

    Each iteration reads the trace again. Records that are not selected are skipped, not
    decoded.
    """

    def __init__(self, trace: Readable, selection: Selection) -> None:
        self._trace = trace
        self._selection = selection
        self._counter: EventCounter | None = None
        self._reading: weakref.ref[_Reading] | None = None

    def __iter__(self) -> EventIterator:
        """Iterate over the event records.

        Several threads may take from one iterator: each event record goes to one of
        them. ``close()`` ends the reading before its end.

        Returns:
            The event records. Their fields are decoded when they are asked for.
        """
        reading = _Reading(self.merges())
        # A list asks for the length between this and the first event record.
        self._reading = weakref.ref(reading)
        return EventIterator(reading)

    def merges(self) -> Iterator[Merge]:
        """Iterate over parts of the merged order, tens of thousands of records each.

        Yields:
            The merges, with debug information attached when the trace has it.
        """
        return self._trace.read(self._selection)

    def count(self) -> int:
        """Return the number of event records: another name of ``len()``."""
        return len(self)

    def __len__(self) -> int:
        """Return the number of event records.

        The first of ``len()``, :meth:`counts` and :attr:`time_span` reads the selection
        once, without decoding payloads; the answers are kept. An iterator that is there
        and has not begun goes on with what was read, if that is not much: so a list of
        a few event records reads the trace once.
        """
        return sum(self._counted().counts.values())

    def __bool__(self) -> bool:
        """Return whether there is any event record; reads no further than the first."""
        if self._counter is not None:
            return len(self) > 0
        return any(len(merge) > 0 for merge in self._undecorated(self._selection))

    def counts(self) -> dict[str | None, int]:
        """Return the number of event records by name, for the names that occur."""
        return self._counted().counts

    @property
    def time_span(self) -> tuple[int, int] | None:
        """Time of the first and of the last event record, nanoseconds.

        ``None`` when no event record has a time. Where packets tell their times, only
        those at both ends are read.
        """
        if self._counter is None:
            first, last = self._first_counts(), self._last_counts()
            if first.time_span is not None and last.time_span is not None:
                return first.time_span[0], last.time_span[1]
        return self._counted().time_span

    def _counted(self) -> EventCounter:
        if self._counter is None:
            reading = None if self._reading is None else self._reading()
            counter = None if reading is None else reading.counter(self.merges)
            if counter is None:
                counter = EventCounter()
                for merge in self._undecorated(self._selection):
                    counter.add(merge)
            self._counter = counter
        return self._counter

    def _first_counts(self) -> EventCounter:
        """Count the beginning of the selection, up to an event record with a time."""
        counter = EventCounter()
        for merge in self._undecorated(self._selection):
            counter.add(merge)
            if counter.time_span is not None:
                break
        return counter

    def _last_counts(self) -> EventCounter:
        """Count what begins with the last packet."""
        counter = EventCounter()
        begin = latest_beginning(self._trace.streams, self._selection)
        if begin is not None:
            for merge in self._undecorated(self._selection._replace(begin=begin)):
                counter.add(merge)
        return counter

    def _undecorated(self, selection: Selection) -> Iterator[Merge]:
        """Read without debug information, which changes neither numbers nor times."""
        return self._trace.read(selection, debug_info=False)

    def partitions(self, count: int) -> list[EventSelection]:
        """Cut the selection into parts that can be read apart, also by other processes.

        The parts follow each other in time and are together exactly the selection. Each
        can be pickled: it opens the trace again where it is unpickled. The cuts are at
        beginnings of packets, so that a part reads few packets that it does not need.

        Args:
            count: How many parts are wanted, of about the same size.

        Returns:
            At most so many selections; fewer when there are not enough packets.

        Raises:
            SelectionError: Less than one part is wanted.
        """
        if count < 1:
            raise SelectionError(f"{count} parts: expected at least one")
        times = partition_times(self._trace.streams, self._selection, count)
        return [
            EventSelection(self._trace, self._selection._replace(begin=begin, end=end))
            for begin, end in times
        ]

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle what opens the trace and selects the same event records again."""
        return EventSelection, (self._trace, self._selection)

    def to_polars(
        self,
        columns: Sequence[str] | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> pl.DataFrame:
        """Return a Polars data frame; the arguments are those of :meth:`to_arrow`.

        Raises:
            MissingExtraError: Polars is not installed; the extra ``polars`` brings it.
        """
        return self.to_arrow(columns, **options).to_polars()

    def to_pandas(
        self,
        columns: Sequence[str] | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> pd.DataFrame:
        """Return a pandas data frame; the arguments are those of :meth:`to_arrow`.

        Raises:
            MissingExtraError: pandas or pyarrow is not installed; the extra ``pandas``
                brings both.
        """
        return self.to_arrow(columns, **options).to_pandas()

    def to_parquet(
        self,
        path: str | os.PathLike[str],
        columns: Sequence[str] | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> int:
        """Write a Parquet file; columns and options are those of :meth:`to_arrow`.

        Args:
            path: The file; it appears when it is complete.
            columns: Names of the wanted columns.
            options: Other options.

        Returns:
            The number of rows.

        Raises:
            MissingExtraError: pyarrow is not installed; the extra ``arrow`` brings it.
            OSError: The file cannot be written.
        """
        return write_file(self, os.fspath(path), "parquet", columns=columns, **options)

    def to_csv(
        self,
        path: str | os.PathLike[str] | None = None,
        columns: Sequence[str] | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> int:
        """Write CSV; columns and options are those of :meth:`to_arrow`.

        Args:
            path: The file; standard output by default.
            columns: Names of the wanted columns.
            options: Other options.

        Returns:
            The number of rows.

        Raises:
            OSError: The file cannot be written.
        """
        return write_file(self, path, "csv", columns=columns, **options)

    def to_jsonl(
        self,
        path: str | os.PathLike[str] | None = None,
        columns: Sequence[str] | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> int:
        """Write JSON Lines; columns and options are those of :meth:`to_arrow`.

        Args:
            path: The file; standard output by default.
            columns: Names of the wanted columns.
            options: Other options.

        Returns:
            The number of rows.

        Raises:
            OSError: The file cannot be written.
        """
        return write_file(self, path, "jsonl", columns=columns, **options)

    def to_dask(
        self,
        columns: Sequence[str] | None = None,
        *,
        npartitions: int | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> dd.DataFrame:
        """Return a Dask data frame, whose partitions are parts in time.

        To know which objects were mapped, each worker reads the trace from its
        beginning: open it with ``debug_info=False`` if you need no source places.

        Args:
            columns: Names of the wanted columns.
            npartitions: How many partitions are wanted; one for each CPU by default.
            options: Other options.

        Raises:
            MissingExtraError: Dask is not installed; the extra ``dask`` brings it.
            SelectionError: A wanted column does not exist.
        """
        return data_frame(self, columns, npartitions=npartitions, **options)

    def to_arrow(
        self,
        columns: Sequence[str] | None = None,
        **options: Unpack[ColumnKeywords],
    ) -> EventColumns:
        """Return the event records as columns, for any library that reads Arrow.

        Nothing is read until another library asks for it, and then only what the
        wanted columns need is decoded.

        Args:
            columns: Names of the wanted columns in order; all of them by default.
            options: The other fields of :class:`~vestige.columns.ColumnOptions`.

        Returns:
            An object of the Arrow PyCapsule interface.

        Raises:
            SelectionError: A wanted column does not exist, or an option is unknown.

        Example:
            >>> table = pyarrow.table(trace.events("shop:*").to_arrow())
        """
        if isinstance(columns, str):
            raise SelectionError(
                f"columns={columns!r}: expected a list of names, not one name"
            )
        chosen = None if columns is None else tuple(columns)
        wanted = ColumnOptions(columns=chosen, **options)
        layout = column_layout(
            self._trace.streams,
            self._selection,
            wanted,
            debug_info=self._trace.debug_info_name,
        )
        return EventColumns(layout, self.merges)

    def events(
        self,
        *patterns: str | None,
        begin: Time | None = None,
        end: Time | None = None,
        where: str | None = None,
    ) -> EventSelection:
        """Select among these event records.

        A pattern that no event of the trace can match is told with a
        :class:`~vestige.VestigeWarning`, which names those that are nearest.

        Args:
            patterns: Shell patterns of event names, such as ``sched_*``; one of them is
                to match. All events without one.
            begin: Earliest time.
            end: Latest time; included.
            where: An expression that is true of the event records, in the language in
                which ``vestige record --filter`` chooses what is recorded, such as
                ``"status >= 500 && $ctx.vtid == 7"``. It is evaluated without Python,
                before a record becomes an event. Source places are a context, too:
                ``"$ctx.debug_info.func == 'open*'"``, with ``bin``, ``func`` and
                ``src``.

        Returns:
            The selection: what is in this one and matches all that is stated.

        Raises:
            SelectionError: A pattern is no text; or a time is neither an integer nor
                a datetime, or does not fit 64 bits; or the expression is none, or
                names what no event of the patterns has.

        Example:
            >>> refused = trace.events("shop:order_refused", "pricing:*")
            >>> for event in trace.events("shop:*", where="price > 9 && item == 'g*'"):
            ...     print(event.timestamp, event["item"])
        """
        given = tuple(one for one in patterns if one is not None)
        for pattern in given:
            if not isinstance(pattern, str):
                raise SelectionError(
                    f"{pattern!r} is no pattern: expected text such as 'sched_*'"
                )
        narrowed = self._selection.narrowed(given, time_of(begin), time_of(end))
        self._warn_of_unknown(given)
        if where is not None:
            if not isinstance(where, str):
                raise SelectionError(
                    f"{where!r} is no expression: expected text such as 'size > 100'"
                )
            narrowed = narrowed.filtered(
                where, self._trace.streams, self._trace.added_names
            )
        return EventSelection(self._trace, narrowed)

    def _warn_of_unknown(self, patterns: Sequence[str]) -> None:
        """Tell of each pattern that matches no event that there can be."""
        if not patterns:
            return
        known = [
            name for name in self._trace.event_names if self._selection.takes(name)
        ]
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in known):
                warnings.warn(
                    f"no event matches '{pattern}'; there {nearest(pattern, known)}",
                    VestigeWarning,
                    stacklevel=caller_level(),
                )

    def __repr__(self) -> str:
        """Show the trace, and what of it is selected."""
        return f"<EventSelection of {self._trace}: {self._selected()}>"

    def _repr_html_(self) -> str:
        """Show the same in a notebook."""
        rows = [("trace", self._trace), ("selected", self._selected())]
        return facts_html("EventSelection", rows)

    def _selected(self) -> str:
        """Say in a few words which event records these are."""
        words = [
            " or ".join(f"'{one}'" for one in _alternatives(patterns))
            for patterns in self._selection.patterns
        ]
        text = "events " + " and ".join(words) if words else "all events"
        if self._selection.begin is not None:
            text += f" from {self._selection.begin} ns"
        if self._selection.end is not None:
            text += f" until {self._selection.end} ns"
        for expression in (*self._selection.filters, *self._selection.late_filters):
            text += f" where {expression}"
        return text

    def __getitem__(self, times: slice) -> EventSelection:
        """Select a range of times, ``selection[begin:end]``, end not included.

        Args:
            times: A slice of integers (nanoseconds since the epoch) or datetimes.

        Returns:
            The selection.

        Raises:
            SelectionError: Anything but a slice of times without a step.
        """
        if not isinstance(times, slice) or times.step is not None:
            raise SelectionError("expected a range of times, such as events[begin:end]")
        end = time_of(times.stop)
        last = None if end is None else max(end - 1, -(2**LARGEST_TIME_BITS))
        return self.events(begin=times.start, end=last)


def _alternatives(patterns: str | tuple[str, ...]) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else patterns


def time_of(value: Time | None) -> int | None:
    """Return a time in nanoseconds.

    Args:
        value: The time; ``None`` stays what it is.

    Raises:
        SelectionError: It is no time, or does not fit 64 bits.
    """
    if value is None:
        return None
    if isinstance(value, int):
        return _checked(value)
    if isinstance(value, timedelta):
        seconds = value.days * SECONDS_PER_DAY + value.seconds
        below = value.microseconds * 1000 + getattr(value, "nanoseconds", 0)
        return _checked(seconds * NANOSECONDS_PER_SECOND + below)
    if not isinstance(value, datetime):
        raise SelectionError(
            f"{value!r} is not a time: expected nanoseconds since the epoch "
            "or a datetime"
        )
    # A float cannot hold nanoseconds: keep seconds and what is below them apart. Time
    # stamps of pandas are datetimes that know nanoseconds, too.
    day = (value.year, value.month, value.day)
    clock = (value.hour, value.minute, value.second)
    whole = datetime(*day, *clock, tzinfo=value.tzinfo, fold=value.fold)
    nanoseconds = value.microsecond * 1000 + getattr(value, "nanosecond", 0)
    return _checked(int(whole.timestamp()) * NANOSECONDS_PER_SECOND + nanoseconds)


def _checked(nanoseconds: int) -> int:
    if not -(2**LARGEST_TIME_BITS) <= nanoseconds < 2**LARGEST_TIME_BITS:
        raise SelectionError(
            f"the time {nanoseconds} ns does not fit the 64 bits of a time"
        )
    return nanoseconds
