"""Reading traces from Python: :func:`open` and :class:`Trace`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pickle import PicklingError
from typing import TYPE_CHECKING, Any, Literal

from ..advice import VestigeWarning
from ..caller import caller_level
from ..components.filters.debug_info import (
    DebugInfoFilter,
    DebugInfoOptions,
    finder_for,
)
from ..components.filters.events import AddedFieldFilter
from ..components.sources.ctf_fs import CtfFsSource
from ..core import Merge
from ..damage import Damage
from ..errors import TraceFormatError
from ..graph import (
    DamageNotice,
    Filter,
    LostNotice,
    Notice,
    Selection,
    Stream,
    merges,
)
from ..notebook import facts_html
from .abandoned import recover_abandoned
from .call_reading import CallReading
from .selection import Time, time_of

if TYPE_CHECKING:
    from ..analysis import CallTree, Thread
    from ..analysis.durations import Durations
    from ..analysis.locks import Locks
    from ..analysis.memory import Memory
    from ..analysis.stacks import CallStacks
    from ..core import Event
    from ..debuginfo import Place, Resolver, Unresolved
    from .kernel_places import KernelPlaces
    from .timeline import Timeline

__all__ = ["Trace", "TraceDamageWarning", "open"]


class TraceDamageWarning(VestigeWarning):
    """A part of a trace could not be read; everything intact was."""


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
        debug_info: Whether events get their source places, or how to find those.
        strict: Whether damage is an error instead of a :class:`TraceDamageWarning`.
        clock_offset_seconds: Seconds to add to all clocks.
        clock_offset_nanoseconds: Nanoseconds to add to all clocks.
        force_epoch_origin: Whether all clocks count from the Unix epoch, whatever the
            metadata says.
        trace_name: Name of all traces; it follows the host name, if a trace has one.
        stream_intersection: Whether to read only the time in which all data streams of
            a trace are active.

    Returns:
        The trace.

    Raises:
        NotATraceError: A path holds no trace.
        TraceFormatError: No trace has usable metadata. When strict, also if one trace
            has none, or a data stream file cannot be opened; reading then raises it at
            the first damage.
        SelectionError: ``stream_intersection`` is set, and at no time are all data
            streams of a trace active.

    Example:
        >>> trace = vestige.open("my-trace")
        >>> for event in trace.events("my_app:*"):
        ...     print(event.timestamp, event["user"], event.debug_info)
    """
    paths = [path] if isinstance(path, str | bytes | os.PathLike) else list(path)
    paths = [os.fsdecode(part) for part in paths]
    for place, found in recover_abandoned(paths):
        # What was recovered is there; that, only the command line says.
        if isinstance(found, str):
            warnings.warn(
                f"{place}: {found}", VestigeWarning, stacklevel=caller_level()
            )
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


class Trace(CallReading):
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
        self._kernel_places: KernelPlaces | None = None
        self.damage: list[Damage] = list(source.damage)
        """What cannot be read: files at once, the rest when it is met."""
        self._known_damage = {(one.path, one.start, one.kind) for one in self.damage}
        self.losses: list[LostNotice] = []
        """What the tracer lost, as far as the last iteration saw it."""
        self._report_at_once(source.damage)

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
    def added_names(self) -> tuple[str, ...]:
        """Names of the fields that event records have besides those of the trace."""
        name = self.debug_info_name
        return () if name is None else (name,)

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
        late = selection.late_filters
        options = self._debug_info if debug_info or late else None
        filters: list[Filter] = []
        if options is not None:
            filters.append(DebugInfoFilter(options, [self._source]))
            if late:
                filters.append(AddedFieldFilter(late, (options.field_name,)))
        tell = self._note if debug_info else self._note_damage
        for merge in merges(self._source.streams, selection, filters, tell=tell):
            yield merge.shown()

    def call_tree(  # noqa: PLR0913 - each is an answer to a question of its own
        self,
        *,
        min_duration: int = 0,
        begin: Time | None = None,
        end: Time | None = None,
        threads: Sequence[int | Thread] | None = None,
        durations: bool = False,
        longest: int = 10,
        progress: Callable[[int], object] | None = None,
    ) -> CallTree:
        """Rebuild the calls of all threads from entries and exits of functions.

        Args:
            min_duration: Calls shorter than so many nanoseconds are left out; their
                time is that of their callers. The trace is read twice then.
            begin: Earliest time. A call that began before it and is open then counts
                with the time from there on, and as clipped.
            end: Latest time, included. A call that is open then counts with the time
                up to it, and as clipped.
            threads: The threads that are wanted, or their thread IDs; all by default.
            durations: Whether to keep how long complete calls took: quantiles,
                histogram and the longest calls of each function.
            longest: How many calls of each function are kept for that.
            progress: Called with the number of event records read so far.

        Returns:
            Who called whom, how often, and how long it took; what the trace does not
            tell is marked.

        Example:
            >>> for one in vestige.open("my-trace").call_tree().functions():
            ...     print(one.function.name, one.calls, one.total)
        """
        from ..analysis.call_reader import call_tree  # noqa: PLC0415 - few need it

        long_calls = None
        if min_duration:
            from ..components.filters.call_duration import (  # noqa: PLC0415 - few need it
                CallDurationFilter,
            )

            long_calls = CallDurationFilter(
                min_duration, [self._source], progress=progress
            )
        tree = call_tree(
            self,
            self.resolver(),
            selection=self._selection.narrowed((), time_of(begin), time_of(end)),
            call_filter=long_calls,
            longest=longest if durations else None,
            threads=threads,
            progress=progress,
        )
        if not min_duration and begin is None and end is None and threads is None:
            tree.picture = self._picture
        return tree

    def timeline(self) -> Timeline:
        """Return the page of the trace, which notebooks show: a timeline of its calls.

        It is what ``vestige report --to html`` writes, in less than 1 MB: of a large
        trace, the shortest calls are drawn as one.

        Example:
            >>> vestige.open("my-trace").timeline().save("one.html")
        """
        from .timeline import Timeline  # noqa: PLC0415 - few need it

        return Timeline(self, self._title)

    @property
    def _title(self) -> str:
        return ", ".join(root.name for root in self._source.roots)

    def _page(self) -> str:
        """Draw the page of the trace for a notebook."""
        return self.timeline()._repr_html_()

    def _picture(self, tree: CallTree) -> str:
        """Draw a call tree of the whole trace for a notebook."""
        from .timeline import Timeline  # noqa: PLC0415 - few need it

        return Timeline(self, self._title, tree)._repr_html_()

    def durations(
        self,
        name: str | None = None,
        *,
        begin: str | None = None,
        end: str | None = None,
        key: str | None = None,
        within: Literal["thread", "process", "cpu"] | None = None,
    ) -> Durations[Any]:
        """Say how long something took: quantiles, histogram, the longest.

        Of coroutines and spans it is the whole time from the beginning to the end, and
        the longest ones tell what they waited for.

        Args:
            name: Name or pattern of functions, spans or pairs of events, such as
                ``app:request`` for ``app:request_begin`` and ``app:request_end``.
            begin: Instead: name of the event that begins it.
            end: Name of the event that ends it.
            key: The field that has the same value in both, in whatever threads and
                processes they are. Without it, both are of the same thread.
            within: What else must be the same of both: so two threads may count with
                the same numbers.

        Returns:
            The durations of all complete calls or pairs with such a name. Of coroutines
            and spans, ``longest`` are :class:`vestige.analysis.LongActivity`.

        Raises:
            SelectionError: Nothing has such a name, or there is neither a name nor a
                begin and an end.

        Example:
            >>> trace = vestige.open("my-trace")
            >>> trace.durations("parse").quantile(0.99)
            >>> trace.durations(begin="x:start", end="x:done", key="id").longest[0]
            >>> slow = trace.durations("app:request").longest[0]
            >>> print(slow.fields, slow.running, [one.name for one in slow.waits])
        """
        from .durations import Events, durations  # noqa: PLC0415 - few need it

        events = Events(begin, end, key, within)
        found = durations(self, self._selection, name, events)
        found.picture = self._page
        return found

    def locks(self, *, longest: int = 10) -> Locks:
        """Find out who waited for mutexes, how long, and who had them meanwhile.

        Args:
            longest: How many of the longest waits are kept.

        Returns:
            What the events of ``vestige record --pthread``, or of LTTng's wrapper,
            tell.

        Raises:
            SelectionError: The events do not tell their threads.

        Example:
            >>> for one in vestige.open("my-trace").locks().sites:
            ...     print(one.site, one.waited, one.longest_wait)
        """
        from ..analysis.locks import read_locks  # noqa: PLC0415 - few need it

        found = read_locks(
            self._source,
            self._places(),
            selection=self._selection,
            longest=longest,
        )
        return replace(found, picture=self._page)

    def memory(self, *, paths: bool = False) -> Memory:
        """Find out which memory was not freed, and who asked for it.

        Args:
            paths: Whether places are told apart by the calls of functions that led
                there, as far as these were recorded.

        Returns:
            What the events of ``vestige record --libc``, or of LTTng's wrapper, tell.

        Example:
            >>> for one in vestige.open("my-trace").memory().sites:
            ...     print(one.site, one.live_blocks, one.live)
        """
        from ..analysis.memory import read_memory  # noqa: PLC0415 - few need it

        found = read_memory(
            self._source, self._places(), selection=self._selection, paths=paths
        )
        return replace(found, picture=self._page)

    def off_cpu_stacks(self) -> CallStacks:
        """Find out where threads waited, of a recording of the kernel.

        Returns:
            Call stacks with times, of events ``sched_switch`` that have the contexts
            ``callstack-user`` or ``callstack-kernel``.

        Example:
            >>> for one in vestige.open("my-trace").off_cpu_stacks().stacks[:10]:
            ...     print(one.name, one.times.total, one.frames[-1].function.name)
        """
        from ..analysis.stacks import off_cpu_stacks  # noqa: PLC0415 - few need it

        return off_cpu_stacks(
            self._source, self._stack_places(), selection=self._selection
        )

    def stack_counts(self) -> CallStacks:
        """Count the events of a recording of the kernel by their call stacks.

        Returns:
            Call stacks, each with the name of its events.
        """
        from ..analysis.stacks import stack_counts  # noqa: PLC0415 - few need it

        return stack_counts(
            self._source, self._stack_places(), selection=self._selection
        )

    def _stack_places(self) -> DebugInfoFilter:
        return DebugInfoFilter(self._debug_info, [self._source])

    def _places(self) -> Filter | None:
        """Return what adds places to events; ``None`` without debug information."""
        options = self._debug_info
        return None if options is None else DebugInfoFilter(options, [self._source])

    def kernel_places(
        self, event: Event, field: str = "callstack_kernel"
    ) -> list[Place | Unresolved]:
        """Say where the addresses lead that an event of the kernel has in a field.

        Args:
            event: The event.
            field: A call stack, innermost address first, or one address.

        Returns:
            For each address its place, or why there is none.

        Raises:
            KeyError: The event has no such field.
            TypeError: It is no address.

        Example:
            >>> for event in trace.events("sched_switch"):
            ...     print(*trace.kernel_places(event))
        """
        if self._kernel_places is None:
            from .kernel_places import KernelPlaces  # noqa: PLC0415 - few need it

            self._kernel_places = KernelPlaces(self._source.streams, self.resolver())
        return self._kernel_places.of(event, field)

    def resolver(self) -> Resolver:
        """Return what names addresses, with the debug files of this trace."""
        from ..debuginfo import Resolver  # noqa: PLC0415 - few need it

        options = self._debug_info or DebugInfoOptions()
        finder = finder_for([self._source], options)
        return Resolver(finder, demangle=options.demangle)

    def _note(self, notice: Notice) -> None:
        if isinstance(notice, DamageNotice):
            self._note_damage(notice)
        else:
            self.losses.append(notice)

    def _note_damage(self, notice: Notice) -> None:
        if isinstance(notice, DamageNotice):
            self._tell_damage(notice.damage)

    def _tell_damage(self, damage: Damage) -> None:
        self._report(damage)
        self._remember(damage)

    def _remember(self, damage: Damage) -> None:
        identity = (damage.path, damage.start, damage.kind)
        if identity not in self._known_damage:
            self._known_damage.add(identity)
            self.damage.append(damage)

    def _report_at_once(self, damage: Sequence[Damage]) -> None:
        """Report what was found on opening: a warning, however many files it is."""
        if len(damage) <= 1 or self._strict:
            for one in damage:
                self._report(one)
            return
        text = (
            f"{damage[0]}; {len(damage) - 1} more files cannot be read, or not wholly: "
            "see Trace.damage"
        )
        warnings.warn(text, TraceDamageWarning, stacklevel=caller_level())

    def _report(self, damage: Damage) -> None:
        if self._strict:
            raise TraceFormatError.of_damage(damage)
        warnings.warn(str(damage), TraceDamageWarning, stacklevel=caller_level())

    def __repr__(self) -> str:
        """Show where it is and how many data streams there are."""
        paths = ", ".join(f"'{root}'" for root in self._source.roots)
        count = len(self._source.streams)
        return f"<Trace {paths}: {count} data stream{'' if count == 1 else 's'}>"

    def _repr_html_(self) -> str:
        """Show the same in a notebook, and more of it."""
        rows: list[tuple[str, object]] = [
            ("path", ", ".join(map(str, self._source.roots))),
            ("data streams", len(self._source.streams)),
            ("names of events", ", ".join(self.event_names)),
            *self.environment.items(),
        ]
        return facts_html("Trace", rows)


def _open_again(arguments: dict[str, Any]) -> Trace:
    return open(**arguments)
