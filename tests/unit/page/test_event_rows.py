"""Event records of the page stand on the rows of those who recorded them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import vestige
from vestige.page.event_rows import EventRows

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize(("name", "count"), [("lost", 2), ("threads-pid", 8)])
def test_events_are_on_the_rows_that_count_them(name, count):
    """Also where rows know neither process nor thread, or contexts alone tell them."""
    trace = vestige.open(DATA / name)
    intervals = trace.intervals()
    rows = EventRows(trace.streams, intervals.rows, intervals.begin)
    found = rows.between(0, intervals.end - intervals.begin, 1000)
    counts = Counter(row for _, row, _, _ in found["events"])
    assert counts == {number: row.events for number, row in enumerate(intervals.rows)}
    assert len(counts) == count
