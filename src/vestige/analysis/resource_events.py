"""Reading what library calls are recorded with: who called, from where, and numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .. import core
from .._typing import NamedTuple
from ..damage import Damage
from ..debuginfo import CALL_ENTRY_EVENTS, CALL_EXIT_EVENTS
from ..graph import Filter, Graph, LostNotice, Selection, Source, notices_of
from .call_paths import CallPaths, Maker
from .sites import Sites

__all__ = ["Call", "CallKind", "Reading", "read_calls"]

CallKind = tuple[str, Sequence[str]]
"""The name of an event, and which integers of its payload are wanted."""


class Call(NamedTuple):
    """A call of a library function."""

    kind: int
    """Which one, by its index."""
    time: int
    """When, nanoseconds from the origin."""
    maker: Maker
    """Who."""
    site: int
    """From where, by the index of the site."""
    values: tuple[int, int, int, int]
    """The integers; 0 for those that the event does not have."""
    path: int = 0
    """The path of calls of functions, where they are followed."""


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
    paths: CallPaths
    """The paths of calls."""


def read_calls(  # noqa: PLR0913, PLR0917 - two callers, which have them all
    source: Source,
    kinds: Sequence[CallKind],
    take: Callable[[Call], object],
    places: Filter | None,
    selection: Selection | None,
    progress: Callable[[int], object] | None,
    *,
    follows_paths: bool = False,
) -> Reading:
    """Read the calls of some functions of the C library, in order.

    Args:
        source: The traces.
        kinds: Which events are read.
        take: Called with each call.
        places: What adds places to events; ``None``: nothing does.
        selection: Which part of the traces is read; all by default.
        progress: Called with the number of event records read so far.
        follows_paths: Whether the calls of the program's functions are followed, too.
    """
    entries, exits = (
        [(name, ("addr",)) for name in sorted(names)] if follows_paths else []
        for names in (CALL_ENTRY_EVENTS, CALL_EXIT_EVENTS)
    )
    first_exit = len(kinds) + len(entries)
    sink = _CallSink(len(kinds), first_exit, [*kinds, *entries, *exits], take)
    filters = () if places is None else (places,)
    names = tuple(name for name, _ in (*kinds, *entries, *exits))
    wanted = (selection or Selection()).narrowed(names, None, None)
    damage = Graph([source], sink, filters, wanted, progress=progress).run()
    traces = {one.process_space: one.trace.name for one in source.streams}
    return Reading(sink.sites, sink.names, traces, sink.losses, damage, sink.paths)


class _CallSink:
    # Hands calls out. Python objects for whole events would take most of the time.
    looks_at_records = True

    def __init__(
        self,
        first_entry: int,
        first_exit: int,
        kinds: Sequence[CallKind],
        take: Callable[[Call], object],
    ) -> None:
        self._first_entry, self._first_exit = first_entry, first_exit
        self.paths = CallPaths()
        self._rows = core.NumberRows(kinds)
        self._take = take
        self._known: dict[int | None, int] = {None: 0}
        self.sites = Sites()
        self.names: dict[tuple[int, int | None], str | None] = {}
        self.losses: list[LostNotice] = []

    def consume(self, merge: core.Merge) -> None:
        """Hand out the calls of a merge."""
        self.losses += [one for one in notices_of(merge) if isinstance(one, LostNotice)]
        take, known, names = self._take, self._known, self.names
        first_entry, first_exit, paths = self._first_entry, self._first_exit, self.paths
        for kind, index, time, maker, place, values in self._rows.read(merge):
            if kind >= first_exit:
                paths.leave(maker, values[0])
                continue
            site = known.get(place)
            if site is None:
                site = known[place] = self.sites.index(merge.place(index))
            if kind >= first_entry:
                paths.enter(maker, values[0], site)
                continue
            process = maker[:2]
            if process not in names:
                names[process] = merge.event(index).process_name
            take(Call(kind, time, maker, site, values, paths.of(maker)))

    def finish(self) -> None:
        """Nothing is left to do."""
