"""Reading what library calls are recorded with: who called, from where, and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import core
from .._typing import NamedTuple, Protocol
from ..damage import Damage
from ..debuginfo import CALL_ENTRY_EVENTS, CALL_EXIT_EVENTS
from ..graph import Filter, Graph, LostNotice, Selection, Source, notices_of
from ..units import Vpid
from .sites import Sites
from .threads import Process, Thread, own_name

__all__ = ["CallKind", "Maker", "Reading", "ResourceFold", "Taken", "read_calls"]

CallKind = tuple[str, Sequence[str]]
"""The name of an event, and which integers of its payload are wanted."""
Maker = tuple[int, int | None, int | None]
"""A thread: process space, process ID, thread ID."""
ENTRIES: tuple[CallKind, ...] = tuple((one, ("addr",)) for one in CALL_ENTRY_EVENTS)
EXITS: tuple[CallKind, ...] = tuple((one, ("addr",)) for one in CALL_EXIT_EVENTS)


class Taken(NamedTuple):
    """Which part of the traces is read, and which of it counts."""

    takes: Callable[[int | None, int | None], bool] = lambda *_: True
    """Whether what a thread does counts, by its process ID and its own."""
    selection: Selection | None = None
    """Which part of the traces is read; all by default."""
    progress: Callable[[int], object] | None = None
    """Called with the number of event records read so far."""


class ResourceFold(Protocol):
    """What follows the calls: one of those of the core."""

    def begin(
        self, merge: core.Merge, /
    ) -> tuple[list[tuple[int, int]], list[tuple[Maker, int]]]:
        """Begin a merge; return the places and the threads that are new."""
        ...

    def advance(self, sites: Sequence[int], are_taken: Sequence[bool], /) -> None:
        """Go through it, with what is new."""
        ...


class Reading(NamedTuple):
    """What else was read."""

    sites: Sites
    """The sites."""
    names: dict[tuple[int, int | None], str | None]
    """Names of processes, by process space and process ID."""
    traces: dict[int, str]
    """Names of traces, by process space."""
    losses: list[LostNotice]
    """What the tracer lost."""
    damage: list[Damage]
    """What could not be read."""
    threads_called: core.ThreadNames
    """Names of threads."""

    def process(self, key: tuple[int, int | None]) -> Process:
        """Return a process.

        Args:
            key: Process space and process ID.
        """
        process = None if key[1] is None else Vpid(key[1])
        return Process(process, self.names.get(key), self.traces.get(key[0], ""))

    def thread(self, maker: Maker) -> Thread:
        """Return a thread.

        Args:
            maker: What tells it apart.
        """
        process = self.process(maker[:2])
        space, vpid, vtid = (-1 if one is None else one for one in maker)
        told = self.threads_called.find(space, vpid, vtid)
        return Thread(process=process, tid=maker[2], name=own_name(told, process.name))


def read_calls(
    source: Source,
    fold: ResourceFold,
    kinds: Sequence[CallKind],
    places: Filter | None,
    taken: Taken,
) -> Reading:
    """Read the calls of some functions of the C library, in order.

    Args:
        source: The traces.
        fold: What follows them.
        kinds: Which events are read.
        places: What adds places to events; ``None``: nothing does.
        taken: Which part of the traces is read, and which of it counts.
    """
    sink = _CallSink(fold, taken.takes)
    filters = () if places is None else (places,)
    classes = tuple(name for name, _ in kinds)
    wanted = (taken.selection or Selection()).narrowed(classes, None, None)
    damage = Graph([source], sink, filters, wanted, progress=taken.progress).run()
    traces = {one.process_space: one.trace.name for one in source.streams}
    # What an event record says is the name of its thread.
    sink.names.update(getattr(places, "process_names", ()))
    threads = sink.threads_called
    return Reading(sink.sites, sink.names, traces, sink.losses, damage, threads)


class _CallSink:
    # Answers what the fold asks; that is little, since calls come from few places.
    looks_at_records = True

    def __init__(
        self,
        fold: ResourceFold,
        takes: Callable[[int | None, int | None], bool],
    ) -> None:
        self._fold = fold
        self._takes = takes
        self.sites = Sites()
        self.names: dict[tuple[int, int | None], str | None] = {}
        self.losses: list[LostNotice] = []
        self.threads_called = core.ThreadNames()

    def consume(self, merge: core.Merge) -> None:
        """Have the calls of a merge followed."""
        self.losses += [one for one in notices_of(merge) if isinstance(one, LostNotice)]
        self.threads_called.add(merge)
        places, makers = self._fold.begin(merge)
        for maker, index in makers:
            process = maker[:2]
            if process not in self.names:
                self.names[process] = merge.event(index).process_name
        self._fold.advance(
            [self.sites.index(merge.place(index)) for _, index in places],
            [self._takes(process, thread) for (_, process, thread), _ in makers],
        )

    def finish(self) -> None:
        """Nothing is left to do."""
