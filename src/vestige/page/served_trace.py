"""A trace as the server of the page reads it: on demand, again when it has grown."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..analysis.calls import CallTree
from ..analysis.intervals import (
    GrowingIntervals,
    IndexFile,
    Intervals,
    intervals_of,
)
from ..analysis.locks import Locks, read_locks
from ..analysis.turns import Turns, read_turns
from ..components.sources.ctf_fs import CtfFsSource
from ..damage import Damage
from ..debuginfo import Resolver
from ..graph import Filter
from ..graph.growing import Feed
from .call_facts import FunctionTable, tree
from .event_rows import EventRows
from .meta import meta_of
from .sources import SourceLines
from .waits import read_waits

__all__ = ["Opener", "ServedTrace"]

LONGEST = 10
"""The longest calls of each function that are kept."""
_PATIENCE = 4
"""A trace that grows is shown anew after so many times as long as that takes."""
_FIRST, _NEXT = 10.0, 1.0
"""How long what has come is read before it is shown, seconds: at first, and then."""
_WIDEST = 4096
"""Widths of the finest level in which calls are asked for one by one."""


class Opener(NamedTuple):
    """How traces are opened, again where they grow."""

    title: str
    """What they are called."""
    source: Callable[[], CtfFsSource]
    """Opens them, as they are now."""
    resolver: Callable[[CtfFsSource], Resolver]
    """Returns what names functions."""
    place: Callable[[CtfFsSource], IndexFile | None]
    """Returns where their index is kept; ``None`` for nowhere."""
    is_growing: Callable[[], bool]
    """Tells whether more is recorded."""
    feeds: Callable[[CtfFsSource], Sequence[Feed] | None] = lambda _: None
    """Returns what reads traces that grow, each event record once; ``None`` if they
    must be read from the beginning each time."""
    places: Callable[[CtfFsSource], Filter | None] = lambda _: None
    """Returns what adds places to events."""
    is_followed: bool = False
    """Whether the end is shown first, and moved on with."""


class _Read(NamedTuple):
    # What was read of traces.
    source: CtfFsSource
    files: object
    """Sizes of the files, by which it is seen that they have grown."""
    resolver: Resolver
    intervals: Intervals
    calls: CallTree | None
    locks: Locks | None = None
    turns: Turns | None = None


class _State:
    """What was read of traces at some time, and what the page is told of it."""

    def __init__(self, version: int, read: _Read, title: str) -> None:
        self.version = version
        self.read = read
        intervals = read.intervals
        self.functions = FunctionTable(intervals.functions)
        widths = [width for width, _ in intervals.levels]
        self.meta = meta_of(
            title,
            intervals,
            read.calls,
            widths,
            self.functions,
            read.locks,
            read.turns,
        )
        self.events = EventRows(intervals.streams, intervals)


class ServedTrace:
    """Answers what the page asks of traces.

    Several pages may ask at once. One of them at a time reads on, and the others get
    what there is until then; parts of the traces are read one at a time, too.

    Args:
        opener: Opens them.

    Raises:
        NotATraceError: They are none.
        TraceFormatError: They cannot be read.
    """

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._lines = SourceLines()
        self._reading = threading.Lock()
        self._reading_on = threading.Lock()
        self._again = 0.0
        self._is_completing = False
        self._growing: GrowingIntervals | None = None
        self._of: list[Path] = []
        self._state = self._read(0)

    @property
    def damage(self) -> list[Damage]:
        """What could not be read."""
        return self._state.read.intervals.damage

    def _read(self, version: int) -> _State:
        """Read traces from the beginning."""
        start = time.monotonic()
        source = self._opener.source()
        self._growing = None
        if self._opener.is_growing():
            feeds = self._opener.feeds(source)
            if feeds is not None:
                return self._follow(version, source, feeds)
        read = self._read_once(source)
        self._wait(start)
        return _State(version, read, self._opener.title)

    def _read_once(self, source: CtfFsSource) -> _Read:
        files = _sizes(source)
        resolver = self._opener.resolver(source)
        # An index of what grows is stale at once.
        place = None if self._opener.is_growing() else self._opener.place(source)
        intervals, calls = intervals_of(source, resolver, place=place, needs_tree=True)
        return _Read(source, files, resolver, intervals, calls)

    def _wait(self, start: float) -> None:
        now = time.monotonic()
        self._again = now + _PATIENCE * (now - start)

    def _follow(
        self, version: int, source: CtfFsSource, feeds: Sequence[Feed]
    ) -> _State:
        """Begin to read traces that grow."""
        resolver = self._opener.resolver(source)
        self._growing = GrowingIntervals(feeds, resolver, longest=LONGEST)
        self._of = [*source.directories]
        self._growing.advance(_FIRST)
        start = time.monotonic()
        read = self._so_far(self._growing, source, resolver)
        self._wait(start)
        return _State(version, read, self._opener.title)

    def _so_far(
        self, growing: GrowingIntervals, source: CtfFsSource, resolver: Resolver
    ) -> _Read:
        intervals, calls = growing.so_far(source)
        return _Read(source, None, resolver, intervals, calls)

    def _read_on(self) -> None:
        """Read what has come since."""
        state, growing = self._state, self._growing
        version = state.version + 1
        if growing is None:
            if _sizes(state.read.source) != state.read.files:
                self._state = self._read(version)
            return
        if not growing.advance(_NEXT):
            return
        start = time.monotonic()
        source = self._opener.source()
        if growing.has_ended or source.directories != self._of:
            # In the end the clock is known best, and there may be an index; and there
            # may be traces of other programs.
            self._state = self._read(version)
            self._complete()
            return
        read = self._so_far(growing, source, state.read.resolver)
        self._state = _State(version, read, self._opener.title)
        self._wait(start)

    def complete_later(self) -> None:
        """Read what an index does not tell, while pages are shown already."""
        self._is_completing = True
        threading.Thread(target=self.complete, daemon=True).start()

    def complete(self) -> None:
        """Read what an index does not tell: waits for mutexes, what threads did."""
        with self._reading_on:
            self._complete()
        self._is_completing = False

    def _complete(self) -> None:
        if self._growing is not None:
            return
        read, version = self._state.read, self._state.version
        source, places = read.source, self._opener.places
        locks = read_waits(
            source.streams,
            lambda most: read_locks(source, places(source), longest=most),
        )
        turns = read_turns(source.streams)
        if locks is not None or turns is not None:
            read = read._replace(locks=locks, turns=turns)
            self._state = _State(version + 1, read, self._opener.title)

    def meta(self) -> dict[str, Any]:
        """Return what the page is told of the trace; see ``PageData``."""
        is_growing = self._opener.is_growing()
        is_due = time.monotonic() >= self._again
        if is_due and self._reading_on.acquire(blocking=False):
            try:
                self._read_on()
            finally:
                self._reading_on.release()
        state = self._state
        is_growing = is_growing or self._growing is not None
        awaits_more = is_growing or self._is_completing
        return {
            **state.meta,
            "version": state.version,
            "isGrowing": awaits_more,
            "isFollowed": self._opener.is_followed,
        }

    def blocks(self, level: int, begin: int, end: int) -> bytes:
        """Return the blocks of a level; see ``PageData``."""
        intervals = self._state.read.intervals
        if not 0 <= level < len(intervals.levels):
            raise IndexError("no such level")
        return intervals.blocks(level, begin, end)

    def window(self, begin: int, end: int) -> bytes:
        """Return single calls; see ``PageData``."""
        intervals = self._state.read.intervals
        if end - begin > _WIDEST * intervals.levels[0][0]:
            raise ValueError("too wide for single calls")
        with self._reading:
            return intervals.window(begin, end)

    def tree(self, begin: int, end: int) -> dict[str, Any]:
        """Return the call tree of a range; see ``PageData``."""
        state = self._state
        with self._reading:
            root = state.read.intervals.call_root(begin, end)
            return tree(root, state.functions)

    def events(self, begin: int, end: int, limit: int) -> dict[str, Any]:
        """Return event records; see ``PageData``."""
        with self._reading:
            return self._state.events.between(begin, end, limit)

    def source(self, function: int) -> dict[str, Any] | None:
        """Return the lines around the begin of a function; see ``PageData``."""
        functions = self._state.functions.functions
        if not 0 <= function < len(functions):
            raise IndexError("no such function")
        return self._lines.around(functions[function].source)


def _sizes(source: CtfFsSource) -> object:
    found = {}
    for directory in source.directories:
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    found[entry.path] = entry.stat().st_size
        except OSError:
            continue  # it is gone: what was read of it stays
    return found
