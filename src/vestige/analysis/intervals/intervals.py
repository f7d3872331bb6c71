"""Calls as intervals of time: :class:`Intervals`, and where they come from.

They are made in one pass over the traces, the one that makes the call tree, and kept
in an index: a timeline at several levels of detail, and points of time at which it is
known what is open. With it, what is in a part of the time is found without what is
before.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ... import core
from ...damage import Damage
from ...debuginfo import CALL_ENTRY_EVENTS, CALL_EXIT_EVENTS, DebugFileFinder, Resolver
from ...graph import Selection, Stream, merges
from ...graph.stream import namespace_of
from ...units import Nanoseconds, Vpid
from ..call_nodes import CallNode, merged
from ..call_reader import Names, TraceSource, call_tree
from ..calls import CallTree
from ..fold_trees import fold_nodes
from ..functions import Function
from ..threads import Process, Thread, own_name
from .facts import function_ids, read_facts, write_facts
from .index_cache import IndexFile
from .stored_calls import read_calls, write_calls

__all__ = ["Intervals", "Loss", "Row", "intervals_of"]

EARLIEST, LATEST = -(1 << 63), (1 << 63) - 1
"""All times are between these."""

BLOCK_WIDTHS = (4, 2, 1, 4, 8, 8, 4, 8)
"""Widths of the columns of :meth:`Intervals.blocks`, bytes."""

LONGEST = 10
"""How many of the longest calls of each function an index has."""

_ANY_STREAM = (1 << 32) - 1
_BETWEEN = b"\n"
"""What is between the two parts of what an index says in JSON, which is on one line."""
_UNKNOWN = Function("(unknown)")


@dataclass(frozen=True, slots=True)
class Loss:
    """What the tracer lost."""

    row: int | None
    """Index of the row, if only that of one thread can be lost."""
    begin: Nanoseconds | None
    """Earliest time of it, nanoseconds."""
    end: Nanoseconds | None
    """Latest time of it, nanoseconds."""
    count: int | None
    """How many were lost, if the trace tells."""
    kind: str
    """``events`` or ``packets``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a timeline: the calls of a thread, or its other event records."""

    process: Process
    """The process."""
    tid: int | None
    """Thread ID, where the trace tells."""
    name: str | None
    """What it is called, where that is not the name of the process."""
    kind: Literal["calls", "events"]
    """What is on it."""
    depth: int
    """How many calls are within each other at most: 1 for other event records."""
    begin: Nanoseconds
    """Time of its first event record, nanoseconds."""
    end: Nanoseconds
    """Time of its last one, nanoseconds."""
    events: int
    """The number of its event records."""
    calls: int
    """How many of them are entries of functions."""

    @property
    def thread(self) -> Thread:
        """The thread."""
        return Thread(
            process=self.process,
            tid=self.tid,
            name=self.name,
            begin=self.begin,
            end=self.end,
            events=self.events,
            calls=self.calls,
        )


class Intervals:
    """What is known of traces as intervals of time.

    Args:
        index: The core's index.
        streams: The data streams of the traces.
    """

    def __init__(self, index: core.IntervalIndex, streams: Sequence[Stream]) -> None:
        told, _, self._told_of_calls = index.facts.partition(_BETWEEN)
        facts = read_facts(told)
        self.index = index
        """The core's index."""
        self.streams = sorted(streams, key=Stream.order_key)
        """The data streams, in the order that decides ties."""
        self.functions: list[Function] = [*facts["functions"], _UNKNOWN]
        """The functions by number; the last one stands for those that are not known."""
        self.finest, sizes = index.levels()
        self.levels: list[tuple[int, int]] = sizes
        """How long a call is at least that is shown by itself, nanoseconds, and how
        many blocks of calls there are: for each level, from the finest one on."""
        self.names: dict[tuple[int, int], str] = facts["names"]
        """Names of processes, by process space and process ID."""
        self.thread_names: dict[tuple[int, int, int], str] = facts["threads"]
        """Names of threads, by thread ID, too."""
        self.has_codes: bool = facts["codes"]
        """Whether there are functions of Python."""
        self.rows = self._rows()
        """The rows: those of calls, then those of other event records."""
        self.losses = [
            Loss(self._row_of(number), *times) for number, *times in facts["losses"]
        ]
        """What was lost."""
        self.damage: list[Damage] = facts["damage"]
        """What could not be read of the traces."""
        known = [row for row in self.rows if row.events]
        self.begin = min((row.begin for row in known), default=Nanoseconds(0))
        """Time of the first event record, nanoseconds."""
        self.end = max((row.end for row in known), default=self.begin)
        """Time of the last one, nanoseconds."""

    def _rows(self) -> list[Row]:
        traces = {stream.process_space: stream.trace for stream in self.streams}
        calls, others = self.index.rows()
        depths = self._depths()
        kinds: list[Literal["calls", "events"]] = ["calls"] * len(calls)
        kinds += ["events"] * len(others)
        rows = []
        processes = _processes([*calls, *others])
        both = zip([*calls, *others], kinds, strict=True)
        for number, (one, kind) in enumerate(both):
            stream, space, pid, tid, first, last, records, entries = one
            pid = processes.get((stream, space, tid), pid) if pid < 0 else pid
            trace = traces.get(space)
            named = self.names.get((space, pid))
            if named is None and trace is not None:
                named_by = trace.parsed.environment.get("procname")
                named = None if named_by is None else str(named_by)
            is_stream = tid < 0 and stream < len(self.streams)
            told = self.thread_names.get((space, pid, tid))
            name = self.streams[stream].name if is_stream else own_name(told, named)
            process = Process(
                pid=None if pid < 0 else Vpid(pid),
                name=named,
                trace="" if trace is None else trace.name,
                namespace=namespace_of(space),
            )
            row = Row(
                process=process,
                tid=None if tid < 0 else tid,
                name=name,
                kind=kind,
                depth=depths.get(number, 1),
                begin=Nanoseconds(first),
                end=Nanoseconds(last),
                events=records,
                calls=entries,
            )
            rows.append(row)
        return rows

    def _depths(self) -> dict[int, int]:
        """Return how many calls are within each other in each row."""
        coarsest = self.finest + len(self.levels) - 1
        blocks = self.index.blocks(coarsest, EARLIEST, LATEST, 0)
        count = len(blocks) // sum(BLOCK_WIDTHS)
        view = memoryview(blocks)
        rows = view[: 4 * count].cast("I")
        depths = view[4 * count : 6 * count].cast("H")
        found: dict[int, int] = {}
        for row, depth in zip(rows, depths, strict=True):
            found[row] = max(found.get(row, 0), depth + 1)
        return found

    def _row_of(self, stream: int | None) -> int | None:
        """Return the row of a data stream that is of one thread alone."""
        calls, others = self.index.rows()
        found = [
            index for index, row in enumerate([*calls, *others]) if row[0] == stream
        ]
        return found[0] if found and stream != _ANY_STREAM else None

    def threads(self) -> list[Thread]:
        """Return the threads, with all of their event records counted."""
        found: dict[Thread, Thread] = {}
        for one in (row.thread for row in self.rows):
            known = found.get(one)
            if known is None:
                found[one] = one
                continue
            found[one] = Thread(
                process=one.process,
                tid=one.tid,
                name=known.name or one.name,
                begin=min(known.begin or 0, one.begin or 0, key=int),  # type: ignore[arg-type] # both are known
                end=max(known.end or 0, one.end or 0, key=int),  # type: ignore[arg-type] # as above
                events=known.events + one.events,
                calls=known.calls + one.calls,
            )
        return list(found.values())

    def call_tree(self) -> CallTree | None:
        """Return the call tree of the whole traces, as far as the index has it.

        Returns:
            The calls of each thread, and how long they took, without spans and
            coroutines; ``None`` where that is not kept, as of traces that grow.

        Raises:
            ValueError: The index says anything else.
        """
        if not self._told_of_calls:
            return None
        tree = read_calls(self._told_of_calls, self.functions[:-1])
        tree.damage = [*self.damage]
        return tree

    def blocks(self, level: int, begin: int, end: int) -> bytes:
        """Return the blocks of a level of which any part is in a range of time.

        Args:
            level: The index of a level in :attr:`levels`.
            begin: First time, nanoseconds since :attr:`begin`.
            end: Last time, nanoseconds since :attr:`begin`.

        Returns:
            Columns, one after the other, as ``IntervalIndex.blocks`` has them, by row,
            depth and start.
        """
        limit = LATEST - max(self.begin, 0)
        first, last = (self.begin + min(time, limit) for time in (begin, end))
        return self.index.blocks(self.finest + level, first, last, self.begin)

    def packed(self, level: int) -> bytes | None:
        """Return all blocks of a level, packed as ``IntervalIndex.grouped`` does.

        Args:
            level: The index of a level in :attr:`levels`.

        Returns:
            The bytes; ``None`` if blocks overlap, which a damaged index may say.
        """
        return self.index.packed(self.finest + level, self.begin)

    def other_spans(self, begin: int, end: int) -> list[tuple[int, int]]:
        """Return the parts of a range in which there are records that are no calls.

        Args:
            begin: First time, nanoseconds since :attr:`begin`.
            end: Last time, nanoseconds since :attr:`begin`.

        Returns:
            Begin and end of each part, likewise, in order; both are included.
        """
        found = self.index.other_spans(self.begin + begin, self.begin + end)
        return [(first - self.begin, last - self.begin) for first, last in found]

    def window(self, begin: int, end: int) -> bytes:
        """Return the calls of which any part is in a range of time, one by one.

        They are read from the trace, from the last point before the range on at which
        it is known what is open. A call that the range cuts is there with the part that
        is inside.

        Args:
            begin: First time, nanoseconds since :attr:`begin`.
            end: Last time, nanoseconds since :attr:`begin`.

        Returns:
            Columns as those of :meth:`blocks`, each block a call.
        """
        fold, from_time = self.fold(self.begin + begin, self.begin + end)
        fold.keep_calls()
        for _ in self.read(fold, from_time, self.begin + end, in_order=False):
            pass
        return fold.take_blocks(self.begin)

    def call_root(self, begin: int, end: int) -> CallNode:
        """Return the calls of a range of time as one tree, those of all threads.

        As with :meth:`window`, nothing is read that is long before the range.

        Args:
            begin: First time, nanoseconds since :attr:`begin`.
            end: Last time, nanoseconds since :attr:`begin`.
        """
        fold, from_time = self.fold(self.begin + begin, self.begin + end)
        for _ in self.read(fold, from_time, self.begin + end, in_order=False):
            pass
        rows = fold.nodes()
        nodes = fold_nodes(fold, self.functions, is_range=True)
        return merged(
            node
            for number, (node, row) in enumerate(zip(nodes, rows, strict=True))
            if row[0][0] == number
        )

    def fold(self, begin: int, end: int) -> tuple[core.CallFold, int | None]:
        """Return a fold of what is in a range of time; see ``IntervalIndex.fold``.

        Args:
            begin: First time, nanoseconds.
            end: Last time, nanoseconds.
        """
        return self.index.fold(
            list(CALL_ENTRY_EVENTS), list(CALL_EXIT_EVENTS), begin, end
        )

    def read(
        self,
        fold: core.CallFold,
        begin: int | None,
        end: int,
        *,
        in_order: bool = True,
    ) -> Iterator[core.Merge]:
        """Read a part of the traces into a fold.

        Args:
            fold: The fold.
            begin: From when on, nanoseconds; from the beginning by default.
            end: Up to when, nanoseconds.
            in_order: Whether calls of different threads have to come in order.

        Yields:
            Each merge, when it is folded; the last thing is the end of the fold.
        """
        wanted = Selection(begin=begin, end=None if end == LATEST else end)

        def loose(stream: Stream) -> list[bool]:
            return [] if in_order else fold.loose_classes(stream.handle)

        # Damage was told when the index was made.
        for merge in merges(self.streams, wanted, loose=loose, tell=lambda _: None):
            fold.begin(merge)
            while fold.advance() is not None:
                pass
            yield merge
        fold.finish()


class _Keeper:
    # Makes the index while the call tree is made.

    def __init__(self, streams: Iterable[Stream], every: int | None) -> None:
        self._streams = sorted(streams, key=Stream.order_key)
        self._every = every
        self.index: core.IntervalIndex | None = None

    def begin(self, fold: core.CallFold) -> None:
        if self._every is None:
            fold.keep_intervals()
        else:
            fold.keep_intervals(self._every)

    def finish(
        self,
        fold: core.CallFold,
        functions: Sequence[Function],
        names: Names,
        tree: CallTree,
    ) -> None:
        ids, known = function_ids(functions)
        told_of = (tree.losses, self._streams, tree.damage)
        facts = write_facts(known, names, *told_of, has_codes=fold.has_codes)
        told = _BETWEEN.join((facts, write_calls(tree, known)))
        self.index = fold.take_index(told, ids)


def _processes(rows: Sequence[tuple[int, ...]]) -> dict[tuple[int, int, int], int]:
    """Return of which process threads are that have some rows without a process.

    Event record classes of one data stream can differ in whether they tell it.

    Returns:
        The process ID by data stream, space of process IDs and thread ID, where it is
        the only one.
    """
    found: dict[tuple[int, int, int], set[int]] = {}
    for stream, space, pid, tid, *_ in rows:
        if pid >= 0 and tid >= 0:
            found.setdefault((stream, space, tid), set()).add(pid)
    return {key: pids.pop() for key, pids in found.items() if len(pids) == 1}


def intervals_of(  # noqa: PLR0913 - what is read, and where it is kept
    source: TraceSource,
    resolver: Resolver | None = None,
    *,
    place: IndexFile | None = None,
    longest: int = LONGEST,
    every: int | None = None,
    needs_tree: bool = False,
    progress: Callable[[int], object] | None = None,
) -> tuple[Intervals, CallTree | None]:
    """Return the intervals of traces: those of an index, or new ones.

    Args:
        source: The traces.
        resolver: Finds object and debug files, and looks addresses up in them.
        place: Where there may be an index, and where a new one is kept; one of damaged
            traces has what is left of them, and tells of the damage.
        longest: How many of the longest calls of each function a new index has.
        every: How many event records there are at least between two points where a
            reading may begin; many by default.
        needs_tree: Whether the call tree is wanted, too.
        progress: Called with the number of event records read so far.

    Returns:
        The intervals, and the call tree if it is wanted or the traces were read; that
        of an index is as :meth:`Intervals.call_tree` has it.
    """
    known = None if place is None else place.read()
    if known is not None:
        with contextlib.suppress(ValueError):
            intervals = Intervals(known, source.streams)
            tree = intervals.call_tree() if needs_tree else None
            if tree is not None or not needs_tree:
                return intervals, tree
    keeper = _Keeper(source.streams, every)
    resolver = resolver or Resolver(DebugFileFinder())
    tree = call_tree(
        source, resolver, longest=longest, keeper=keeper, progress=progress
    )
    if keeper.index is None:
        raise RuntimeError("the fold of calls kept no index")
    if place is not None:
        place.write(keeper.index)
    return Intervals(keeper.index, source.streams), tree
