"""Reading traces of kernels for the states of threads.

``sched_switch`` tells which thread runs, and whether the one before could go on;
``sched_waking`` (where that was not recorded, ``sched_wakeup``) that a thread waits for
a CPU. System calls tell what it waits in.

Kernels do not tell all switches: of those from an idle CPU, a tenth was missing where
Linux 6.18 ran in a virtual machine, without any loss. So whoever records an event runs,
and one that stops without ever having begun has run since its idle CPU could take it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ... import core
from ...graph import LostNotice, Selection, Stream, merges, notices_of
from ..followed_threads import FollowedThreads
from .found import BLOCKED, RUNNABLE, RUNNING, UNKNOWN, ThreadTurns, Turns, machine_of

__all__ = ["has_turns", "read_turns"]

_SWITCH = "sched_switch"
_WOKEN = ("sched_waking", "sched_wakeup", "sched_wakeup_new")
_ENTRIES = ("syscall_entry_", "compat_syscall_entry_")
_EXITS = ("syscall_exit_", "compat_syscall_exit_")
_RAN = "sched_stat_runtime"
_PATTERNS = (_SWITCH, _RAN, *_WOKEN, *(f"{one}*" for one in (*_ENTRIES, *_EXITS)))
_PREEMPTED = 0x100
"""In the state of a thread that could go on: it has this bit, or none."""
_MOST_STATE = 0xFFFF
_DEAD = 0x30
"""In the state of a thread that has ended: one of these bits (``EXIT_DEAD``,
``EXIT_ZOMBIE``)."""


def has_turns(streams: Iterable[Stream]) -> bool:
    """Tell whether any of some data streams is of a kernel that tells of threads.

    Args:
        streams: The data streams.
    """
    return any(_SWITCH in stream.event_names for stream in streams)


def read_turns(
    streams: Iterable[Stream],
    *,
    selection: Selection | None = None,
    progress: Callable[[int], object] | None = None,
) -> Turns | None:
    """Read what kernels tell of threads.

    Args:
        streams: The data streams of all traces.
        selection: The range of time that is wanted; all by default. It is read from
            the beginning, since nobody knows otherwise what threads did where it
            begins.
        progress: Called with the number of event records read so far.

    Returns:
        The states; ``None`` where no trace has ``sched_switch``.
    """
    known = [*streams]
    machines: dict[object, list[Stream]] = {}
    for stream in known:
        machines.setdefault(machine_of(stream), []).append(stream)
    found, lost = {}, 0
    end = None if selection is None else selection.end
    for own in machines.values():
        of_kernel = [one for one in own if _SWITCH in one.event_names]
        if of_kernel:
            reader = _Reader()
            reader.read([one for one in own if _is_of(one, of_kernel)], end, progress)
            found[machine_of(own[0])] = reader.known_threads()
            lost += reader.lost
    return Turns(found, known, lost) if found else None


def _is_of(stream: Stream, others: Sequence[Stream]) -> bool:
    return any(stream.process_space == one.process_space for one in others)


class _Reader:
    # What the threads of a machine do.

    def __init__(self) -> None:
        self.threads: dict[int, ThreadTurns] = {}
        self.lost = 0
        self._calls: dict[int, str] = {}
        self._running: dict[int | None, int] = {}
        self._switched: dict[int | None, int] = {}
        self._begin: int | None = None
        self._followed = FollowedThreads()
        self._spaces: set[int] = set()

    def known_threads(self) -> dict[int, ThreadTurns]:
        """Return the threads of which all was recorded."""
        return {
            thread: turns
            for thread, turns in self.threads.items()
            if any(self._followed.takes(space, thread) for space in self._spaces)
        }

    def read(
        self,
        streams: Sequence[Stream],
        end: int | None,
        progress: Callable[[int], object] | None,
    ) -> None:
        """Go through all that is told."""
        wanted = Selection(end=end, patterns=(_PATTERNS,))
        done = 0
        # Damage is told by whoever reads the trace for itself.
        for merge in merges(streams, wanted, tell=lambda _: None):
            for notice in notices_of(merge):
                if isinstance(notice, LostNotice) and notice.kind == "events":
                    self.lost += notice.count or 1
            for event in merge.events():
                self._take(event)
            done += len(merge)
            if progress is not None:
                progress(done)

    def _take(self, event: core.Event) -> None:
        time, name = event.timestamp, event.name
        if time is None or name is None:
            return
        if self._begin is None:
            self._begin = time
        self._spaces.add(event.stream.process_space)
        self._followed.see(event)
        self._see(event.cpu, time, event.thread)
        if name == _SWITCH:
            self._switch(event.cpu, time, event)
        elif name in _WOKEN:
            self._wake(time, event)
        elif name != _RAN:
            self._call(name, event.thread or self._running.get(event.cpu))

    def _of(self, thread: int) -> ThreadTurns:
        turns = self.threads.get(thread)
        if turns is None:
            turns = self.threads[thread] = ThreadTurns()
        return turns

    def _see(self, cpu: int | None, time: int, thread: int | None) -> None:
        # Who records an event runs, and who ran before does not, told or not.
        running = self._running.get(cpu)
        if thread is None or running is None or thread == running:
            return
        if running:
            self._of(running).add(time, UNKNOWN)
        if thread:
            self._of(thread).add(time, RUNNING)
        self._running[cpu] = thread
        self._switched[cpu] = time

    def _switch(self, cpu: int | None, time: int, event: core.Event) -> None:
        before, after = _number(event, "prev_tid"), _number(event, "next_tid")
        running = self._running.get(cpu)
        if running and running != before:
            self._of(running).add(time, UNKNOWN)
        if before:
            turns = self._of(before)
            if running is None and not turns.times and self._begin is not None:
                # Nothing else ran there since the recording has begun.
                turns.add(self._begin, RUNNING)
            elif running == 0 and turns.last == RUNNABLE:
                # It was taken at once.
                turns.add(max(self._switched[cpu], turns.times[-1]), RUNNING)
            state = _state_of(event)
            if state == UNKNOWN:
                # It may have ended: another thread may have its number later.
                self._calls.pop(before, None)
            turns.add(time, state, self._calls.get(before))
        self._running[cpu], self._switched[cpu] = after, time
        if after:
            self._of(after).add(time, RUNNING)

    def _wake(self, time: int, event: core.Event) -> None:
        turns = self._of(_number(event, "tid"))
        # What is woken while it runs does not wait.
        if turns.last in {BLOCKED, UNKNOWN}:
            turns.add(time, RUNNABLE)

    def _call(self, name: str, thread: int | None) -> None:
        if thread is None:
            return
        for entry in _ENTRIES:
            if name.startswith(entry):
                self._calls[thread] = name.removeprefix(entry)
                return
        self._calls.pop(thread, None)


def _state_of(event: core.Event) -> int:
    """Return the state of a thread that does not run any more.

    One that has ended waits for nothing.
    """
    value = event.get("prev_state")
    if not isinstance(value, int) or value & _DEAD:
        return UNKNOWN
    return BLOCKED if value & _MOST_STATE & ~_PREEMPTED else RUNNABLE


def _number(event: core.Event, name: str) -> int:
    """Return a field; 0 where the trace has another type or no such field."""
    value = event.get(name)
    return int(value) if isinstance(value, int) else 0
