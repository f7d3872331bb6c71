"""What traces of a soak must, may and must not hold, and what they do hold."""

from __future__ import annotations

import copy
import os
import re
import subprocess
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

import vestige

from .soak_programs import EMITTERS, Counts, Numbers

__all__ = [
    "ABSENT",
    "MAY",
    "MUST",
    "Expected",
    "Found",
    "Window",
    "lost_in",
    "read_trace",
]

ABSENT, MAY, MUST = 0, 1, 2
States = npt.NDArray[np.int8]
"""One of these for each number."""
READ_SECONDS = 300.0
TOLD_LOSS = re.compile("Tracer (may have )?discarded ")
COLUMNS = [
    "timestamp",
    "stream_id",
    "writer",
    "number",
    "debug_info",
    "process",
    "event",
]


@dataclass
class Window:
    """What writers made while a command was at work: it may have come before or after."""

    before: Numbers
    """Events that each writer had certainly recorded when it began."""

    after: Numbers
    """Events that each had begun when it was done."""

    paused: set[int] = field(default_factory=set)
    """Processes that could not follow yet, nor could children that they fork meanwhile."""

    youngest: int | None = None
    """Children from this writer on may not have registered when it ended: they go on as
    their parents did."""

    def of(self, writer: int) -> tuple[int, int]:
        """Return the numbers that begin and end it."""
        return (
            int(self.before[writer]) if writer < len(self.before) else 0,
            int(self.after[writer]) if writer < len(self.after) else 0,
        )

    def settle(self, process: int, counts: Counts) -> None:
        """Note that a process has followed by now, which stood still before."""
        if process in self.paused:
            self.paused.remove(process)
            begun, processes, programs = _columns(counts)
            self._reach(begun, (processes == process) | (programs == process))

    def settle_children(self, counts: Counts) -> None:
        """Note that children have registered by now that were young."""
        if self.youngest is not None:
            begun, processes, programs = _columns(counts)
            are_children = processes != programs
            are_children[: self.youngest] = False
            self._reach(begun, are_children)
            self.youngest = None

    def _reach(self, begun: Numbers, mine: npt.NDArray[np.bool_]) -> None:
        """Let it end at what some writers have begun."""
        grown = np.zeros(len(begun), dtype=np.int64)
        grown[: len(self.after)] = self.after
        grown[mine] = begun[mine]
        self.after = grown


def _columns(counts: Counts) -> tuple[Numbers, Numbers, Numbers]:
    """Return what writers have begun, their processes and their programs.

    There may be more writers from one to the next.
    """
    begun = counts.begun()
    many = len(begun)
    return begun, counts.processes()[:many], counts.programs()[:many]


class Expected:
    """Which events of each writer a session has.

    Args:
        is_exact: Whether none may be lost.
        keeps_cleared: Whether what was thrown away may be there all the same.
    """

    def __init__(self, *, is_exact: bool, keeps_cleared: bool = False) -> None:
        self.is_exact = is_exact
        self._keeps_cleared = keeps_cleared
        self._changes: list[tuple[Window, bool]] = []
        self._kills: list[tuple[Window, bool]] = []
        self._cleared: list[tuple[Window | None, Window]] = []
        self._last: Window | None = None
        self._end: Window | None = None

    def change(self, window: Window, *, records: bool) -> None:
        """Note that the session records from now on, or does not."""
        self._changes.append((window, records))

    def daemon_killed(self, window: Window, *, in_memory: bool) -> None:
        """Note that nothing may have been recorded for a while.

        Args:
            window: The while.
            in_memory: Whether all was in buffers, which are new ones now.
        """
        self._kills.append((window, in_memory))

    def rotate(self, window: Window) -> None:
        """Note that the present chunk is what comes now."""
        self._last = window

    def clear(self, window: Window) -> None:
        """Note that the present chunk was thrown away."""
        self._cleared.append((self._last, window))

    def until(self, window: Window) -> Expected:
        """Return what is there if this is the end: in a snapshot, for example."""
        now = copy.copy(self)
        now._changes = [*self._changes]
        now._kills, now._cleared = [*self._kills], [*self._cleared]
        now._end = window
        return now

    def of(self, writer: int, begun: int, done: int) -> States:
        """Return for each number of a writer whether it must, may or must not be there.

        Args:
            writer: The writer.
            begun: Events that it has begun in all.
            done: Events that it has done in all.
        """
        state = np.full(begun, ABSENT, dtype=np.int8)
        for window, records in self._changes:
            first, last = window.of(writer)
            state[first:last] = MAY
            state[last:] = MUST if records else ABSENT
        for window, in_memory in self._kills:
            first, last = window.of(writer)
            first = 0 if in_memory else first
            _weaken(state[first:last])
        for begin, window in self._cleared:
            older, old = begin.of(writer) if begin else (0, 0)
            first, last = window.of(writer)
            _weaken(state[older:last])
            if self._keeps_cleared:
                _weaken(state[old:first])
            else:
                state[old:first] = ABSENT
        if self._end is not None:
            first, last = self._end.of(writer)
            _weaken(state[first:last])
            state[last:] = ABSENT
        _weaken(state[done:])
        return state


def _weaken(part: States) -> None:
    part[part == MUST] = MAY


@dataclass
class Found:
    """What a trace holds."""

    place: Path
    """Its directory."""

    events: pl.DataFrame
    """The events, with columns ``writer`` and ``number`` and their functions."""

    complaints: list[str] = field(default_factory=list)
    """What is wrong with it."""

    unresolved: int = 0
    """Events without a function."""

    unnamed: int = 0
    """Those of them that were not recorded during a state dump."""

    times: dict[str, tuple[int, int]] = field(default_factory=dict)
    """First and last time of each data stream."""


def read_trace(place: Path) -> Found:
    """Read a trace alone, with both readers.

    Args:
        place: Its directory, which has others below it.
    """
    found = _read(place)
    _compare(place, found)
    return found


def _read(place: Path) -> Found:
    empty = pl.DataFrame(schema=dict.fromkeys(("writer", "number"), pl.UInt64))
    if not any(place.rglob("metadata")):
        return Found(place, empty)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = vestige.open(place)
        if "soaked:tick" not in trace.event_names:
            return Found(place, empty, complaints=[*map(str, trace.damage)])
        names = trace.to_arrow().names
        wanted = [*COLUMNS, *(["trace"] if "trace" in names else [])]
        events = trace.to_arrow(wanted)
        table = events.to_polars()
    found = Found(place, table.filter(pl.col("event") == "soaked:tick"))
    found.complaints += map(str, trace.damage)
    if len(found.events):
        name = trace.streams[0].trace.name
        _check_functions(found, table, name)
        _note_times(found, name)
    return found


def lost_in(place: Path) -> tuple[int, int]:
    """Return how many events and packets a trace tells were lost, with all its chunks.

    A chunk alone cannot tell what was lost before its first packet.

    Args:
        place: The directory of a session.
    """
    if not any(place.rglob("metadata")):
        return 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trace = vestige.open(place, debug_info=False)
        for _ in trace.merges():
            pass
    lost = {"events": 0, "packets": 0}
    for loss in trace.losses:
        lost[loss.kind] += loss.count or 0
    return lost["events"], lost["packets"]


def _is_own(events: pl.DataFrame, only: str) -> pl.Expr:
    """Tell which events programs with Vestige's tracer have recorded."""
    trace = pl.col("trace").cast(pl.String) if "trace" in events.columns else None
    name = pl.lit(only) if trace is None else trace
    return name.str.contains("-bit-vestige|/own-")


def _check_functions(found: Found, table: pl.DataFrame, only: str) -> None:
    told = pl.col("debug_info").struct.field("func").cast(pl.String)
    name = told.str.replace(r"\+.*$", "")
    wanted = pl.col("number") % len(EMITTERS)
    expected = wanted.replace_strict(dict(enumerate(EMITTERS)), return_dtype=pl.String)
    wrong = found.events.filter(name != expected)
    unresolved = found.events.filter(told.is_null())
    found.unresolved = unresolved.height
    # A child of a program is in the trace of that until it has registered.
    keys = ["process", *(["trace"] if "trace" in table.columns else [])]
    unnamed = _outside_dumps(unresolved, table, keys)
    found.unnamed = unnamed.height
    if count := unnamed.filter(~_is_own(unnamed, only)).height:
        found.complaints.append(f"{count} events of LTTng-UST have no functions")
    if wrong.height:
        found.complaints.append(f"{wrong.height} wrong functions, such as {wrong[0]}")


def _outside_dumps(
    events: pl.DataFrame, table: pl.DataFrame, keys: list[str]
) -> pl.DataFrame:
    """Leave out events during a state dump, at whose begin readers forget the last."""
    for kind in ("start", "end"):
        dumps = table.filter(pl.col("event") == f"lttng_ust_statedump:{kind}")
        dumps = dumps.select(*keys, "timestamp", pl.col("timestamp").alias(kind))
        events = events.sort("timestamp").join_asof(
            dumps.sort("timestamp"), on="timestamp", by=keys, check_sortedness=False
        )
    is_during = pl.col("start").is_not_null() & (
        pl.col("end").is_null() | (pl.col("end") < pl.col("start"))
    )
    return events.filter(~is_during)


def _note_times(found: Found, only: str) -> None:
    events = found.events
    if "trace" not in events.columns:
        events = events.with_columns(pl.lit(only).alias("trace"))
    time = pl.col("timestamp").cast(pl.Int64)
    # Two channels share the numbers, and have rings of the same names.
    channel = (pl.col("number") % 2).alias("channel")
    parts = events.group_by(pl.col("trace").cast(pl.String), "stream_id", channel)
    for name, *of, first, last in parts.agg(
        time.min().alias("first"), time.max().alias("last")
    ).iter_rows():
        # Below that, all archives have the same directories.
        stream = " ".join(map(str, [name.rpartition("/ust/")[2], *of]))
        found.times[stream] = (first, last)


def _compare(place: Path, found: Found) -> None:
    if not any(place.rglob("metadata")):
        return
    done = subprocess.run(
        ["babeltrace2", "--clock-cycles", place],
        env={**os.environ, "BABELTRACE_LOG_LEVEL": "WARNING"},
        capture_output=True,
        check=False,
        timeout=READ_SECONDS,
    )
    said = [
        line
        for line in done.stderr.decode(errors="replace").splitlines()
        if line and not TOLD_LOSS.search(line)
    ]
    count = done.stdout.count(b" soaked:tick: ")
    if done.returncode or said:
        found.complaints.append(f"babeltrace2: {done.returncode}, {said[:5]}")
    if count != found.events.height:
        found.complaints.append(
            f"babeltrace2: {count} events, not {found.events.height}"
        )
