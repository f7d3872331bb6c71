"""Calls of a trace one by one, and its threads: a part of :class:`vestige.Trace`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..components.filters.debug_info import DebugInfoOptions, finder_for
from ..components.sources.ctf_fs import CtfFsSource
from ..damage import Damage
from ..errors import SelectionError
from ..graph import Stream
from .selection import EventSelection, Time, time_of

if TYPE_CHECKING:
    from .. import core
    from ..analysis import Thread
    from ..analysis.intervals import CallSelection, Intervals, StateRule, States
    from ..analysis.threads import Threads
    from ..analysis.turns import Turns

__all__ = ["CallReading"]

_OPENING = (
    "clock_offset_seconds",
    "clock_offset_nanoseconds",
    "force_epoch_origin",
    "trace_name",
)
"""Arguments of ``vestige.open`` on which an index depends."""


class CallReading(EventSelection):
    """What a trace says of calls as intervals of time."""

    _source: CtfFsSource
    _debug_info: DebugInfoOptions | None
    _arguments: dict[str, Any] | None
    _intervals: Intervals | None = None

    def intervals(
        self,
        *,
        beside: bool = False,
        progress: Callable[[int], object] | None = None,
    ) -> Intervals:
        """Return the calls as a timeline, at several levels of detail.

        All of the trace is read for it once. Then there is an index in the cache
        (``VESTIGE_CACHE_DIR``, else ``~/.cache/vestige``), and what is asked for later
        needs no more than a part of the trace. An index that does not fit the trace any
        more is made again; each may be deleted at any time.

        Args:
            beside: Whether the index is in the directory of the trace instead, as
                ``.vestige-intervals``.
            progress: Called with the number of event records read so far.
        """
        if self._intervals is None or beside:
            from ..analysis.intervals import (  # noqa: PLC0415 - few need it
                BESIDE,
                IndexFile,
                index_key,
                intervals_of,
            )
            from ..debuginfo import Resolver  # noqa: PLC0415 - as above

            options = self._debug_info or DebugInfoOptions()
            finder = finder_for([self._source], options)
            folders = [str(one) for one in self._source.directories]
            arguments = self._arguments or {}
            opening = {
                name: arguments[name] for name in _OPENING if arguments.get(name)
            }
            key = index_key(self._source, options, opening)
            # Of a trace that was made otherwise nobody knows what it depends on.
            place = None if self._arguments is None else IndexFile.in_cache(key)
            if beside and folders:
                place = IndexFile(folders[0], BESIDE, key)
            self._intervals, _ = intervals_of(
                self._source,
                Resolver(finder, demangle=options.demangle),
                place=place,
                progress=progress,
            )
            for damage in self._intervals.damage:
                self._tell_damage(damage)
        return self._intervals

    def _tell_damage(self, damage: Damage) -> None:
        """Tell of damage that was met, as each kind of trace does."""
        raise NotImplementedError

    def _page(self) -> str:
        """Draw the page of the trace for a notebook."""
        raise NotImplementedError

    @property
    def _streams(self) -> Sequence[Stream]:
        return tuple(self._source.streams)

    def threads(self) -> Threads:
        """Return the threads, in the order of their first calls; then those without.

        Example:
            >>> for thread in vestige.open("my-trace").threads():
            ...     print(thread.tid, thread.process.name, thread.events, thread.calls)
        """
        from ..analysis.threads import Threads  # noqa: PLC0415 - few need it

        found = Threads(self.intervals().threads())
        found.picture = self._page
        return found

    def calls(
        self,
        *functions: str,
        thread: int | Thread | None = None,
        longer_than: int = 0,
        begin: Time | None = None,
        end: Time | None = None,
    ) -> CallSelection:
        """Select calls, one by one.

        Args:
            functions: Patterns ``[OBJECT:]NAME`` of functions, of which one is to
                match; all functions without one.
            thread: The thread, or its thread ID; all by default.
            longer_than: How long they take at least, nanoseconds.
            begin: Earliest time. A call that was open before is there with the part
                of it that is in the range, and is not complete.
            end: Latest time, included; likewise.

        Returns:
            The calls, in the order in which they ended.

        Raises:
            SelectionError: A pattern can match no function, or a time is none.

        Example:
            >>> for call in trace.calls("handle", longer_than=10_000_000).longest(5):
            ...     print(call.begin, call.duration, call.thread)
        """
        from ..analysis.function_choice import (  # noqa: PLC0415 - few need it
            FunctionChoice,
        )
        from ..analysis.intervals import (  # noqa: PLC0415 - as above
            CallRange,
            CallSelection,
            rows_of,
        )

        if not isinstance(longer_than, int) or longer_than < 0:
            raise SelectionError(
                f"longer_than={longer_than!r}: expected nanoseconds, at least 0"
            )
        FunctionChoice(functions, ())
        intervals = self.intervals()
        wanted = CallRange(patterns=functions, longer_than=longer_than)
        if thread is not None:
            if isinstance(thread, int):
                rows = rows_of(intervals.rows, None, thread)
            else:
                rows = rows_of(intervals.rows, thread.process.pid, thread.tid)
            wanted = wanted._replace(threads=rows)
        first, last = time_of(begin), time_of(end)
        if first is not None:
            wanted = wanted._replace(begin=first)
        if last is not None:
            wanted = wanted._replace(end=last)
        picture = self._page if wanted == CallRange() else None
        return CallSelection(self, intervals, wanted, picture)

    def states(
        self, rule: StateRule, *, begin: Time | None = None, end: Time | None = None
    ) -> States:
        """Work out states of anything over time: of threads, CPUs, locks.

        Args:
            rule: Takes an event record, and returns what it changes: what it is, and
                its new state (``None``: none any more), or a list of such pairs, or
                ``None`` if it changes nothing.
            begin: Earliest time of event records.
            end: Latest time, included.

        Returns:
            The states in the order in which they ended, then those that did not end.

        Example:
            >>> def running(event):
            ...     if event.name == "sched_switch":
            ...         return ("cpu", event.cpu), event["next_comm"]
            >>> for one in trace.states(running):
            ...     print(one.of, one.state, one.duration)
        """
        from ..analysis.intervals import States  # noqa: PLC0415 - few need it

        picture = self._page if begin is None and end is None else None
        return States(self.events(begin=begin, end=end), rule, picture)

    def turns(self) -> Turns | None:
        """Return when threads ran and what they waited for, as kernels tell it.

        Returns:
            The states of threads; ``None`` where no trace is of a kernel, or none of
            them has ``sched_switch``.

        Example:
            >>> turns = trace.turns()
            >>> for call in trace.calls("handle").longest(5):
            ...     of_thread = turns.of_thread(call.thread)
            ...     print(call, of_thread.shares(call.begin, call.end))
        """
        from ..analysis.turns import read_turns  # noqa: PLC0415 - few need it

        return read_turns(self._streams)

    def calls_between(self, begin: int, end: int, thread: Thread) -> CallSelection:
        """Select the calls of a thread in a range of time.

        Args:
            begin: First time, nanoseconds.
            end: Last time, nanoseconds.
            thread: The thread.
        """
        return self.calls(thread=thread, begin=begin, end=end)

    def about(self, thread: Thread) -> Callable[[core.Event], bool]:
        """Return what tells whether an event record is about a thread.

        Args:
            thread: The thread.
        """
        from ..analysis.turns import is_about  # noqa: PLC0415 - few need it

        return is_about(thread, self._streams)

    def events_between(self, begin: int, end: int) -> Iterator[core.Event]:
        """Iterate over the event records in a range of time.

        Args:
            begin: First time, nanoseconds.
            end: Last time, nanoseconds.
        """
        return iter(self.events(begin=begin, end=end))
