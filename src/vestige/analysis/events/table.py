"""The table of events: how many there are of each name, when, and of which threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ... import core
from ..._typing import Protocol
from ...damage import Damage
from ...graph import (
    Graph,
    LostNotice,
    Selection,
    Stream,
    first_event_time,
    is_absolute,
    notices_of,
)
from ...units import Nanoseconds
from .origin import Origin, Origins, Who
from .pairs import PairRule, PairTimes, found_rules, joined_pairs, occurring, pair_times

__all__ = ["EventKind", "EventTable", "OriginEvents", "event_table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventKind:
    """The event records of one name."""

    name: str | None
    """Name of the event record class; ``None`` for classes without."""
    events: int
    """How many there are."""
    first: Nanoseconds | None
    """Time of the first one; ``None`` where the trace has no times."""
    last: Nanoseconds | None
    """Time of the last one."""
    origins: int
    """How many threads (else CPUs, else data streams) made them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginEvents:
    """The event records of one thread."""

    origin: Origin
    """The thread, else the CPU, else the data stream."""
    name: str | None
    """Name of the thread or its process, where packets or contexts have it."""
    kinds: list[EventKind]
    """Its events, the most frequent first."""

    @property
    def events(self) -> int:
        """How many there are."""
        return sum(kind.events for kind in self.kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTable:
    """How many event records there are of each name and thread."""

    kinds: list[EventKind]
    """All events, the most frequent first."""
    origins: list[OriginEvents]
    """The same by thread, those with most events first."""
    pairs: list[PairTimes] = field(default_factory=list)
    """What begins and ends, those with most time first."""
    pairs_of_threads: list[PairTimes] | None = None
    """The same of each thread that began it; ``None`` if that was not asked for."""
    origin: Nanoseconds | None = None
    """Time of the first event record of the traces, whether it is counted or not."""
    has_absolute_times: bool = False
    """Whether times count from the Unix epoch."""
    left_out: int = 0
    """Event records of no thread, since there are too many threads."""
    recorder_events: int = 0
    """How many event records are not counted, since only the recorder needs them."""
    losses: list[LostNotice] = field(default_factory=list)
    """What the tracer lost."""
    damage: list[Damage] = field(default_factory=list)
    """What could not be read."""

    @property
    def events(self) -> int:
        """The number of event records."""
        return sum(kind.events for kind in self.kinds)

    @property
    def begin(self) -> Nanoseconds | None:
        """Time of the first event record; ``None`` where there is none."""
        return min(
            (one.first for one in self.kinds if one.first is not None), default=None
        )

    @property
    def end(self) -> Nanoseconds | None:
        """Time of the last event record."""
        return max(
            (one.last for one in self.kinds if one.last is not None), default=None
        )

    @property
    def lost(self) -> int:
        """The number of event records that the tracer is known to have lost."""
        return sum(one.count or 0 for one in self.losses if one.kind == "events")

    def of(self, takes: Callable[[OriginEvents], bool]) -> EventTable:
        """Return the events of some threads.

        Args:
            takes: Decides whether those of a thread are in. Pairs are known of threads
                only if that was asked for.
        """
        chosen = [one for one in self.origins if takes(one)]
        origins = {one.origin for one in chosen}
        own = self.pairs_of_threads or []
        pairs = [one for one in own if one.origin in origins]
        return EventTable(
            kinds=_joined(kind for one in chosen for kind in one.kinds),
            origins=chosen,
            pairs=joined_pairs(pairs),
            pairs_of_threads=pairs,
            origin=self.origin,
            has_absolute_times=self.has_absolute_times,
            left_out=self.left_out,
            recorder_events=self.recorder_events,
            losses=self.losses,
            damage=self.damage,
        )


class TraceSource(Protocol):
    """What is needed of traces: :class:`vestige.Trace` and ``CtfFsSource`` have it."""

    @property
    def streams(self) -> Sequence[Stream]:
        """The data streams."""

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be opened."""


def event_table(  # noqa: PLR0913 - what is read, and what is kept of it
    source: TraceSource,
    *,
    selection: Selection | None = None,
    rules: Sequence[PairRule] | None = None,
    pairs_of_threads: bool = False,
    longest: int = 10,
    progress: Callable[[int], object] | None = None,
) -> EventTable:
    """Read traces, and count the event records of each name and thread.

    Args:
        source: The traces: :func:`vestige.open` returns such an object.
        selection: Which part of the traces is read; all by default.
        rules: What begins and ends; by default what the names of events show.
        pairs_of_threads: Whether to keep the pairs of each thread apart, too.
        longest: How many of the longest of each pair are kept.
        progress: Called with the number of event records read so far.

    Returns:
        The table.

    Example:
        >>> from vestige.analysis import event_table
        >>> for kind in event_table(vestige.open("my-trace")).kinds:
        ...     print(kind.name, kind.events)
    """
    streams = source.streams
    rules = found_rules(streams) if rules is None else rules
    if pairs_of_threads:
        rules = [rule._replace(grouping="who") for rule in rules]
    sink = EventReader(rules, longest)
    damage = Graph([source], sink, (), selection, progress=progress).run()
    origins = Origins(streams)
    pairs = occurring(pair_times(rules, sink.table, origins))
    return EventTable(
        kinds=_kinds(sink.table),
        origins=_origins(sink, origins),
        pairs=joined_pairs(pairs) if pairs_of_threads else pairs,
        pairs_of_threads=pairs if pairs_of_threads else None,
        origin=first_event_time(streams),
        has_absolute_times=any(_is_absolute(one) for one in streams),
        left_out=sink.table.left_out,
        recorder_events=sink.recorder_events,
        losses=sink.losses,
        damage=damage,
    )


LONGEST = 10
"""How many of the longest of each pair are kept."""
_SWITCH = ("sched_switch", "next_tid", "next_comm")
"""Says which thread runs on a CPU, in traces of kernels."""


class EventReader:
    """Counts event records and matches pairs: a sink, for which the core does the work.

    Args:
        rules: What belongs together.
        longest: How many of the longest of each are kept.
    """

    looks_at_records = True
    checks_fields = False

    def __init__(self, rules: Sequence[PairRule], longest: int = LONGEST) -> None:
        rows = [rule.row for rule in rules]
        self.table = core.EventTable(rows, longest=longest, switch=_SWITCH)
        """What the core has found out."""
        self.threads_called = core.ThreadNames()
        """Names of threads."""
        self.losses: list[LostNotice] = []
        """What the tracer lost."""
        self.recorder_events = 0
        """How many event records were left out, since only the recorder needs them."""

    def finish(self) -> None:
        """End what has not ended."""
        self.table.finish()

    def consume(self, merge: core.Merge) -> None:
        """Count the event records of a merge."""
        self.losses += [one for one in notices_of(merge) if isinstance(one, LostNotice)]
        self.recorder_events += merge.left_out
        self.table.add(merge)
        self.threads_called.add(merge)


def _is_absolute(stream: Stream) -> bool:
    clock = stream.handle.clock
    return clock is not None and is_absolute(stream.trace, clock)


def _kinds(table: core.EventTable) -> list[EventKind]:
    makers: dict[int, int] = {}
    for name, *_ in table.rows():
        makers[name] = makers.get(name, 0) + 1
    kinds = [
        _kind(name, (events, first, last), makers.get(index, 0))
        for index, (name, events, first, last) in enumerate(table.totals())
        if events
    ]
    return _sorted(kinds)


def _kind(name: str | None, count: tuple[int, int, int], origins: int) -> EventKind:
    events, first, last = count
    has_time = first > _NO_TIME
    return EventKind(
        name=name,
        events=events,
        first=Nanoseconds(first) if has_time else None,
        last=Nanoseconds(last) if has_time else None,
        origins=origins,
    )


_NO_TIME = -(1 << 63)
"""The time of event records without a clock."""


def _origins(reader: EventReader, origins: Mapping[Who, Origin]) -> list[OriginEvents]:
    table = reader.table
    names = [name for name, *_ in table.totals()]
    found: dict[Who, OriginEvents] = {}
    for name, who, process_name, events, first, last in table.rows():
        one = found.get(who)
        if one is None:
            # As everywhere: a thread has its last name.
            called = _thread_name(reader.threads_called, who) or process_name
            one = OriginEvents(origin=origins[who], name=called, kinds=[])
            found[who] = one
        one.kinds.append(_kind(names[name], (events, first, last), 1))
    for one in found.values():
        one.kinds[:] = _sorted(one.kinds)
    return sorted(found.values(), key=lambda one: (-one.events, _rank(one.origin)))


def _thread_name(names: core.ThreadNames, who: Who) -> str | None:
    space, process, thread, *_ = who
    if thread is None:
        return None
    return names.find(space, -1 if process is None else process, thread)


def _rank(origin: Origin) -> tuple[object, ...]:
    numbers = (origin.process, origin.thread, origin.cpu)
    return (origin.trace, *(-1 if one is None else one for one in numbers))


def _sorted(kinds: Iterable[EventKind]) -> list[EventKind]:
    return sorted(kinds, key=lambda one: (-one.events, one.name or ""))


def _joined(kinds: Iterable[EventKind]) -> list[EventKind]:
    """Put together what has the same name."""
    found: dict[str | None, list[EventKind]] = {}
    for kind in kinds:
        found.setdefault(kind.name, []).append(kind)
    return _sorted(
        EventKind(
            name=name,
            events=sum(one.events for one in same),
            first=_first(same),
            last=_last(same),
            origins=len(same),
        )
        for name, same in found.items()
    )


def _first(kinds: Iterable[EventKind]) -> Nanoseconds | None:
    return min((one.first for one in kinds if one.first is not None), default=None)


def _last(kinds: Iterable[EventKind]) -> Nanoseconds | None:
    return max((one.last for one in kinds if one.last is not None), default=None)
