"""Reading traces from Python: :func:`open`, :class:`Trace`, :class:`EventSelection`."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from pickle import PicklingError
from typing import TYPE_CHECKING, Any, Unpack

from .columns import ColumnKeywords, ColumnOptions, EventColumns, column_layout
from .components.filters.debug_info import DebugInfoFilter, DebugInfoOptions
from .components.sources.ctf_fs import CtfFsSource
from .core import EventCounter, EventRecord, Merge
from .damage import Damage
from .errors import SelectionError, TraceFormatError
from .graph import DamageNotice, LostNotice, Selection, Stream, mux, notices_of
from .partitions import latest_beginning, partition_times
from .units import NANOSECONDS_PER_SECOND

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["EventSelection", "Trace", "TraceDamageWarning", "open"]

SECONDS_PER_DAY = 86_400
LARGEST_TIME_BITS = 63
"""Bits of a time in nanoseconds beside its sign."""
Time = int | datetime | timedelta
"""A time: nanoseconds since the epoch, or a datetime (without a zone: local time).

Of clocks that do not count from the epoch it is a time since their origin: nanoseconds
or a timedelta.
"""


class TraceDamageWarning(UserWarning):
    """A part of a trace could not be read; what is intact was."""


def open(  # noqa: A001, PLR0913 - the name of gzip.open; parameters go by keyword
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    debug_info: bool | DebugInfoOptions = True,
    strict: bool = False,
    clock_offset_seconds: int = 0,
    clock_offset_nanoseconds: int = 0,
    force_epoch_origin: bool = False,
    trace_name: str | None = None,
    stream_intersection: bool = False,
) -> Trace:
    """Open all CTF traces at or below a path, merged by time.

    Only metadata and packet headers are read until events are asked for.

    Args:
        path: A trace directory, a directory above traces, or several of them.
        debug_info: Whether events get their source places, or how to find them.
        strict: Whether damage is an error instead of a :class:`TraceDamageWarning`.
        clock_offset_seconds: Seconds to add to all clocks.
        clock_offset_nanoseconds: Nanoseconds to add to all clocks.
        force_epoch_origin: Whether all clocks count from the Unix epoch, whatever the
            metadata say.
        trace_name: Name of all traces, behind the host name that a trace may have.
        stream_intersection: Whether only the time is wanted in which all data streams
            of a trace are active.

    Returns:
        The trace.

    Raises:
        NotATraceError: A path holds no trace.
        TraceFormatError: The metadata of no trace can be used, or, when strict, those
            of one, or a data stream file cannot be opened. When strict, reading raises
            it at the first damage.
        SelectionError: At no time are all data streams of a trace active, and only
            that time is wanted.

    Example:
        >>> trace = vestige.open("my-trace")
        >>> for event in trace.events("my_app:*"):
        ...     print(event.timestamp, event["user"], event.debug_info)
    """
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    options = DebugInfoOptions() if debug_info is True else debug_info or None
    source = CtfFsSource(
        paths,
        clock_offset_seconds=clock_offset_seconds,
        clock_offset_nanoseconds=clock_offset_nanoseconds,
        force_epoch_origin=force_epoch_origin,
        trace_name=trace_name,
    )
    # What makes the same trace in another process, whatever directory that runs in.
    arguments = {
        "path": [os.path.abspath(part) for part in paths],  # noqa: PTH100 - as it is
        "debug_info": debug_info,
        "strict": strict,
        "clock_offset_seconds": clock_offset_seconds,
        "clock_offset_nanoseconds": clock_offset_nanoseconds,
        "force_epoch_origin": force_epoch_origin,
        "trace_name": trace_name,
        "stream_intersection": stream_intersection,
    }
    return Trace(
        source,
        options,
        strict=strict,
        intersection=stream_intersection,
        arguments=arguments,
    )


class EventSelection:
    """Event records of a trace, in time order, that can be iterated again and again.

    Each iteration reads the trace anew; records that are not selected are stepped over,
    not decoded.
    """

    def __init__(self, trace: Trace, selection: Selection) -> None:
        self._trace = trace
        self._selection = selection
        self._counter: EventCounter | None = None

    def __iter__(self) -> Iterator[EventRecord]:
        """Iterate over the event records.

        Yields:
            The event records. Their fields are decoded when they are asked for.
        """
        return chain.from_iterable(merge.events() for merge in self.merges())

    def merges(self) -> Iterator[Merge]:
        """Iterate over parts of the merged order, some ten thousand records each.

        Yields:
            The merges, with debug information attached when the trace has it.
        """
        return self._trace.read(self._selection)

    def count(self) -> int:
        """Return the number of event records; no payload is turned into values."""
        return sum(len(merge) for merge in self.merges())

    def __len__(self) -> int:
        """Return the number of event records.

        The first of ``len()``, :meth:`counts` and :attr:`time_span` reads the selection
        once, without decoding payloads; the answers are kept.
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
        return _select_again, (self._trace.arguments, self._selection)

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
        pattern: str | None = None,
        *,
        begin: Time | None = None,
        end: Time | None = None,
    ) -> EventSelection:
        """Select among these event records.

        Args:
            pattern: Shell pattern of event names, such as ``sched_*``.
            begin: Earliest time.
            end: Latest time; included.

        Returns:
            The selection: what is in this one and matches all that is stated.

        Raises:
            SelectionError: A time is neither an integer nor a datetime, or does not fit
                64 bits.
        """
        narrowed = self._selection.narrowed(pattern, _time(begin), _time(end))
        return EventSelection(self._trace, narrowed)

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
        end = _time(times.stop)
        last = None if end is None else max(end - 1, -(2**LARGEST_TIME_BITS))
        return self.events(begin=times.start, end=last)


class Trace(EventSelection):
    """All traces below some paths, merged by time.

    Iterating yields all event records. Use :func:`open` to make one.
    """

    def __init__(
        self,
        source: CtfFsSource,
        debug_info: DebugInfoOptions | None,
        *,
        strict: bool,
        intersection: bool = False,
        arguments: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(self, Selection(intersection=intersection))
        self._arguments = arguments
        self._source = source
        self._debug_info = debug_info
        self._strict = strict
        self.damage: list[Damage] = list(source.damage)
        """What cannot be read: files at once, the rest when it is met."""
        self._known_damage = {(one.path, one.start, one.kind) for one in self.damage}
        self.losses: list[LostNotice] = []
        """What the tracer lost, as far as the last iteration saw it."""
        for damage in source.damage:
            self._report(damage)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of :func:`open` that open the same trace again.

        Raises:
            PicklingError: It was not opened with :func:`open`.
        """
        if self._arguments is None:
            raise PicklingError("only a trace from vestige.open() can be pickled")
        return self._arguments

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle what opens the trace again."""
        return _open_again, (self.arguments,)

    @property
    def debug_info_name(self) -> str | None:
        """Name of the source places among other fields; ``None`` without them."""
        return None if self._debug_info is None else self._debug_info.field_name

    @property
    def streams(self) -> Sequence[Stream]:
        """The data streams of all traces."""
        return tuple(self._source.streams)

    @property
    def environment(self) -> dict[str, int | str]:
        """What the tracers say about themselves and the machine."""
        entries: dict[str, int | str] = {}
        for stream in self._source.streams:
            entries.update(stream.trace.parsed.environment)
        return entries

    @property
    def event_names(self) -> list[str]:
        """The names of all event record classes that the metadata declare, sorted."""
        classes = (
            event.name
            for stream in self._source.streams
            for event in stream.stream_class.event_classes
        )
        return sorted({name for name in classes if name is not None})

    def read(self, selection: Selection, *, debug_info: bool = True) -> Iterator[Merge]:
        """Read merges; :meth:`EventSelection.merges` is the friendlier way.

        Args:
            selection: Which event records are wanted.
            debug_info: Whether debug information is attached, if the trace has it.

        Yields:
            The merges.
        """
        if debug_info:
            # Counting reads too, but it is no iteration of the user's.
            self.losses.clear()
        options = self._debug_info if debug_info else None
        component = None if options is None else DebugInfoFilter(options)
        needed = frozenset() if component is None else component.needed_events
        for merge in mux(self._source.streams, selection, needed):
            if component is not None:
                component.process(merge)
            yield merge.shown()
            self._note(merge, losses=debug_info)

    def _note(self, merge: Merge, *, losses: bool) -> None:
        for notice in notices_of(merge):
            if isinstance(notice, DamageNotice):
                self._report(notice.damage)
                self._remember(notice.damage)
            elif losses:
                self.losses.append(notice)

    def _remember(self, damage: Damage) -> None:
        identity = (damage.path, damage.start, damage.kind)
        if identity not in self._known_damage:
            self._known_damage.add(identity)
            self.damage.append(damage)

    def _report(self, damage: Damage) -> None:
        if self._strict:
            raise TraceFormatError.of_damage(damage)
        warnings.warn(str(damage), TraceDamageWarning, stacklevel=_caller_level())

    def __repr__(self) -> str:
        """Show how many data streams there are."""
        return f"<Trace of {len(self._source.streams)} data streams>"


def _caller_level() -> int:
    """Return the ``stacklevel`` at which a warning points at the code of the user."""
    package = os.path.dirname(__file__) + os.sep  # noqa: PTH120 - hot enough
    frame = sys._getframe(1)  # noqa: SLF001 - the one way before Python 3.12
    level = 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
        level += 1
    return level


def _open_again(arguments: dict[str, Any]) -> Trace:
    return open(**arguments)


def _select_again(arguments: dict[str, Any], selection: Selection) -> EventSelection:
    return EventSelection(_open_again(arguments), selection)


def _time(value: Time | None) -> int | None:
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
            f"{value!r} is no time: expected nanoseconds since the epoch or a datetime"
        )
    # A float cannot hold nanoseconds: keep seconds and what is below them apart. Time
    # stamps of pandas are datetimes that know nanoseconds beside.
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
