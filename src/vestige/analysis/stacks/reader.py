"""Reading call stacks of the kernel's events.

A thread waits from the ``sched_switch`` that takes it from a CPU to the one that
brings it back; its stack is that of the first. Whatever else has a stack is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ... import core
from ..._typing import TYPE_CHECKING, NamedTuple, Protocol
from ...graph import Filter, Graph, LostNotice, Selection, Source, Stream, notices_of
from ..followed_threads import BORN, FollowedThreads
from .found import CallStacks, Stack, StackTimes
from .frames import Frames

if TYPE_CHECKING:
    from ...damage import Damage

__all__ = ["has_stacks", "off_cpu_stacks", "stack_counts"]

_SWITCH = "sched_switch"
_WOKEN = ("sched_waking", "sched_wakeup", "sched_wakeup_new")
_DUMPED = "lttng_statedump_process_state"
_OF_RECORDER = "lttng_statedump_"
_CONTEXTS = ("callstack_user", "callstack_kernel")
_ENTRIES = ("syscall_entry_", "compat_syscall_entry_")
_EXITS = ("syscall_exit_", "compat_syscall_exit_")
_MOST_STATE = 0xFFFF
_PREEMPTED = 0x100
_DEAD = 0x30
_LATE = 1 << 63
"""Behind all times."""

Takes = Callable[[int | None, int | None], bool]
"""Whether a thread counts, by its process ID and its own."""


class StackPlaces(Filter, Protocol):
    """Adds places to events, and keeps call stacks, as the debug-info filter does."""

    def keep_stacks(self) -> core.PlaceColumn:
        """Keep call stacks; return what tells them."""

    def kernel_processes(self) -> dict[tuple[int, int], int]:
        """Return processes by process space and thread ID."""


class _Key(NamedTuple):
    """What tells stacks apart."""

    space: int
    thread: int | None
    event: str | None
    user: int | None
    kernel: int | None


class _Wait(NamedTuple):
    """A thread that waits."""

    begin: int
    key: _Key
    runnable: int | None
    """Since when it could have run."""


def has_stacks(streams: Iterable[Stream]) -> bool:
    """Tell whether event records of any data stream can have call stacks.

    Args:
        streams: The data streams.
    """
    return any(
        any(name in _names_of(stream) for name in _CONTEXTS) for stream in streams
    )


def off_cpu_stacks(
    source: Source,
    places: StackPlaces,
    *,
    selection: Selection | None = None,
    takes: Takes = lambda *_: True,
    progress: Callable[[int], object] | None = None,
) -> CallStacks:
    """Find out where threads waited, or lost their CPU.

    Args:
        source: The traces.
        places: What adds places to events.
        selection: Which part of the traces is read; all by default.
        takes: Which threads count.
        progress: Called with the number of event records read so far.

    Returns:
        The stacks, with times. A wait that was not seen to end, or during which events
        were lost, is in none.
    """
    sink = _Waits(places)
    return _read(source, sink, selection, (_SWITCH, *_WOKEN), takes, progress)


def stack_counts(
    source: Source,
    places: StackPlaces,
    *,
    selection: Selection | None = None,
    takes: Takes = lambda *_: True,
    progress: Callable[[int], object] | None = None,
) -> CallStacks:
    """Count event records by their call stacks.

    Args:
        source: The traces.
        places: What adds places to events.
        selection: Which event records are read; all by default.
        takes: Which threads count.
        progress: Called with the number of event records read so far.

    Returns:
        The stacks, without times.
    """
    return _read(source, _Counts(places), selection, (), takes, progress)


def system_call_stacks(
    source: Source,
    places: StackPlaces,
    *,
    selection: Selection | None = None,
    takes: Takes = lambda *_: True,
    progress: Callable[[int], object] | None = None,
) -> CallStacks:
    """Find out where system calls came from, and how long they took.

    Args:
        source: The traces.
        places: What adds places to events.
        selection: Which part of the traces is read; all by default.
        takes: Which threads count.
        progress: Called with the number of event records read so far.

    Returns:
        The stacks, with times and the names of the calls.
    """
    patterns = *(f"{one}*" for one in (*_ENTRIES, *_EXITS)), _SWITCH
    return _read(source, _SystemCalls(places), selection, patterns, takes, progress)


def _read(  # noqa: PLR0913, PLR0917 - the parts of a reading
    source: Source,
    sink: _StackSink,
    selection: Selection | None,
    patterns: tuple[str, ...],
    takes: Takes,
    progress: Callable[[int], object] | None,
) -> CallStacks:
    wanted = (selection or Selection()).narrowed(patterns, None, None)
    graph = Graph([source], sink, (sink.places,), wanted, progress=progress)
    damage = graph.run()
    return sink.found(source.streams, takes, damage)


def _names_of(stream: Stream) -> Sequence[str]:
    if stream.trace.parsed.environment.get("domain") != "kernel":
        return ()
    context = stream.stream_class.event_context
    return [] if context is None else [one.name for one in context.members]


class _StackSink:
    # What event records add up to, by their stacks.

    looks_at_records = True
    needed_events = frozenset((_DUMPED, _SWITCH, BORN))
    is_time = False

    def __init__(self, places: StackPlaces) -> None:
        self.places = places
        self._column = places.keep_stacks()
        self._sums: dict[_Key, StackTimes] = {}
        self._names: dict[tuple[int, int], str] = {}
        self._processes: dict[tuple[int, int], int] = {}
        self._losses: list[LostNotice] = []
        self._kernels: dict[int, bool] = {}
        self._followed = FollowedThreads()
        self._unended: Counter[tuple[int, int]] = Counter()
        """Waits whose end is not known, by process space and thread."""

    def consume(self, merge: core.Merge) -> None:
        """Take the event records of a merge."""
        for notice in notices_of(merge):
            if isinstance(notice, LostNotice):
                self._losses.append(notice)
                self._lose(notice)
        shown = merge.shown()
        if len(shown) < len(merge):
            for event in merge.events():
                self._see_names(event)
                self._followed.see(event)
        # One that is empty has no stack of that kind; ends of waits need none.
        user, kernel = self._column.merge_stacks(merge)
        none = [None] * len(shown)
        for event, *stacks in zip(
            shown.events(), user or none, kernel or none, strict=True
        ):
            if not self._is_of_kernel(event):
                continue
            if event.process is not None and event.thread is not None:
                space = event.stream.process_space
                self._processes[space, event.thread] = event.process
            self._followed.see(event)
            self._take(event, *stacks)

    def finish(self) -> None:
        """Nothing is left to do."""

    def _is_of_kernel(self, event: core.Event) -> bool:
        """Tell whether an event record is one of a kernel; programs have other ones."""
        space = event.stream.process_space
        known = self._kernels.get(space)
        if known is None:
            domain = event.stream.trace.parsed.environment.get("domain")
            known = self._kernels[space] = domain == "kernel"
        return known

    def _lose(self, notice: LostNotice) -> None:
        """Take notice of a loss."""

    def _take(self, event: core.Event, user: int | None, kernel: int | None) -> None:
        """Take an event record."""
        raise NotImplementedError

    def _see_names(self, event: core.Event) -> None:
        """Remember the names of the threads that an event record is about."""
        if event.name == _SWITCH:
            self._see(event, "prev_tid", "prev_comm")
            self._see(event, "next_tid", "next_comm")
        elif event.name == _DUMPED:
            self._see(event, "tid", "name")

    def _see(self, event: core.Event, thread: str, name: str) -> None:
        """Remember the name of a thread."""
        number, text = event.get(thread), event.get(name)
        if isinstance(number, int) and isinstance(text, str) and text:
            self._names[event.stream.process_space, number] = text

    def _is_whole(self, _space: int, _thread: int) -> bool:
        """Tell whether all that is told of a thread was recorded."""
        return True

    def found(
        self, streams: Sequence[Stream], takes: Takes, damage: list[Damage]
    ) -> CallStacks:
        """Return what was found."""
        frames = Frames(self._column)
        traces = {one.process_space: one.trace.name for one in streams}
        processes = self.places.kernel_processes() | self._processes
        stacks, without = [], 0
        for key, times in self._sums.items():
            who = key.space, key.thread if key.thread is not None else -1
            process = processes.get(who)
            if not (takes(process, key.thread) and self._is_whole(*who)):
                continue
            if key.user is None and key.kernel is None:
                without += times.count
            stacks.append(
                Stack(
                    trace=traces.get(key.space, ""),
                    space=key.space,
                    process=process,
                    thread=key.thread,
                    name=self._names.get(who),
                    event=key.event,
                    frames=frames.of(key.user, key.kernel),
                    is_cut=frames.is_cut(key.user),
                    times=times,
                )
            )
        result = CallStacks(
            stacks=[],
            is_time=self.is_time,
            without_stack=without,
            unended=sum(
                count
                for who, count in self._unended.items()
                if takes(processes.get(who), who[1]) and self._is_whole(*who)
            ),
            losses=self._losses,
            damage=damage,
        )
        result.stacks = sorted(stacks, key=lambda one: -result.weight(one.times))
        return result


class _Counts(_StackSink):
    # Counts event records.

    def _take(self, event: core.Event, user: int | None, kernel: int | None) -> None:
        space, name = event.stream.process_space, event.name or ""
        self._see_names(event)
        if name.startswith(_OF_RECORDER):
            return
        if event.process_name and event.thread is not None:
            self._names[space, event.thread] = event.process_name
        key = _Key(space, event.thread, name, user, kernel)
        times = self._sums.get(key)
        if times is None:
            times = self._sums[key] = StackTimes()
        times.count += 1


class _Followed(_StackSink):
    # Follows what begins and ends in threads.

    is_time = True

    def __init__(self, places: StackPlaces) -> None:
        super().__init__(places)
        self._waiting: dict[tuple[int, int], _Wait] = {}
        self._gaps: dict[int, list[tuple[int, int]]] = {}
        """When events were lost, by process space."""

    def finish(self) -> None:
        """Those that still wait have no end."""
        self._unended.update(self._waiting.keys())

    def _lose(self, notice: LostNotice) -> None:
        # An end may be among what was lost, wherever in the merge that was.
        begin = 0 if notice.begin is None else notice.begin
        end = _LATE if notice.end is None else notice.end
        space = notice.stream.process_space
        self._gaps.setdefault(space, []).append((begin, end))

    def _has_lost(self, space: int, begin: int, end: int) -> bool:
        """Tell whether anything was lost in a range of time."""
        # They come in the order of their ends.
        for first, last in reversed(self._gaps.get(space, ())):
            if last < begin:
                break
            if first <= end:
                return True
        return False

    def _end(self, who: tuple[int, int], time: int) -> None:
        wait = self._waiting.pop(who, None)
        if wait is None:
            return
        if self._has_lost(who[0], wait.begin, time):
            self._unended[who] += 1
            return
        times = self._sums.get(wait.key)
        if times is None:
            times = self._sums[wait.key] = StackTimes()
        took = time - wait.begin
        times.count += 1
        times.total += took
        times.longest = max(times.longest, took)
        if wait.runnable is not None:
            times.runnable += time - wait.runnable


class _Waits(_Followed):
    # Follows who is off the CPU.

    def _is_whole(self, space: int, thread: int) -> bool:
        return self._followed.takes(space, thread)

    def _take(self, event: core.Event, user: int | None, kernel: int | None) -> None:
        time = event.timestamp
        if time is None:
            return
        space = event.stream.process_space
        if event.name != _SWITCH:
            self._wake((space, _number(event, "tid")), time)
            return
        after, before = _number(event, "next_tid"), _number(event, "prev_tid")
        if after:
            self._end((space, after), time)
        self._see_names(event)
        if not before:
            return
        state = event.get("prev_state")
        if not isinstance(state, int) or state & _DEAD:
            # It has ended, or nobody knows.
            return
        could_run = not state & _MOST_STATE & ~_PREEMPTED
        key = _Key(space, before, None, user, kernel)
        if (space, before) in self._waiting:
            # The kernel has not told when it came back.
            self._unended[space, before] += 1
        self._waiting[space, before] = _Wait(time, key, time if could_run else None)

    def _wake(self, who: tuple[int, int], time: int) -> None:
        wait = self._waiting.get(who)
        if wait is not None and wait.runnable is None:
            self._waiting[who] = wait._replace(runnable=time)


class _SystemCalls(_Followed):
    # Follows who is in a system call.

    def _take(self, event: core.Event, user: int | None, kernel: int | None) -> None:
        time, name, thread = event.timestamp, event.name, event.thread
        if time is None or name is None:
            return
        if name == _SWITCH:
            self._see_names(event)
        elif thread is not None:
            self._follow(event, (event.stream.process_space, thread), (user, kernel))

    def _follow(
        self,
        event: core.Event,
        who: tuple[int, int],
        stacks: tuple[int | None, int | None],
    ) -> None:
        time, name = event.timestamp or 0, event.name or ""
        entry = next((one for one in _ENTRIES if name.startswith(one)), None)
        if entry is None:
            self._end(who, time)
            return
        # One that does not come back, such as exit, has no end.
        if who in self._waiting:
            self._unended[who] += 1
        key = _Key(*who, name.removeprefix(entry), *stacks)
        self._waiting[who] = _Wait(time, key, None)


def _number(event: core.Event, name: str) -> int:
    """Return a field; 0 where the trace has another type or no such field."""
    value = event.get(name)
    return int(value) if isinstance(value, int) else 0
