"""Traces that are read together, as Babeltrace 1 has them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

from ...components.sources.ctf_fs import CtfFsSource
from ...errors import VestigeError
from ...graph import Stream
from ...trace import Trace
from ...trace import open as open_trace
from .declarations import EventDeclaration, event_declarations
from .event import Event

__all__ = ["TraceCollection", "TraceHandle"]


class TraceHandle:
    """A trace of a collection.

    Args:
        number: Its number in the collection.
        path: Its directory.
    """

    def __init__(self, number: int, path: str) -> None:
        self._number = number
        self._path = path

    def __repr__(self) -> str:
        return f"Babeltrace TraceHandle: trace_id('{self._number}')"

    @property
    def id(self) -> int:
        """Its number in the collection."""
        return self._number

    @property
    def path(self) -> str:
        """Its directory."""
        return self._path

    @property
    def _streams(self) -> list[Stream]:
        return CtfFsSource([self._path]).streams

    @property
    def timestamp_begin(self) -> int:
        """When its first packet begins, nanoseconds from the origin of its clock."""
        return min(begin for begin, _ in self._ranges())

    @property
    def timestamp_end(self) -> int:
        """When its last packet ends, nanoseconds from the origin of its clock."""
        return max(end for _, end in self._ranges())

    def _ranges(self) -> list[tuple[int, int]]:
        ranges = (stream.handle.time_range() for stream in self._streams)
        return [one for one in ranges if one is not None] or [(0, 0)]

    @property
    def events(self) -> Iterator[EventDeclaration]:
        """The classes of its events."""
        streams = self._streams
        if streams:
            yield from event_declarations(streams[0].trace.trace_class)


class TraceCollection:
    """Traces that are read together.

    Args:
        intersect_mode: Whether only the time counts in which all streams of a trace
            are active.
    """

    def __init__(self, intersect_mode: bool = False) -> None:
        self._intersect_mode = intersect_mode
        self._handles: list[TraceHandle] = []
        self._next_number = 0
        self._opened: Trace | None = None

    def add_trace(self, path: str, format_str: str) -> TraceHandle | None:
        """Add a trace.

        Args:
            path: Its directory.
            format_str: Its format: ``ctf``.

        Returns:
            Its handle; ``None`` if there is no such trace, or no such format.
        """
        path = os.fspath(path)
        if format_str != "ctf" or not (Path(path) / "metadata").is_file():
            return None
        try:
            CtfFsSource([path])
        except (OSError, VestigeError):
            return None
        handle = TraceHandle(self._next_number, path)
        self._next_number += 1
        self._handles.append(handle)
        self._opened = None
        return handle

    def add_traces_recursive(
        self, path: str, format_str: str
    ) -> dict[str, TraceHandle] | None:
        """Add all traces at or below a path.

        Args:
            path: The path.
            format_str: Their format: ``ctf``.

        Returns:
            Their handles, by their directories; ``None`` if none can be used of those
            that there are.
        """
        handles: dict[str, TraceHandle] = {}
        failed = False
        for directory, _, files in os.walk(path):
            if "metadata" in files:
                handle = self.add_trace(directory, format_str)
                if handle is None:
                    failed = True
                else:
                    handles[directory] = handle
        return None if failed and not handles else handles

    def remove_trace(self, trace_handle: TraceHandle) -> None:
        """Remove a trace.

        Args:
            trace_handle: Its handle.

        Raises:
            TypeError: It is no handle.
        """
        if not isinstance(trace_handle, TraceHandle):
            raise TypeError(
                "in remove_trace, argument 2 must be a TraceHandle instance"
            )
        self._handles = [one for one in self._handles if one is not trace_handle]
        self._opened = None

    @property
    def intersect_mode(self) -> bool:
        """Whether only the time counts in which all streams of a trace are active."""
        return self._intersect_mode

    @property
    def has_intersection(self) -> bool:
        """Whether there is a time in which all streams of a trace are active.

        Each file is a stream of its own here: files that follow each other have none.
        """
        for handle in self._handles:
            if any(len(stream.handle.paths) > 1 for stream in handle._streams):
                return False
            ranges = handle._ranges()
            if max(begin for begin, _ in ranges) >= min(end for _, end in ranges):
                return False
        return bool(self._handles)

    def _trace(self) -> Trace:
        if self._opened is None:
            self._opened = open_trace(
                [handle.path for handle in self._handles],
                debug_info=False,
                stream_intersection=self._intersect_mode,
            )
        return self._opened

    @property
    def events(self) -> Iterator[Event]:
        """All events, in the order of their times."""
        if not self._handles or (self._intersect_mode and not self.has_intersection):
            return iter(())
        return self._events(self._trace())

    def events_timestamps(
        self, timestamp_begin: int, timestamp_end: int
    ) -> Iterator[Event]:
        """Return the events of a range of time.

        Args:
            timestamp_begin: Its beginning, nanoseconds from the origin of the clock.
            timestamp_end: Its end; included.
        """
        if not self._handles:
            return iter(())
        wanted = self._trace().events(begin=timestamp_begin, end=timestamp_end)
        return self._events(wanted)

    def _events(self, selection: Any) -> Iterator[Event]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            events = iter(selection)
        return map(Event, events, repeat(self))

    @property
    def timestamp_begin(self) -> int | None:
        """The time of the first event, or ``None``."""
        span = self._trace().time_span if self._handles else None
        return None if span is None else span[0]

    @property
    def timestamp_end(self) -> int | None:
        """The time of the last event, or ``None``."""
        span = self._trace().time_span if self._handles else None
        return None if span is None else span[1]

    def _handle_of(self, stream: Any) -> TraceHandle | None:
        """Return the handle of the trace that a data stream is of."""
        directory = Path(stream.path).resolve().parent
        for handle in self._handles:
            if Path(handle.path).resolve() == directory:
                return handle
        return None
