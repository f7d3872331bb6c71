"""Calls one by one, selected with the verbs of selections of event records."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..._typing import NamedTuple, Protocol
from ...errors import MissingExtraError
from ...units import Nanoseconds
from ..ended_calls import CallColumns, take_calls
from ..function_choice import FunctionChoice
from ..functions import Function
from ..threads import Thread
from .intervals import EARLIEST, LATEST, Intervals, Row

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from ... import core
    from ...notebook import Picture

__all__ = ["Call", "CallInside", "CallRange", "CallSelection", "CallSource", "rows_of"]

_SHOWN = 50
"""Calls in notebooks: no more are read."""
_SHOWN_INSIDE = 10
"""Calls in a call, likewise."""
_INCOMPLETE = 1 | 2 | 8
"""Flags of a call that the range cuts, without an exit, or across a loss."""


class CallSource(Protocol):
    """Where calls come from: what is in one is read from there."""

    def about(self, thread: Thread) -> Callable[[core.Event], bool]:
        """Return what tells whether an event record is about a thread.

        Args:
            thread: The thread.
        """

    def calls_between(self, begin: int, end: int, thread: Thread) -> CallSelection:
        """Select the calls of a thread in a range of time.

        Args:
            begin: First time, nanoseconds.
            end: Last time, nanoseconds.
            thread: The thread.
        """

    def events_between(self, begin: int, end: int) -> Iterator[core.Event]:
        """Iterate over the event records in a range of time.

        Args:
            begin: First time, nanoseconds.
            end: Last time, nanoseconds.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of a function."""

    function: Function
    """The function."""
    begin: Nanoseconds
    """When it was entered, nanoseconds; at the earliest where the range begins."""
    duration: int
    """How long it took, nanoseconds; what is in the range, if it is cut."""
    self_time: int
    """Its time without the calls that it made, nanoseconds."""
    depth: int
    """How many calls of its thread were around it."""
    caller: Function | None
    """The function that called it; ``None`` if there is none, or it is not known."""
    thread: Thread
    """The thread."""
    is_complete: bool
    """Whether entry and exit are in the range, and nothing was lost in between."""
    source: CallSource = field(repr=False, compare=False)
    """Where it was read."""

    @property
    def end(self) -> Nanoseconds:
        """When it was left, nanoseconds; at the latest where the range ends."""
        return Nanoseconds(self.begin + self.duration)

    def inside(self) -> CallInside:
        """Return what happened in it: why did this one take so long?

        Example:
            >>> slow = trace.calls("handle").longest(1)[0]
            >>> for call in slow.inside().calls.longest(5):
            ...     print(call.function.name, call.duration)
        """
        return CallInside(self)

    def _repr_html_(self) -> str:
        """Show it in a notebook, with the longest calls that it made."""
        from ...notebook import facts_html, rows_html, time_text  # noqa: PLC0415 - for notebooks only

        facts = facts_html(
            self.function.name,
            [
                ("duration", time_text(self.duration)),
                ("self", time_text(self.self_time)),
                ("begin ns", self.begin),
                ("thread", self.thread),
                ("caller", self.caller.name if self.caller else ""),
                ("place", self.function.source or ""),
                ("complete", "yes" if self.is_complete else "no"),
            ],
        )
        longest = self.inside().calls.longest(_SHOWN_INSIDE)
        rows = [
            (one.function.name, time_text(one.duration), one.begin - self.begin)
            for one in longest
        ]
        head = ("function", "duration", "begins after ns")
        return facts + rows_html("The longest calls in it", head, rows)


class CallInside:
    """What a thread did during a call.

    Args:
        call: The call.
    """

    def __init__(self, call: Call) -> None:
        self._call = call

    def __repr__(self) -> str:
        """Say of which call it is."""
        call = self._call
        where = f"{call.function.name} at {call.begin} ns, {call.duration} ns"
        return f"<CallInside of {where}>"

    @property
    def calls(self) -> CallSelection:
        """The calls that it made, and those that these made."""
        call = self._call
        selection = call.source.calls_between(call.begin, call.end, call.thread)
        return selection.below(call.depth)

    def events(self) -> Iterator[core.Event]:
        """Iterate over the other event records of its thread.

        Those of the kernel of its machine are among them, where it was recorded: its
        system calls, and when it was stopped, woken and let go on.
        """
        from ...debuginfo import (  # noqa: PLC0415 - few need it
            CALL_ENTRY_EVENTS,
            CALL_EXIT_EVENTS,
        )

        call = self._call
        ends = {*CALL_ENTRY_EVENTS, *CALL_EXIT_EVENTS}
        takes = call.source.about(call.thread)
        for event in call.source.events_between(call.begin, call.end):
            if event.name not in ends and takes(event):
                yield event

    def _repr_html_(self) -> str:
        """Show the first of them in a notebook, calls and events."""
        from ...notebook import rows_html  # noqa: PLC0415 - for notebooks only

        call, first = self._call, [*islice(self.events(), _SHOWN + 1)]
        rows = [
            (one.name, one.timestamp, (one.timestamp or call.begin) - call.begin)
            for one in first[:_SHOWN]
        ]
        title = "Events" if len(first) == len(rows) else f"The first {_SHOWN} events"
        head = ("event", "timestamp ns", "after ns")
        return self.calls._repr_html_() + rows_html(title, head, rows)


class CallRange(NamedTuple):
    """Which calls are wanted."""

    patterns: tuple[str, ...] = ()
    """Patterns of functions, of which one is to match; all without one."""
    threads: tuple[int, ...] | None = None
    """Indexes of rows; all by default."""
    longer_than: int = 0
    """How long they take at least, nanoseconds."""
    begin: int = EARLIEST
    """First time, nanoseconds."""
    end: int = LATEST
    """Last time, nanoseconds."""
    below: int = -1
    """How many calls of the thread are around those around it, at least."""


class CallSelection:
    """Calls of a trace, in the order in which they ended.

    Each iteration reads what it needs of the trace again.

    Args:
        source: Where they come from.
        intervals: The intervals of the trace.
        wanted: Which calls are wanted.
        picture: Draws the page of the trace for notebooks.
    """

    def __init__(
        self,
        source: CallSource,
        intervals: Intervals,
        wanted: CallRange,
        picture: Picture | None = None,
    ) -> None:
        self._source = source
        self._intervals = intervals
        self._wanted = wanted
        self._picture = picture

    def below(self, depth: int) -> CallSelection:
        """Select those that have more calls around them than a depth says.

        Args:
            depth: The depth.
        """
        wanted = self._wanted._replace(below=depth)
        return CallSelection(self._source, self._intervals, wanted)

    def __iter__(self) -> Iterator[Call]:
        """Iterate over the calls."""
        functions = self._intervals.functions
        threads = [row.thread for row in self._intervals.rows]
        for columns in self._columns():
            for row, depth, flags, number, begin, duration, own, caller, _ in zip(
                *columns, strict=True
            ):
                if depth > self._wanted.below:
                    yield Call(
                        function=functions[number],
                        begin=Nanoseconds(begin),
                        duration=duration,
                        self_time=own,
                        depth=depth,
                        caller=_function(functions, caller),
                        thread=threads[row],
                        is_complete=not flags & _INCOMPLETE,
                        source=self._source,
                    )

    def _columns(self) -> Iterator[CallColumns]:
        """Read the calls as columns, a part of the trace at a time."""
        wanted = self._wanted
        fold, begin = self._intervals.fold(wanted.begin, wanted.end)
        fold.keep_calls(self._functions(), wanted.threads, wanted.longer_than)
        for _ in self._intervals.read(fold, begin, wanted.end):
            yield take_calls(fold)
        yield take_calls(fold)

    def _functions(self) -> list[int] | None:
        """Return the numbers of the functions that are wanted."""
        if not self._wanted.patterns:
            return None
        choice = FunctionChoice(self._wanted.patterns, ())
        functions = enumerate(self._intervals.functions)
        return [number for number, one in functions if choice.takes(one)]

    def count(self) -> int:
        """Return the number of calls: another name of ``len()``."""
        return len(self)

    def __len__(self) -> int:
        """Return the number of calls; the trace is read for it."""
        below = self._wanted.below
        if below < 0:
            return sum(len(columns.row) for columns in self._columns())
        return sum(
            sum(depth > below for depth in columns.depth) for columns in self._columns()
        )

    def longest(self, count: int = 10) -> list[Call]:
        """Return the longest calls, the longest first; of equal ones the earliest.

        Args:
            count: How many.
        """
        return heapq.nsmallest(
            count, self, key=lambda call: (-call.duration, call.begin)
        )

    def to_arrow(self) -> Any:
        """Return the calls as a ``pyarrow.RecordBatchReader``, for any library.

        The columns are ``function``, ``begin`` and ``end`` (nanoseconds), ``duration``
        and ``self_time`` (nanoseconds), ``depth``, ``caller``, ``pid``, ``tid``,
        ``process`` (its name) and ``is_complete``. Calls are read when they are asked
        for.

        Raises:
            MissingExtraError: pyarrow is not installed; the extra ``arrow`` brings it.
        """
        try:
            from .call_columns import reader  # noqa: PLC0415 - few need it
        except ModuleNotFoundError as error:
            raise MissingExtraError("pyarrow", "arrow") from error
        below = self._wanted.below
        return reader(self._intervals, self._columns(), below)

    def to_polars(self) -> pl.DataFrame:
        """Return a Polars data frame of the columns of :meth:`to_arrow`.

        Raises:
            MissingExtraError: Polars or pyarrow is not installed.
        """
        try:
            import polars as pl  # noqa: PLC0415 - optional
        except ModuleNotFoundError as error:
            raise MissingExtraError("polars", "polars") from error
        frame = pl.from_arrow(self.to_arrow().read_all())
        assert isinstance(frame, pl.DataFrame)  # noqa: S101 - of a table, never a series
        return frame

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas data frame of the columns of :meth:`to_arrow`.

        Raises:
            MissingExtraError: pandas or pyarrow is not installed.
        """
        return self.to_arrow().read_pandas()

    def __repr__(self) -> str:
        """Show what is selected."""
        words = " or ".join(map(repr, self._wanted.patterns)) or "all functions"
        return f"<CallSelection of {self._source}: {words}>"

    def _repr_html_(self) -> str:
        """Show the first of them in a notebook."""
        from ...notebook import rows_html, time_text, with_picture  # noqa: PLC0415 - for notebooks only

        first = [*islice(self, _SHOWN + 1)]
        rows = [
            (
                one.function.name,
                time_text(one.duration),
                time_text(one.self_time),
                one.begin,
                one.thread,
                one.caller.name if one.caller else "",
                "yes" if one.is_complete else "no",
            )
            for one in first[:_SHOWN]
        ]
        title = "Calls" if len(first) == len(rows) else f"The first {_SHOWN} calls"
        head = ("function", "duration", "self", "begin ns", "thread", "caller")
        table = rows_html(title, (*head, "complete"), rows)
        return with_picture(table, self._picture)


def rows_of(
    rows: Sequence[Row], process: int | None, tid: int | None
) -> tuple[int, ...]:
    """Return the indexes of the rows of a thread.

    Args:
        rows: The rows.
        process: Process ID; any if ``None``.
        tid: Thread ID.
    """
    return tuple(
        index
        for index, row in enumerate(rows)
        if row.tid == tid and process in {None, row.process.pid}
    )


def _function(functions: Sequence[Function], number: int) -> Function | None:
    return functions[number] if number < len(functions) else None
