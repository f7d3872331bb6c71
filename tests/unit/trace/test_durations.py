"""`Trace.durations`: of functions, spans and pairs of events."""

from __future__ import annotations

import pytest

import vestige
from support.call_traces import enter, leave, packet, write_calls
from vestige import ctf
from vestige.errors import SelectionError

A, B = 0x1000, 0x2000


@pytest.fixture
def pairs(tmp_path):
    """Return a trace of what one thread begins and another one ends."""
    with ctf.Writer(tmp_path / "pairs", event_context={"vtid": "s32"}) as writer:
        start = writer.event_class("x:start", {"id": "u32"})
        done = writer.event_class("x:done", {"id": "u32"})
        begin = writer.event_class("x:work_begin")
        end = writer.event_class("x:work_end")
        stream = writer.stream("s")
        for index in range(20):
            stream.write(start, 100 * index, {"vtid": 1}, id=index)
            stream.write(done, 100 * index + 2 * index, {"vtid": 2}, id=index)
            stream.write(begin, 100 * index + 50, {"vtid": 1})
            stream.write(end, 100 * index + 57, {"vtid": 1})
    return vestige.open(tmp_path / "pairs", debug_info=False)


def test_of_functions(tmp_path):
    """Of all threads, and of all that a pattern matches."""
    streams = {
        "a": [
            packet([enter(1000, A), leave(3000), enter(4000, B), leave(4007)], vtid=5)
        ],
        "b": [packet([enter(1001, A), leave(1011)], vtid=6)],
    }
    path = write_calls(tmp_path / "trace", streams)
    trace = vestige.open(path, debug_info=False)

    one = trace.durations("0x1000")
    assert (one.count, one.quantile(0), one.quantile(1)) == (2, 10, 2000)
    assert [long.thread.tid for long in one.longest] == [5, 6]
    both = trace.durations("0x*")
    assert (both.count, both.quantile(0)) == (3, 7)
    assert [long.duration for long in both.longest] == [2000, 10, 7]
    assert sum(bucket.count for bucket in both.histogram()) == 3
    with pytest.raises(SelectionError, match="'0x3000'; there are '0x"):
        trace.durations("0x3000")


def test_of_pairs(pairs):
    """By name, or by both events and a field."""
    assert (
        pairs.durations("x:work").count,
        pairs.durations("x:work").quantile(0.5),
    ) == (
        20,
        7,
    )
    across = pairs.durations(begin="x:start", end="x:done", key="id")
    assert (across.count, across.quantile(1)) == (20, 38)
    assert (across.longest[0].begin, across.longest[0].thread.tid) == (1900, 1)
    assert pairs.durations(begin="x:start", end="x:done").count == 0


def test_a_key_may_be_one_of_a_thread(pairs):
    """Here each begins in another thread than it ends in."""
    words = {"begin": "x:start", "end": "x:done", "key": "id"}
    assert pairs.durations(**words, within="thread").count == 0
    with pytest.raises(SelectionError, match="within='day': expected thread, "):
        pairs.durations(**words, within="day")


def test_what_is_not_there(pairs):
    """Names are checked."""
    with pytest.raises(SelectionError, match="'x:stop'; there are "):
        pairs.durations(begin="x:start", end="x:stop")
    for words in ({}, {"name": "a", "begin": "b", "end": "c"}, {"begin": "x:start"}):
        with pytest.raises(SelectionError, match="a name, or a begin and an end"):
            pairs.durations(**words)
