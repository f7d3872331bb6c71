"""Reading call trees: from entries and exits of functions to :class:`CallTree`.

The Rust core folds the events into trees of addresses. What an address means changes
with time: ``dlclose`` and ``dlopen`` may put another object where one was. So a new
address is looked up in the image of its process when it is seen first, and again after
a change of the image that concerns it. Names come last, for each distinct address once.

Functions of Python have no object. Events tell of them, one for each code object, and a
program may make hundreds of thousands. The core reads these, and numbers functions by
what was told, not by address: equal ones are one function from the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Mapping as Fields

from .. import core
from .._typing import TYPE_CHECKING, Protocol
from ..damage import Damage
from ..debuginfo import (
    CALL_ENTRY_EVENTS,
    CALL_EXIT_EVENTS,
    CODE_EVENT,
    STATE_EVENT_NAMES,
    DebugFileFinder,
    ImageFollower,
    Mapping,
    Place,
    Resolver,
    StateEvent,
    Unresolved,
)
from ..graph import (
    Filter,
    Graph,
    LostNotice,
    Selection,
    Stream,
    check_filter,
    merges,
    notices_of,
)
from ..units import Address, Vpid
from .calls import CallTree
from .fold_trees import part_of_loss, tree_of
from .functions import Function
from .named_functions import named_functions
from .place_names import code_mapping
from .threads import Thread

if TYPE_CHECKING:
    from .turns import Turns

__all__ = [
    "CallReader",
    "FoldKeeper",
    "Names",
    "TraceSource",
    "call_tree",
]

Names = tuple[dict[tuple[int, int], str], dict[tuple[int, int, int], str]]
"""Names of processes, by process space and process ID; and of threads, by thread ID,
too."""
_DUMP_EVENT = "lttng_ust_statedump:start"
_NAME_EVENT = "lttng_ust_statedump:procname"
_LIBRARY_EVENT = "vestige_library:function"
"""Tells by which name a function of a library is called."""
_LAST_ADDRESS = (1 << 64) - 1


class TraceSource(Protocol):
    """What is needed of traces: :class:`vestige.Trace` and ``CtfFsSource`` have it."""

    @property
    def streams(self) -> Sequence[Stream]:
        """The data streams."""

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be opened."""


class FoldKeeper(Protocol):
    """Keeps more of a fold of calls than the call tree has."""

    def begin(self, fold: core.CallFold) -> None:
        """Say what the fold is to keep.

        Args:
            fold: The fold, before the first merge.
        """

    def finish(
        self,
        fold: core.CallFold,
        functions: Sequence[Function],
        names: Names,
        tree: CallTree,
    ) -> None:
        """Take what it kept.

        Args:
            fold: The fold, when all calls have ended.
            functions: The functions, by their numbers in the fold.
            names: Names of processes, by process space and process ID; and of threads.
            tree: The call tree, without spans and coroutines.
        """


def call_tree(  # noqa: PLR0913 - what is read, and what is kept of it
    source: TraceSource,
    resolver: Resolver | None = None,
    *,
    selection: Selection | None = None,
    call_filter: Filter | None = None,
    longest: int | None = None,
    threads: Sequence[int | Thread] | None = None,
    keeper: FoldKeeper | None = None,
    turns: Turns | None = None,
    progress: Callable[[int], object] | None = None,
) -> CallTree:
    """Read traces, and rebuild the calls of their threads.

    Args:
        source: The traces: :func:`vestige.open` returns such an object.
        resolver: Finds object and debug files, and looks addresses up in them.
        selection: Which part of the traces is read; all by default. An expression
            chooses calls by their entries, and their exits follow; the time of other
            calls is that of their callers, and neither spans nor coroutines are read.
        call_filter: Hides entries of calls, as ``CallDurationFilter`` does those of
            short ones; the time of these calls is that of their callers. Coroutines
            are not read, since some of their steps may be missing.
        longest: Keep how long complete calls took, and so many of the longest of each
            function; nothing of it by default.
        threads: The threads that are wanted, or their thread IDs; all by default.
        keeper: Keeps more of the fold than the call tree has.
        turns: What kernels tell of the threads, of which calls get their parts.
        progress: Called with the number of event records read so far.

    Returns:
        The call tree.

    Example:
        >>> from vestige.analysis import call_tree
        >>> tree = call_tree(vestige.open("my-trace"))
        >>> for one in tree.functions()[:10]:
        ...     print(one.function.name, one.calls, one.total)
    """
    resolver = resolver or Resolver(DebugFileFinder())
    expressions = () if selection is None else selection.filters
    _check_filters(expressions, source.streams)
    leaves_calls_out = bool(expressions) or call_filter is not None
    # What is open where a range begins is known from what is before it.
    is_range = selection is not None and selection.begin is not None
    reader = CallReader(resolver, needs_calls=leaves_calls_out or is_range)
    reader.longest, reader.wanted_threads = longest, threads
    reader.is_loose = not (leaves_calls_out or is_range)
    if selection is not None:
        reader.set_range(selection, source.streams)
    if longest is not None:
        reader.keep_durations(longest)
    if keeper is not None:
        keeper.begin(reader.fold)
    for space, thread, one in () if turns is None else turns.of_spaces():
        reader.fold.add_turns(space, thread, one.times, one.states)
    if threads is not None:
        reader.fold.choose_threads(_thread_choices(threads, source.streams))
    filters = [] if call_filter is None else [call_filter]
    damage = Graph([source], reader, filters, selection, progress=progress).run()
    functions = named_functions(reader, resolver)
    tree = tree_of(reader, reader.fold, functions, source.streams, is_range=is_range)
    tree.damage = damage
    tree.know_turns(turns)
    if keeper is not None:
        names = reader.names, reader.thread_names
        keeper.finish(reader.fold, functions, names, tree)
    if leaves_calls_out or is_range:
        tree.threads = [
            one for one in tree.threads if one.root.callees or one.unknown_exits
        ]
    if not expressions:
        _add_activities(tree, source.streams, resolver, selection, reader)
    if leaves_calls_out:
        tree.coroutines = []
    return tree


def _thread_choices(
    threads: Sequence[int | Thread], streams: Iterable[Stream]
) -> list[tuple[int | None, int | None, int | None]]:
    """Return threads as the core takes them."""
    choices: list[tuple[int | None, int | None, int | None]] = []
    spaces = {(one.trace.name, one.process_space) for one in streams}
    for one in threads:
        if isinstance(one, int):
            choices.append((None, None, one))
            continue
        pid, tid = (-1 if it is None else it for it in (one.process.pid, one.tid))
        choices += [
            (space, pid, tid) for name, space in spaces if name == one.process.trace
        ]
    return choices


def _check_filters(expressions: Iterable[str], streams: Sequence[Stream]) -> None:
    """Refuse expressions that are true of no entry of a function."""
    for expression in expressions:
        check_filter(
            expression,
            (
                (
                    stream,
                    [name in CALL_ENTRY_EVENTS for name in stream.event_names],
                )
                for stream in streams
            ),
        )


def _add_activities(
    tree: CallTree,
    streams: Sequence[Stream],
    resolver: Resolver,
    selection: Selection | None,
    reader: CallReader,
) -> None:
    """Read spans and coroutines, which only Python programs have."""
    if not reader.has_python:
        return
    # Other traces do not wait for the import.
    from .activities.reader import read_activities  # noqa: PLC0415 - see above

    tree.spans, tree.coroutines = read_activities(
        streams,
        resolver,
        selection,
        knows_waits=reader.has_python_calls,
        longest=reader.longest,
        threads=reader.wanted_threads,
        names=reader.names,
    )


class CallReader:
    """Folds the calls of merges, and follows the process images through them.

    Args:
        resolver: Looks addresses up in object and debug files.
        needs_calls: Whether entries and exits are needed that nobody wants to see.
    """

    looks_at_records = True
    checks_fields = False

    def __init__(self, resolver: Resolver, *, needs_calls: bool) -> None:
        self._resolver = resolver
        self.needed_events = STATE_EVENT_NAMES | {_NAME_EVENT, _LIBRARY_EVENT}
        if needs_calls:
            self.needed_events |= {*CALL_ENTRY_EVENTS, *CALL_EXIT_EVENTS}
        self.needs_early_losses = False
        """Whether exits may be lost of what is open where the range of time begins."""
        self._begin: int | None = None
        self.is_loose = False
        """Whether it is enough that each thread is in order, as far as images allow."""
        self.events = 0
        """Number of event records so far."""
        self.losses: list[LostNotice] = []
        """What the tracer lost."""
        self.fold = core.CallFold(
            list(CALL_ENTRY_EVENTS),
            list(CALL_EXIT_EVENTS),
            sorted(STATE_EVENT_NAMES - {CODE_EVENT} | {_NAME_EVENT, _LIBRARY_EVENT}),
            code_events=[CODE_EVENT],
        )
        self._follower = ImageFollower(self.fold, self._take_functions, self._add_sites)
        self.functions: list[tuple[int, int, int]] = []
        """Process space, process and address of each function of the fold."""
        self.mappings: list[Mapping | Unresolved] = []
        """The object at each of them, when it was seen first."""
        self.names: dict[tuple[int, int], str] = {}
        """Names of processes."""
        self.threads_called = core.ThreadNames()
        """Names of threads."""
        self.longest: int | None = None
        """How many of the longest are kept of spans and coroutines."""
        self.wanted_threads: Sequence[int | Thread] | None = None
        """The threads that are wanted; all by default."""
        self.called: dict[tuple[str, bytes | None, int], str] = {}
        """Names by which functions are called: object, build ID, and where in it."""
        self._early: dict[tuple[int, int], list[int]] = {}
        self.keeps_durations = False
        """Whether it is kept how long calls took."""
        self._behind: Callable[[], Iterator[core.Merge]] | None = None
        """Reads what is behind the range of time."""

    def keep_durations(self, longest: int) -> None:
        """Keep how long calls take.

        Args:
            longest: How many of the longest calls of each function are kept.
        """
        self.keeps_durations = True
        self.fold.keep_durations(longest)

    def set_range(self, selection: Selection, streams: Iterable[Stream]) -> None:
        """Cut calls at the ends of a range of time.

        Args:
            selection: The range.
            streams: The data streams: a call that is open where they end has no exit.
        """
        known = [*streams]
        handles = [stream.handle for stream in known]
        self.fold.set_range(selection.begin, selection.end, handles)
        self._begin = selection.begin
        self.needs_early_losses = selection.begin is not None
        if selection.end is not None:
            behind = Selection(begin=selection.end + 1)
            # Damage there is not of the range.
            self._behind = lambda: merges(known, behind, tell=lambda _: None)

    @property
    def thread_names(self) -> dict[tuple[int, int, int], str]:
        """Names of threads, by process space, process ID and thread ID."""
        return {
            (space, vpid, vtid): name
            for space, vpid, vtid, name in self.threads_called.rows()
        }

    @property
    def has_python(self) -> bool:
        """Whether there are places of Python code."""
        return self.fold.has_codes

    @property
    def has_python_calls(self) -> bool:
        """Whether calls of Python functions were recorded."""
        return any(
            isinstance(one, Mapping) and one.code is not None for one in self.mappings
        )

    def finish(self) -> None:
        """End what has not ended."""
        self._look_behind()
        self.fold.finish()

    def _look_behind(self) -> None:
        """Find out which threads go on behind the range of time."""
        left = {*self.fold.open_threads()}
        if self._behind is None or not left:
            return
        fold = core.CallFold([*CALL_ENTRY_EVENTS], [*CALL_EXIT_EVENTS], [])
        for merge in self._behind():
            fold.begin(merge)
            fold.advance()
            seen = left.intersection(row[:3] for row in fold.threads())
            self.fold.add_going_on([*seen])
            left -= seen
            if not left:
                return

    def loose_classes(self, stream: Stream) -> list[bool]:
        """Tell which event records need not be in order with those of other threads."""
        return self.fold.loose_classes(stream.handle) if self.is_loose else []

    def consume(self, merge: core.Merge) -> None:
        """Go through a merge."""
        # What is before the range is there for the calls that are open then.
        counted = merge if self._begin is None else merge.shown()
        self.events += len(counted)
        self.threads_called.add(merge)
        lost = (one for one in notices_of(merge) if isinstance(one, LostNotice))
        found = (part_of_loss(one, self._begin) for one in lost)
        self.losses += [one for one in found if one is not None]
        for event in self._follower.follow(merge):
            self._change_image(event)

    def _add_sites(self) -> None:
        """Tell the fold in which functions call sites are: they tell of jumps."""
        sites = self.fold.take_sites()
        if not sites:
            return
        # What is there is the address after the call.
        addresses = [Address(site - 1) for _, _, site in sites]
        found = [
            self._follower.images(space).find(Vpid(vpid), address)
            for (space, vpid, _), address in zip(sites, addresses, strict=True)
        ]
        places = self._resolver.resolve_many(zip(found, addresses, strict=True))
        self.fold.add_sites(
            [
                (*site, _beginning(place, address))
                for site, place, address in zip(sites, places, addresses, strict=True)
            ]
        )

    def _take_functions(self) -> None:
        for space, vpid, address, code in self.fold.take_functions():
            if code is None:
                found = self._object_at(space, vpid, address)
            else:
                found = code_mapping(code)
            self.functions.append((space, vpid, address))
            self.mappings.append(found)

    def _object_at(self, space: int, vpid: int, address: int) -> Mapping | Unresolved:
        """Look up the next function."""
        images = self._follower.images(space)
        found = images.find(Vpid(vpid), Address(address))
        if isinstance(found, Unresolved) and not images.of(Vpid(vpid)).mappings:
            # Called before the process had told of its objects.
            early = self._early.setdefault((space, vpid), [])
            early.append(len(self.functions))
        return found

    def _change_image(self, event: StateEvent) -> None:
        space, vpid = event.space, event.vpid
        if event.name == _NAME_EVENT:
            name = event.fields.get("procname")
            if isinstance(name, str):
                self.names[space, vpid] = name
            return
        if event.name == _LIBRARY_EVENT:
            self._take_name(event.fields, space, vpid)
            return
        image = self._follower.images(space).of(vpid)
        before = image.mappings
        has_changed = self._follower.apply(event)
        if event.name == _DUMP_EVENT:
            had_codes = self.fold.forget_codes(space, vpid)
            if before or had_codes:
                # A second dump: after exec() there are no open calls.
                self.fold.end_process(space, vpid)
        if not has_changed:
            return
        for mapping in _changed(before, image.mappings):
            last = min(mapping.end - 1, _LAST_ADDRESS)
            self.fold.forget(space, vpid, mapping.base, last)
        self._find_early(space, vpid)

    def _take_name(self, fields: Fields[str, object], space: int, vpid: int) -> None:
        """Take note of the name of a function: the same in all processes."""
        address, name = fields.get("addr"), fields.get("name")
        if not isinstance(address, int) or not isinstance(name, str) or not name:
            return
        found = self._follower.images(space).find(Vpid(vpid), Address(address))
        if not isinstance(found, Unresolved):
            self.called[found.path, found.build_id, address - found.base] = name

    def _find_early(self, space: int, vpid: int) -> None:
        early = self._early.get((space, vpid))
        if not early:
            return
        images = self._follower.images(space)
        left = []
        for index in early:
            found = images.find(Vpid(vpid), Address(self.functions[index][2]))
            self.mappings[index] = found
            if isinstance(found, Unresolved):
                left.append(index)
        self._early[space, vpid] = left


def _beginning(place: Place | Unresolved, address: Address) -> int:
    """Return where the function at an address begins; 0 if that is not known."""
    if isinstance(place, Unresolved) or place.function is None:
        return 0
    return max(address - place.offset, 0)


def _changed(before: Sequence[Mapping], after: Sequence[Mapping]) -> Iterator[Mapping]:
    """Iterate over the mappings that are in one image only."""
    known, now = {id(one) for one in before}, {id(one) for one in after}
    yield from (one for one in before if id(one) not in now)
    yield from (one for one in after if id(one) not in known)
