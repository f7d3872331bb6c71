"""Waits for mutexes stand on the rows of the threads that waited."""

from __future__ import annotations

from support.resource_traces import write_resources
from vestige.analysis.intervals import intervals_of
from vestige.analysis.locks import read_locks
from vestige.page.meta import meta_of
from vestige.page.waits import read_waits, waits_of

M, N = 0x10, 0x20
MS = 1_000_000
CALLS = [
    (0, 8, "lock_req", (M,)),
    (10, 8, "lock_acq", (M, 0)),
    (1 * MS, 9, "lock_req", (M,)),
    (5 * MS, 8, "unlock", (M, 0)),
    (5 * MS + 10, 9, "lock_acq", (M, 0)),
    (6 * MS, 9, "unlock", (M, 0)),
    (7 * MS, 9, "lock_req", (N,)),
    (7 * MS + 100, 9, "lock_acq", (N, 0)),
]


def test_who_waited_and_who_had_it(tmp_path):
    """A mutex that was free is no wait, and that a thread gets it takes a moment."""
    source = write_resources(tmp_path / "trace", CALLS)
    intervals, calls = intervals_of(source)

    locks = read_waits(source.streams, lambda most: read_locks(source, longest=most))

    found = waits_of(locks, intervals.rows, intervals.begin)
    rows = [row.tid for row in intervals.rows]
    unknown = found["sites"].index("(unknown place)")
    assert found["rows"] == [
        [rows.index(9), MS, 4 * MS + 10, unknown, rows.index(8), unknown]
    ]
    assert meta_of("x", intervals, calls, [], locks=locks)["waits"] == found


def test_other_traces_are_not_read(tmp_path):
    """Those without an event that says that a mutex is wanted."""
    source = write_resources(tmp_path / "trace", [(0, 8, "malloc", (8, 16))])
    streams = [one for one in source.streams if not one.event_names]

    assert read_waits(streams, lambda _: 1 / 0) is None
    assert waits_of(None, [], 0) == {"sites": [], "rows": []}
