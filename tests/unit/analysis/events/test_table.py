"""The table of events: counts, times and threads of any trace."""

from __future__ import annotations

import pytest

import vestige
from vestige import ctf
from vestige.analysis.events import event_table
from vestige.graph import Selection


@pytest.fixture
def trace(tmp_path):
    """Return a trace whose records name their threads, as those of LTTng."""
    with ctf.Writer(
        tmp_path / "trace",
        packet_context={"cpu_id": "u32"},
        event_context={"vpid": "s32", "vtid": "s32", "procname": str},
    ) as writer:
        begin = writer.event_class("app:begin", {"n": "u8"})
        done = writer.event_class("app:done")
        writer.event_class("app:never")
        for cpu in range(2):
            stream = writer.stream(f"cpu{cpu}", cpu_id=cpu)
            for index in range(3):
                time, who = (
                    100 * index + cpu,
                    {"vpid": 7, "vtid": 7 + cpu, "procname": "shop"},
                )
                stream.write(begin, time, who, n=index)
            stream.write(done, 1000, {"vpid": 9, "vtid": 9, "procname": "other"})
    return vestige.open(tmp_path / "trace", debug_info=False)


def test_events_are_counted_by_name_and_thread(trace):
    """Also a thread that moves from one CPU to another."""
    table = event_table(trace)

    assert table.events == len(trace)
    assert [(one.name, one.events, one.origins) for one in table.kinds] == [
        ("app:begin", 6, 2),
        ("app:done", 2, 1),
    ]
    assert (table.kinds[0].first, table.kinds[0].last) == (0, 201)
    assert (table.begin, table.end) == (0, 1000)
    assert [
        (one.origin.process, one.origin.thread, one.name, one.events)
        for one in table.origins
    ] == [(7, 7, "shop", 3), (7, 8, "shop", 3), (9, 9, "other", 2)]


def test_events_of_some_threads(trace):
    """Their sums are their own."""
    table = event_table(trace).of(lambda one: one.origin.process == 7)

    assert [(one.name, one.events) for one in table.kinds] == [("app:begin", 6)]
    assert (table.begin, table.end) == (0, 201)


@pytest.mark.parametrize(
    ("context", "expected"),
    [({"cpu_id": "u32"}, [(0, None), (1, None)]), ({}, [(None, "0"), (None, "1")])],
)
def test_what_has_no_thread_goes_by_its_cpu_or_data_stream(tmp_path, context, expected):
    """As traces of kernels and of small devices."""
    with ctf.Writer(tmp_path / "trace", packet_context=context) as writer:
        event = writer.event_class("tick")
        for index in range(2):
            words = {"cpu_id": index} if context else {}
            writer.stream(str(index), **words).write(event, index)

    table = event_table(vestige.open(tmp_path / "trace", debug_info=False))

    assert sorted(
        ((one.origin.cpu, one.origin.stream) for one in table.origins), key=str
    ) == sorted(expected, key=str)


def test_a_range_of_time_and_losses(tmp_path):
    """What is outside does not count."""
    with ctf.Writer(tmp_path / "trace") as writer:
        event = writer.event_class("tick")
        stream = writer.stream("s")
        stream.write(event, 1)
        stream.flush()
        stream.write(event, 5)
        stream.flush()
        stream.discard(5)
        stream.write(event, 9)
        stream.write(event, 20)
    trace = vestige.open(tmp_path / "trace", debug_info=False)

    table = event_table(trace, selection=Selection(begin=5, end=10))

    assert (table.events, table.begin, len(table.losses)) == (2, 5, 1)
