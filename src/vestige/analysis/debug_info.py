"""What the code addresses of traces lie in, and which files have names for them.

Reads all events once, as the debug-info filter does: each pair of a process image and
an address is looked at once, and the events of each are counted by the Rust core.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from .. import core
from ..damage import Damage
from ..debuginfo import (
    STATE_EVENT_NAMES,
    DebugFileFinder,
    FoundFiles,
    ImageFollower,
    KernelImages,
    Mapping,
    Place,
    Resolver,
    StateEvent,
    Unresolved,
)
from ..graph import Graph, Selection, Source, Stream
from ..units import Address, Vpid

__all__ = [
    "Absence",
    "AbsentObject",
    "DebugInfoReport",
    "MappedObject",
    "ProcessReport",
    "examine_debug_info",
]

_CODE_SPACE = 1 << 47
"""Bytes of addresses: functions that the trace describes have all those above."""
_CODE_NAME = "(functions of Python programs)"
_NAME_EVENT = "lttng_ust_statedump:procname"


class Absence(Enum):
    """Why no object is known at an address; the value is a phrase for people."""

    NO_STATE_DUMP = "no state dump for the process"
    BEFORE = "before the state dump or load event of the object"
    AFTER = "after the object was unloaded"
    OUTSIDE = "in no object that the trace tells of"


@dataclass
class MappedObject:
    """An object in the memory of a process, and the events that fall in it."""

    mapping: Mapping
    """The object, as the trace describes it."""
    finder: DebugFileFinder = field(repr=False)
    """What finds its files."""
    events: int = 0
    """Number of event records whose address lies in it."""
    events_with_function: int = 0
    """Of these, those with the name of a function."""
    events_with_line: int = 0
    """Of these, those with a source line."""
    places: dict[Address, Place] = field(default_factory=dict)
    """What is at each distinct address."""
    variants: tuple[Mapping, ...] = ()
    """What the trace had told of it when addresses were met: no build ID yet, say."""
    shortfalls: dict[str, int] = field(default_factory=dict)
    """For each reason why a name is missing, the number of events."""
    problems: list[str] = field(default_factory=list)
    """What of the files beside the debug file is missing or not the right one."""

    @property
    def files(self) -> FoundFiles:
        """The files that describe it, and each place tried; looked for on demand."""
        return self.finder.find(self.mapping)

    @property
    def names_from(self) -> str | None:
        """Path of the file that gave the names."""
        if self.files.debug is None:
            return None
        path: str = getattr(self.files.debug, "path", self.files.host_path)
        return path


@dataclass
class AbsentObject:
    """Events at addresses where no object is known."""

    absence: Absence
    """Why."""
    events: int = 0
    """Number of event records."""
    addresses: list[Address] = field(default_factory=list)
    """The distinct addresses."""


@dataclass
class ProcessReport:
    """The objects of one process."""

    trace: str
    """Name of the trace."""
    vpid: Vpid
    """Process ID."""
    name: str | None = None
    """Name of the process, where the trace tells."""
    identity: str | None = None
    """What identifies the trace."""
    is_ours: bool = False
    """Whether Vestige recorded the trace."""
    objects: list[MappedObject] = field(default_factory=list)
    """Its objects, those with most events first."""
    absent: list[AbsentObject] = field(default_factory=list)
    """Events at addresses where no object is known."""

    @property
    def events(self) -> int:
        """Number of event records with an address."""
        return sum(one.events for one in self.objects) + sum(
            one.events for one in self.absent
        )


@dataclass
class DebugInfoReport:
    """What the code addresses of some traces lie in."""

    processes: list[ProcessReport] = field(default_factory=list)
    """The processes, in the order of traces and process IDs."""
    events: int = 0
    """Number of all event records, but those that a daemon made."""
    events_without_address: int = 0
    """Those of which nothing tells address and process."""
    damage: list[Damage] = field(default_factory=list)
    """What could not be read."""
    is_ours: bool = False
    """Whether Vestige recorded all of the traces."""


def examine_debug_info(
    source: Source,
    resolver: Resolver | None = None,
    *,
    selection: Selection | None = None,
    progress: Callable[[int], object] | None = None,
) -> DebugInfoReport:
    """Read traces, and tell where their code addresses lie and who has names for them.

    Args:
        source: The traces, such as ``CtfFsSource``.
        resolver: Finds object and debug files, and looks addresses up in them.
        selection: Which event records count; all by default.
        progress: Called with the number of event records read so far.

    Returns:
        The report.

    Example:
        >>> report = examine_debug_info(CtfFsSource(["my-trace"]))
        >>> for process in report.processes:
        ...     for one in process.objects:
        ...         print(process.vpid, one.events, one.mapping.path, one.names_from)
    """
    resolver = resolver or Resolver(DebugFileFinder())
    walk = _Walk(source.streams)

    def tell(_: int) -> None:
        if progress is not None:
            progress(walk.events)

    damage = Graph([source], walk, (), selection, progress=tell).run()
    ours = [_is_ours(stream) for stream in source.streams]
    report = DebugInfoReport(damage=damage, is_ours=bool(ours) and all(ours))
    report.events = walk.events - walk.without_code
    report.events_without_address = walk.without_address
    report.processes = list(_processes(walk, resolver, source.streams))
    return report


@dataclass(eq=False, slots=True)
class _Use:
    # An object of a process, with the indexes of the addresses that fall in it.
    mapping: Mapping
    known_addresses: int
    places: list[int] = field(default_factory=list)
    variants: dict[Mapping, None] = field(default_factory=dict)
    functions: dict[int, Mapping] = field(default_factory=dict)
    """Those at addresses that stand for functions which the trace describes."""


@dataclass(slots=True)
class _Process:
    # What is known of a process so far.
    objects: dict[tuple[Address, str], list[_Use]] = field(default_factory=dict)
    absent: list[int] = field(default_factory=list)
    name: str | None = None


class _Walk:
    # Follows the process images through the merges.
    looks_at_records = True
    checks_fields = False
    needed_events = STATE_EVENT_NAMES | {_NAME_EVENT}

    def __init__(self, streams: Sequence[Stream]) -> None:
        self.events = 0
        self._column = core.PlaceColumn("", sorted(STATE_EVENT_NAMES | {_NAME_EVENT}))
        kernels = KernelImages(
            lambda: ((one.process_space, one.trace.parsed) for one in streams)
        )
        self._follower = ImageFollower(
            self._column, self._take_pending, kernels=kernels
        )
        self._follower.look_at_kernels()
        self.processes: dict[tuple[int, Vpid], _Process] = {}
        self.addresses: list[Address] = []
        self._without_code: list[int] = []
        """The indexes of address 0 in all processes."""

    @property
    def counts(self) -> list[int]:
        """The number of event records of each address."""
        return self._column.counts

    @property
    def without_address(self) -> int:
        """The number of event records without address."""
        return self._column.without_place

    @property
    def without_code(self) -> int:
        """The number of event records at address 0."""
        counts = self._column.counts
        return sum(counts[index] for index in self._without_code)

    def finish(self) -> None:
        """Do nothing: all addresses are taken."""

    def consume(self, merge: core.Merge) -> None:
        """Go through a merge."""
        self.events += len(merge.shown())
        for event in self._follower.follow(merge):
            self._change_image(event)
        self._column.count(merge)

    def _take_pending(self) -> None:
        for space, vpid, ip in self._column.take_pending():
            process = self._process(space, Vpid(vpid))
            found = self._follower.images(space).find(Vpid(vpid), Address(ip))
            index = len(self.addresses)
            self.addresses.append(Address(ip))
            if ip == 0:
                # A daemon tells of the process; no code of it does.
                self._without_code.append(index)
            elif isinstance(found, Unresolved):
                process.absent.append(index)
            elif found.code is not None:
                use = self._use(process, _all_code(found))
                use.places.append(index)
                use.functions[index] = found
            else:
                use = self._use(process, found)
                use.places.append(index)
                use.variants[found] = None

    def _change_image(self, event: StateEvent) -> None:
        process = self._process(event.space, event.vpid)
        if event.name == _NAME_EVENT:
            name = event.fields.get("procname")
            process.name = name if isinstance(name, str) else process.name
            return
        if not self._follower.apply(event):
            return
        self._column.image_changed(event.space, event.vpid)
        base = event.fields.get("baddr")
        if isinstance(base, int) and base >= 0:
            image = self._follower.images(event.space).of(event.vpid)
            mapping = image.find(Address(base))
            if mapping is not None:
                self._use(process, mapping)

    def _use(self, process: _Process, mapping: Mapping) -> _Use:
        """Return the entry of an object; a build ID that comes later belongs to it."""
        uses = process.objects.setdefault((mapping.base, mapping.path), [])
        for use in reversed(uses):
            if use.mapping == mapping or _completes(mapping, use.mapping):
                use.mapping = mapping
                return use
            if _completes(use.mapping, mapping):
                return use
        use = _Use(mapping, len(self.addresses))
        uses.append(use)
        return use

    def _process(self, space: int, vpid: Vpid) -> _Process:
        return self.processes.setdefault((space, vpid), _Process())


def _all_code(mapping: Mapping) -> Mapping:
    """Return what stands for all functions that a trace describes: there are many."""
    base = Address(mapping.base & -_CODE_SPACE)
    return Mapping(base, _CODE_SPACE, _CODE_NAME, is_pic=True, code=(_CODE_NAME, 0))


def _completes(mapping: Mapping, other: Mapping) -> bool:
    """Tell whether a mapping says the same as another one, and more."""
    return mapping.size == other.size and all(
        before in (None, after)
        for before, after in (
            (other.build_id, mapping.build_id),
            (other.debug_link, mapping.debug_link),
            (other.modified, mapping.modified),
        )
    )


class _Ranges:
    # The addresses that any of some mappings covers.

    def __init__(self, mappings: Iterable[Mapping]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted((one.base, one.end) for one in mappings):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, address: int) -> bool:
        index = bisect_right(self._starts, address)
        return bool(index) and address < self._ends[index - 1]


def _is_ours(stream: Stream) -> bool:
    return stream.trace.parsed.environment.get("tracer_name") == "vestige"


def _processes(
    walk: _Walk, resolver: Resolver, streams: Sequence[Stream]
) -> Iterator[ProcessReport]:
    traces = {stream.process_space: stream.trace for stream in streams}
    ours = {stream.process_space: _is_ours(stream) for stream in streams}

    def order(row: tuple[tuple[int, Vpid], _Process]) -> tuple[int, Vpid, int]:
        (space, vpid), _ = row
        return traces[space].index, vpid, space

    counts = walk.counts
    for (space, vpid), process in sorted(walk.processes.items(), key=order):
        info = traces[space]
        identity = info.parsed.identity
        name = process.name or info.parsed.environment.get("procname")
        uses = [use for uses in process.objects.values() for use in uses]
        objects = [_object(use, resolver, walk.addresses, counts) for use in uses]
        objects.sort(key=lambda one: (-one.events, one.mapping.base))
        yield ProcessReport(
            info.name,
            vpid,
            str(name) if name else None,
            None if identity is None else identity.hex(),
            ours[space],
            objects,
            _absent(process, uses, walk.addresses, counts),
        )


def _object(
    use: _Use,
    resolver: Resolver,
    addresses: Sequence[Address],
    counts: Sequence[int],
) -> MappedObject:
    report = MappedObject(use.mapping, resolver.finder, variants=tuple(use.variants))
    places = resolver.resolve_many(
        (use.functions.get(index, use.mapping), addresses[index])
        for index in use.places
    )
    if places:
        report.problems = resolver.problems(use.mapping)
    for index, place in zip(use.places, places, strict=True):
        events = counts[index]
        report.events += events
        if isinstance(place, Unresolved):  # pragma: no cover - of no mapped object
            continue
        report.places[addresses[index]] = place
        report.events_with_function += events if place.function else 0
        report.events_with_line += events if place.line else 0
        if place.shortfall is not None:
            reason = place.shortfall.reason.value
            report.shortfalls[reason] = report.shortfalls.get(reason, 0) + events
    return report


def _absent(
    process: _Process,
    uses: Sequence[_Use],
    addresses: Sequence[Address],
    counts: Sequence[int],
) -> list[AbsentObject]:
    found: dict[Absence, AbsentObject] = {}
    covered = _Ranges(use.mapping for use in uses)
    for index in process.absent:
        address = addresses[index]
        covering: list[_Use] = []
        if address in covered:
            covering = [use for use in uses if use.mapping.covers(address)]
        if not uses:
            absence = Absence.NO_STATE_DUMP
        elif any(use.known_addresses > index for use in covering):
            absence = Absence.BEFORE
        else:
            absence = Absence.AFTER if covering else Absence.OUTSIDE
        entry = found.setdefault(absence, AbsentObject(absence))
        entry.events += counts[index]
        entry.addresses.append(address)
    for entry in found.values():
        entry.addresses = sorted(set(entry.addresses))
    return sorted(found.values(), key=lambda entry: -entry.events)
