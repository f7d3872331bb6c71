"""Calls one by one: chosen, counted, ordered, as columns, and what is inside of one."""

from __future__ import annotations

import pytest

import vestige
from support.call_traces import code, enter, leave, packet, write_calls
from vestige.errors import SelectionError

A, B, C = 0x10000, 0x20000, 0x30000


@pytest.fixture
def trace(tmp_path, monkeypatch):
    """Return a trace of two threads that handle requests; one of these is slow."""
    monkeypatch.setenv("VESTIGE_CACHE_DIR", str(tmp_path / "cache"))
    names = [code(10, A, "handle"), code(11, B, "parse"), code(12, C, "store")]
    first = [
        *names,
        *(enter(100, A), enter(110, B), leave(120), leave(130)),
        *(enter(200, A), enter(210, B), leave(220), code(230, 0x50000, "late")),
        *(enter(300, C), leave(900), leave(1000)),
    ]
    second = [enter(150, A), enter(160, C), leave(190), leave(195), enter(1100, B)]
    streams = {"a": [packet(first, vtid=1)], "b": [packet(second, vtid=2)]}
    return vestige.open(write_calls(tmp_path / "trace", streams))


def facts(calls):
    """Return function, begin, duration and thread of calls."""
    return [
        (one.function.name, one.begin, one.duration, one.thread.tid) for one in calls
    ]


def test_calls_of_a_function(trace):
    """In the order in which they ended, with all that is known of each."""
    calls = trace.calls("handle")

    assert facts(calls) == [
        ("handle", 100, 30, 1),
        ("handle", 150, 45, 2),
        ("handle", 200, 800, 1),
    ]
    slow = calls.longest(1)[0]
    assert (slow.self_time, slow.depth, slow.caller, slow.end) == (190, 0, None, 1000)
    assert (slow.is_complete, slow.thread.process.pid) == (True, 77)
    assert slow.function.source == "/srv/app.py:1"
    assert calls.count() == len(calls) == 3


def test_calls_are_chosen(trace):
    """By patterns, thread, duration and time, all of them together."""
    assert facts(trace.calls("st*", "parse", thread=1, longer_than=20)) == [
        ("store", 300, 600, 1)
    ]
    assert facts(trace.calls(thread=2)) == [
        ("store", 160, 30, 2),
        ("handle", 150, 45, 2),
        ("parse", 1100, 0, 2),
    ]
    second = next(one for one in trace.threads() if one.tid == 2)
    assert facts(trace.calls(thread=second)) == facts(trace.calls(thread=2))
    assert trace.calls("nothing").count() == trace.calls(thread=9).count() == 0
    cut = list(trace.calls(begin=320, end=400))
    assert facts(cut) == [("store", 320, 80, 1), ("handle", 320, 80, 1)]
    assert not any(call.is_complete for call in cut)
    assert [call.is_complete for call in trace.calls("parse")] == [True, True, False]


def test_what_is_inside(trace):
    """The calls that it made, and the other event records of its thread."""
    slow = trace.calls("handle").longest(1)[0].inside()

    assert facts(slow.calls) == [("parse", 210, 10, 1), ("store", 300, 600, 1)]
    assert slow.calls.count() == 2
    assert slow.calls.longest(1)[0].caller.name == "handle"
    assert [event["func"] for event in slow.events()] == ["late"]


def test_columns(trace):
    """The same calls, for other libraries."""
    table = trace.calls("handle", "store").to_arrow().read_all()
    calls = list(trace.calls("handle", "store"))

    assert table.num_rows == len(calls)
    for row, call in zip(table.to_pylist(), calls, strict=True):
        assert row == {
            "function": call.function.name,
            "begin": call.begin,
            "end": call.end,
            "duration": call.duration,
            "self_time": call.self_time,
            "depth": call.depth,
            "caller": call.caller and call.caller.name,
            "pid": 77,
            "tid": call.thread.tid,
            "process": call.thread.process.name,
            "is_complete": call.is_complete,
        }
    slow = trace.calls("handle").longest(1)[0].inside()
    assert slow.calls.to_arrow().read_all()["function"].to_pylist() == [
        "parse",
        "store",
    ]
    assert trace.calls().to_polars().height == trace.calls().count()
    assert len(trace.calls().to_pandas()) == trace.calls().count()


def test_threads(trace):
    """With their event records and calls."""
    found = [(one.tid, one.events, one.calls, one.begin) for one in trace.threads()]
    assert found == [(1, 14, 5, 10), (2, 5, 3, 150)]


@pytest.mark.parametrize(
    "words",
    [{"longer_than": -1}, {"longer_than": "5ms"}, {"begin": "noon"}, {"end": 1 << 70}],
)
def test_wrong_choices(trace, words):
    """Are told at once."""
    with pytest.raises(SelectionError):
        trace.calls("handle", **words)
