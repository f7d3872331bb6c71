"""Rows of the page are in the order in which people look for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from support.kernel_traces import write_kernel_trace
from vestige.analysis import Process
from vestige.analysis.intervals import Row, intervals_of
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.page.meta import meta_of, order_of
from vestige.units import Nanoseconds, Vpid


def row(
    pid: int, tid: int | None, begin: int, kind: Literal["calls", "events"] = "calls"
) -> Row:
    """Return a row."""
    facts: dict[str, Any] = {"name": None, "depth": 1, "events": 1, "calls": 0}
    times = {"begin": Nanoseconds(begin), "end": Nanoseconds(begin + 1)}
    process = Process(pid=Vpid(pid), name="p")
    return Row(process=process, tid=tid, kind=kind, **times, **facts)


def test_threads_stand_by_their_processes():
    """The first process first; its main thread first; other events below the calls."""
    rows = [
        row(7, 9, 50),
        row(7, 7, 60),
        row(3, 3, 80),
        row(7, 8, 40),
        row(7, 7, 10, "events"),
        row(3, 4, 70, "events"),
    ]
    assert order_of(rows) == [1, 4, 3, 0, 2, 5]


def test_rows_without_a_thread_are_of_cpus(tmp_path: Path):
    """Their event records are of whatever thread ran there."""
    records = [(cpu, 10 + cpu, "sched_waking", {"tid": 5}) for cpu in (0, 2)]
    path = write_kernel_trace(tmp_path / "trace", records)
    intervals, calls = intervals_of(CtfFsSource([path]))

    meta = meta_of("x", intervals, calls, [])

    assert [row["thread"] for row in meta["rows"]] == ["CPU 0", "CPU 2"]
