"""Which threads and processes have a name, as far as traces tell.

Packets and contexts tell the name of who records. Kernels also tell those of others:
of whom a CPU was given to or taken from, and in the state dump of all there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from ... import core
from ..._typing import NamedTuple
from ...graph import Selection, Stream, merges
from .kept_names import kept_name

__all__ = ["NamedThread", "NamedThreads", "read_named_threads"]

_NAME = "procname"
_TOLD = {
    "lttng_statedump_process_state": (("tid", "pid", "name"),),
    "sched_process_exec": (("tid", "tid", "filename"),),
    "sched_process_fork": (("child_tid", "child_pid", "child_comm"),),
    "sched_switch": (("prev_tid", None, "prev_comm"), ("next_tid", None, "next_comm")),
    "sched_wakeup_new": (("tid", None, "comm"),),
}
"""Fields of events with a thread, its process and its name."""


class NamedThread(NamedTuple):
    """A name of a thread."""

    process: int | None
    """The ID of its process, where the trace tells."""
    thread: int
    """Its ID."""
    name: str
    """A name that it had; it may have had others."""
    trace: str = ""
    """The name of the trace that tells it."""


class NamedThreads:
    """The names of the threads of some traces.

    Args:
        rows: Each name of each thread; the last one is what it is called in the end.
    """

    def __init__(self, rows: Iterable[NamedThread]) -> None:
        self._last: dict[tuple[str, int], str] = {}
        self._processes: dict[tuple[str, int], int] = {}
        rows = [*rows]
        for row in rows:
            self._last[row.trace, row.thread] = row.name
            if row.process is not None:
                self._processes[row.trace, row.thread] = row.process
        self.rows = sorted(set(rows), key=lambda one: (one.name, one.thread))
        """Each name of each thread, once."""

    def last(self, trace: str, thread: int) -> str | None:
        """Return the last name of a thread.

        Args:
            trace: The name of its trace.
            thread: Its ID.
        """
        return self._last.get((trace, thread))

    def process_of(self, trace: str, thread: int) -> int | None:
        """Return the ID of the process of a thread, if that is known.

        Args:
            trace: The name of its trace.
            thread: Its ID.
        """
        return self._processes.get((trace, thread))

    def threads(self, pattern: str) -> set[int]:
        """Return the IDs of threads that have had a name.

        Args:
            pattern: The name, in which ``*`` is any text; of a longer one than kernels
                keep, its beginning.
        """
        return {one.thread for one in self.rows if _matches(one.name, pattern)}

    def processes(self, pattern: str) -> set[int]:
        """Return the IDs of processes whose first thread has had a name.

        Args:
            pattern: As of :meth:`threads`.
        """
        return {one.thread for one in self._leaders() if _matches(one.name, pattern)}

    def threads_of(self, processes: set[int]) -> set[int]:
        """Return the IDs of the threads of some processes, as far as that is known.

        Args:
            processes: The IDs of the processes.
        """
        return {one.thread for one in self.rows if one.process in processes}

    def names(self, *, of_processes: bool = False) -> set[str]:
        """Return all names.

        Args:
            of_processes: Whether those of processes alone.
        """
        return {one.name for one in (self._leaders() if of_processes else self.rows)}

    def _leaders(self) -> Iterator[NamedThread]:
        known: dict[int, int] = {}
        for one in self.rows:
            if one.process is not None:
                known[one.thread] = one.process
        return (one for one in self.rows if known.get(one.thread) == one.thread)


def _matches(name: str, pattern: str) -> bool:
    # As in a filter, "*" alone is special: kernels put names in brackets.
    literal = pattern.replace("[", "[[]").replace("?", "[?]")
    return fnmatchcase(name, literal) or name == kept_name(pattern)


def read_named_threads(
    streams: Sequence[Stream], progress: Callable[[int], object] | None = None
) -> NamedThreads:
    """Read the names of threads.

    Args:
        streams: The data streams of some traces.
        progress: Called with the number of event records read so far.

    Returns:
        The names.
    """
    names = core.ThreadNames()
    rows: list[NamedThread] = []
    told: list[Stream] = []
    others: list[Stream] = []
    for stream in streams:
        (told if _is_told_by_events(stream) else others).append(stream)
    done = 0
    # Damage is told by whoever reads the trace for itself.
    for merge in merges(others, Selection(), tell=lambda _: None):
        names.add(merge)
        done += len(merge)
        if progress is not None:
            progress(done)
    wanted = Selection(patterns=((*_TOLD,),))
    for merge in merges(told, wanted, tell=lambda _: None):
        names.add(merge)
        for event in merge.events():
            rows += _told_by(event)
        done += len(merge)
        if progress is not None:
            progress(done)
    traces = {one.process_space: one.trace.name for one in streams}
    rows += (
        NamedThread(
            process if process >= 0 else None, thread, name, traces.get(space, "")
        )
        for space, process, thread, name in names.rows()
    )
    rows += _of_environments(streams)
    return NamedThreads(rows)


def _is_told_by_events(stream: Stream) -> bool:
    """Tell whether events about threads have all names that there are."""
    context = stream.stream_class.event_context
    if context is not None and any(one.name == _NAME for one in context.members):
        return False
    return stream.trace.parsed.environment.get("domain") == "kernel"


def _told_by(event: core.Event) -> Iterator[NamedThread]:
    """Yield the names that an event record tells."""
    trace = event.stream.trace.name or ""
    for thread, process, name in _TOLD.get(event.name or "", ()):
        number, text = event.get(thread), event.get(name)
        if not isinstance(number, int) or not isinstance(text, str) or not text:
            continue
        of = event.get(process) if process is not None else None
        if name == "filename":
            text = kept_name(text.rpartition("/")[2])
        yield NamedThread(of if isinstance(of, int) else None, number, text, trace)


def _of_environments(streams: Iterable[Stream]) -> Iterator[NamedThread]:
    """Yield the names of traces of one process."""
    for stream in streams:
        environment = stream.trace.parsed.environment
        process, name = environment.get("vpid"), environment.get(_NAME)
        if isinstance(process, int) and isinstance(name, str) and name:
            yield NamedThread(process, process, name, stream.trace.name or "")
