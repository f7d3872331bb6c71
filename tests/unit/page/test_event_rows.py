"""Event records of the page stand on the rows of those who recorded them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import vestige
from vestige import ctf
from vestige.graph import merges
from vestige.page import event_rows
from vestige.page.event_rows import EventRows

DATA = Path(__file__).parents[2] / "data"


@pytest.mark.parametrize(("name", "count"), [("lost", 2), ("threads-pid", 8)])
def test_events_are_on_the_rows_that_count_them(name, count):
    """Also where rows know neither process nor thread, or contexts alone tell them."""
    trace = vestige.open(DATA / name)
    intervals = trace.intervals()
    rows = EventRows(trace.streams, intervals)
    found = rows.between(0, intervals.end - intervals.begin, 1000)
    counts = Counter(row for _, row, _, _ in found["events"])
    assert counts == {number: row.events for number, row in enumerate(intervals.rows)}
    assert len(counts) == count


@pytest.mark.parametrize(("records_of_part", "begun"), [(1, 2), (30_000, 1)])
def test_events_among_many_calls_are_found_without_reading_these(
    tmp_path, monkeypatch, records_of_part, begun
):
    """A page has the first event records, however far they are from each other.

    Where there are not many calls, it is quicker to read these.
    """
    monkeypatch.setattr(event_rows, "_RECORDS_OF_PART", records_of_part)
    ranges = []

    def noted(streams, wanted, **options):
        ranges.append(wanted)
        return merges(streams, wanted, **options)

    monkeypatch.setattr(event_rows, "merges", noted)
    writer = ctf.Writer(
        tmp_path / "t", packet_context={"vpid": "s32", "vtid": "s32"}, packet_size=4096
    )
    entry = writer.event_class("lttng_ust_cyg_profile:func_entry", {"addr": "x64"})
    leave = writer.event_class("lttng_ust_cyg_profile:func_exit", {"addr": "x64"})
    other = writer.event_class("a:b", {"n": "u32"})
    stream = writer.stream("s", vpid=7, vtid=7)
    for number in range(4000):
        stream.write(entry, 100_000 * number, addr=0x100)
        stream.write(leave, 100_000 * number + 50_000, addr=0x100)
        if number % 1500 == 700:
            stream.write(other, 100_000 * number + 60_000, n=number)
    writer.close()
    trace = vestige.open(tmp_path / "t")
    intervals = trace.intervals()
    last = intervals.end - intervals.begin
    times = [70_060_000, 220_060_000, 370_060_000]
    assert intervals.other_spans(0, last) == [(time, time) for time in times]
    rows = EventRows(trace.streams, intervals)
    found = rows.between(0, last, 1)
    assert [event[0] for event in found["events"]] == times[:1]
    assert found["more"]
    assert len(ranges) == begun
    assert [event[0] for event in rows.between(0, last, 9)["events"]] == times
