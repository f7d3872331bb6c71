"""A trace as the server of the page reads it: on demand, again when it has grown."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from ..analysis.call_reader import call_tree
from ..analysis.calls import CallTree
from ..analysis.intervals import IndexFile, Intervals, intervals_of
from ..components.sources.ctf_fs import CtfFsSource
from ..damage import Damage
from ..debuginfo import Resolver
from .call_facts import FunctionTable, tree
from .event_rows import EventRows
from .meta import meta_of
from .sources import SourceLines

__all__ = ["Opener", "ServedTrace"]

LONGEST = 10
"""The longest calls of each function that are kept."""
_PATIENCE = 4
"""A trace that grows is read again after so many times as long as that takes."""
_WIDEST = 4096
"""Widths of the finest level in which calls are asked for one by one."""


class Opener(NamedTuple):
    """How traces are opened, again where they grow."""

    title: str
    """What they are called."""
    source: Callable[[], CtfFsSource]
    """Opens them."""
    resolver: Callable[[CtfFsSource], Resolver]
    """Returns what names functions."""
    place: Callable[[CtfFsSource], IndexFile | None]
    """Returns where their index is kept; ``None`` for nowhere."""
    is_growing: Callable[[], bool]
    """Tells whether more is recorded."""


class _Read(NamedTuple):
    # What was read of traces.
    source: CtfFsSource
    files: object
    """Sizes of the files, by which it is seen that they have grown."""
    resolver: Resolver
    intervals: Intervals
    calls: CallTree | None


class _State:
    """What was read of traces at some time, and what the page is told of it."""

    def __init__(self, version: int, read: _Read, title: str) -> None:
        self.version = version
        self.read = read
        intervals = read.intervals
        self.functions = FunctionTable(intervals.functions)
        widths = [width for width, _ in intervals.levels]
        self.meta = meta_of(title, intervals, read.calls, widths, self.functions)
        self.events = EventRows(read.source.streams, intervals.rows, intervals.begin)


class ServedTrace:
    """Answers what the page asks of traces.

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
        self._again = 0.0
        self._state = self._read(0)

    @property
    def damage(self) -> list[Damage]:
        """What could not be read, as far as it was tried."""
        read = self._state.read
        return [*(read.source.damage if read.calls is None else read.calls.damage)]

    def _read(self, version: int) -> _State:
        start = time.monotonic()
        source = self._opener.source()
        files = _sizes(source)
        resolver = self._opener.resolver(source)
        # An index of what grows is stale at once.
        place = None if self._opener.is_growing() else self._opener.place(source)
        intervals, calls = intervals_of(source, resolver, place=place, longest=LONGEST)
        now = time.monotonic()
        self._again = now + _PATIENCE * (now - start)
        read = _Read(source, files, resolver, intervals, calls)
        return _State(version, read, self._opener.title)

    def complete(self) -> None:
        """Read the sums of all calls, where an index told the rest."""
        state = self._state
        if state.read.calls is not None:
            return
        read = state.read
        calls = call_tree(read.source, read.resolver, longest=LONGEST)
        with self._reading:
            if self._state is state:
                read = read._replace(calls=calls)
                self._state = _State(state.version + 1, read, self._opener.title)

    def meta(self) -> dict[str, Any]:
        """Return what the page is told of the trace; see ``PageData``."""
        is_growing = self._opener.is_growing()
        state = self._state
        if time.monotonic() >= self._again:
            with self._reading:
                state = self._state
                if _sizes(state.read.source) != state.read.files:
                    state = self._state = self._read(state.version + 1)
        awaits_more = is_growing or state.read.calls is None
        return {**state.meta, "version": state.version, "isGrowing": awaits_more}

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
