"""Traces of Perfetto, read back by Perfetto's own description of the format."""

from __future__ import annotations

import pytest

import vestige
from support.call_traces import HOSTILE_NAME, enter, leave, packet, write_calls
from support.perfetto_trace import PerfettoTrace
from support.recordings import DATA, DEMO
from support.service_traces import Request, write_service
from vestige.plain_text import plain
from vestige.viewers.names import shown


@pytest.mark.parametrize("trace", [DEMO / "trace", DATA / "recording-1"])
def test_calls_are_those_of_the_report(trace, export, report):
    """Each function has as many calls, and as much time."""
    path, _ = export(trace, "perfetto")
    read = PerfettoTrace(path)
    facts = report(trace)

    assert facts["functions"]
    assert len(read.instants) == facts["other_events"]
    for one in facts["functions"]:
        name = shown(one["function"])
        assert read.sums()[name] == (one["calls"], one["total_ns"])


def test_bytes_of_a_call(export, tmp_path):
    """Both ends of a call that is short take 22 bytes."""

    def write(name, count):
        events = [
            step
            for number in range(count)
            for step in (enter(number * 1000, 0x1000), leave(number * 1000 + 500))
        ]
        return write_calls(tmp_path / name, {"s": [packet(events)]})

    few, _ = export(write("few", 1), "perfetto")
    size = few.stat().st_size
    many, _ = export(write("many", 1001), "perfetto")

    assert (many.stat().st_size - size) / 1000 <= 25


def test_calls_that_are_not_complete(calls, export, report):
    """They say so; one without entry has no duration."""
    path, said = export(calls, "perfetto")
    read = PerfettoTrace(path)
    by_name = {one["function"]: one for one in report(calls)["functions"]}

    assert "discarded 5 events" in said
    open_ones = [one for one in read.slices if "incomplete" in one.arguments]
    assert len(open_ones) == sum(
        one["across_loss"] + one["no_exit"] for one in by_name.values()
    )
    assert "no exit" in str(open_ones[-1].arguments) or "lost" in str(
        open_ones[-1].arguments
    )
    whole = sum(one["calls"] - one["no_entry"] for one in by_name.values())
    assert len(read.slices) == whole
    (loss,) = [one for one in read.instants if read.tracks.get(one.track) == "losses"]
    assert (loss.name, loss.arguments["count"]) == ("5 events lost", 5)


def test_names_of_others(calls, export):
    """What steers a terminal is escaped; what is too long is cut."""
    path, _ = export(calls, "perfetto")
    names = {one.name for one in PerfettoTrace(path).slices}

    assert plain(HOSTILE_NAME) in names
    assert max(map(len, names)) <= 4000


def test_real_times(calls, export):
    """Slices begin and end at the nanoseconds of the trace."""
    path, _ = export(calls, "perfetto")
    read = PerfettoTrace(path)
    times = [event.timestamp for event in vestige.open(calls)]

    slices = {(one.begin, one.end) for one in read.slices}
    begin = min(times) - 90
    assert (begin + 120, begin + 120) in slices
    assert (begin + 100, begin + 1_000_000_160) in slices


def test_spans_flow_to_their_ends(spans, export):
    """From the entry to those within, and to the exit; fields are arguments."""
    path, _ = export(spans, "perfetto")
    first, second, second_end, first_end = PerfettoTrace(path).instants

    assert first.arguments == {
        "span_id": 1, "parent_id": 0, "task": "t", "item": -3,
    }  # fmt: skip
    assert second.flows[0] not in first.flows
    assert second.flows[1] in first.flows
    assert second_end.last_flows == second.flows[:1]
    assert first_end.last_flows == first.flows
    assert second_end.arguments["error"] == "KeyError"


def test_spans_are_slices(export, tmp_path):
    """From begin to end, with what both tell; those that overlap have two tracks."""
    waits = [("database", 1000)]
    requests = [
        Request(1, 10_000, waits),
        Request(2, 10_500, waits, vtid=8),
        Request(3, 20_000, waits),
        Request(4, 30_000, waits, has_end=False),
    ]
    path, _ = export(write_service(tmp_path / "trace", requests), "perfetto")
    read = PerfettoTrace(path)
    slices = [one for one in read.slices if one.name == "shop:request"]

    times = [(10_000, 11_020), (10_500, 11_520), (20_000, 21_020), (30_000, 31_010)]
    assert [(one.begin, one.end) for one in slices] == times
    assert [one.arguments["number"] for one in slices] == [1, 2, 3, 4]
    assert slices[0].arguments["task"] == "task-1"
    assert "no end" in str(slices[3].arguments["incomplete"])
    first, second, third, fourth = (one.track for one in slices)
    assert first == third == fourth != second
    assert read.tracks[first] == read.tracks[second] == "shop:request"


def test_events_of_all_field_classes(export):
    """Each event is an instant, with all of its fields."""
    path, _ = export(DATA / "fields", "perfetto")
    read = PerfettoTrace(path)
    events = list(vestige.open(DATA / "fields", debug_info=False))

    assert [one.name for one in read.instants] == [one.name for one in events]
    for mine, event in zip(read.instants, events, strict=True):
        fields = event.payload.to_dict()
        assert set(fields) <= set(mine.arguments), event.name
        for name, value in fields.items():
            if type(value) is int:
                assert mine.arguments[name] == value
            elif isinstance(value, str):
                assert mine.arguments[name] == shown(value)


def test_a_range_of_time(calls, export):
    """What is in it alone."""
    path, _ = export(calls, "perfetto", "--event", "nothing*")
    read = PerfettoTrace(path)

    assert (read.slices, read.processes) == ([], {})


def test_short_calls_are_left_out(calls, export, report):
    """As in a report."""
    path, _ = export(calls, "perfetto", "--min-duration=100ns")
    facts = report(calls, "--min-duration=100ns")

    sums = PerfettoTrace(path).sums()
    assert sum(count for count, _ in sums.values()) == sum(
        one["calls"] - one["no_entry"] for one in facts["functions"]
    )
