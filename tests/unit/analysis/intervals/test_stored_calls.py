"""The calls that an index tells of are those that were folded for it."""

from __future__ import annotations

import pytest

import vestige
from support.call_traces import enter, leave, packet, write_calls
from vestige.analysis.intervals import Intervals, intervals_of
from vestige.analysis.intervals.stored_calls import read_calls
from vestige.core import IntervalIndex

A, B, C = 0x1000, 0x2000, 0x3000


@pytest.fixture
def found(tmp_path):
    """Return intervals and call tree of calls, of which one is across a loss."""
    recursion = [enter(300 + at, A, 7) for at in range(5)]
    recursion += [leave(320 + at, A, 7) for at in range(5)]
    streams = {
        "s": [
            packet([enter(100, A, 1), enter(110, B, 2)], sequence=0),
            packet([enter(200, C, 3), leave(240, C, 3)], sequence=2),
            packet([leave(250, A, 1), *recursion], sequence=3),
        ],
        "t": [packet([enter(105, B), leave(190), leave(195)], vtid=2)],
    }
    path = write_calls(tmp_path / "trace", streams)
    trace = vestige.open(path, debug_info=False)
    return trace, *intervals_of(trace, longest=3)


def counts(node):
    """Return what the calls of a node, or of a function, add up to."""
    names = ("calls", "complete", "across_loss", "no_exit", "no_entry", "clipped")
    times = ("total", "self_time", "complete_time", "shortest", "longest")
    return node.function.name, *(getattr(node, name) for name in (*names, *times))


def paths(thread):
    """Return the nodes of a thread."""
    return [(level, *counts(node)) for level, node in thread.root.walk()]


def facts(thread):
    """Return what is known of a thread."""
    times = thread.begin, thread.end, thread.losses, thread.unknown_exits
    return thread.thread, thread.trace, *times, thread.exits_are_named


def durations(tree):
    """Return how long the calls of functions took."""
    return {
        function.name: (
            one.histogram(),
            [one.quantile(part) for part in (0, 0.5, 1)],
            [
                (
                    call.begin,
                    call.duration,
                    call.thread,
                    call.caller and call.caller.name,
                )
                for call in one.longest
            ],
        )
        for function, one in tree.durations.items()
    }


def test_the_calls_come_back(found):
    """With threads, paths, what is not complete, and the longest calls."""
    trace, intervals, tree = found
    index = IntervalIndex.from_bytes(intervals.index.to_bytes())
    told = Intervals(index, trace.streams).call_tree()

    assert [*map(facts, told.threads)] == [*map(facts, tree.threads)]
    assert [*map(paths, told.threads)] == [*map(paths, tree.threads)]
    assert [*map(counts, told.functions())] == [*map(counts, tree.functions())]
    assert durations(told) == durations(tree)
    assert any("loss" in path[1] for path in paths(told.threads[0]))
    assert [one.durations is not None for one in told.functions()] == [
        one.durations is not None for one in tree.functions()
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"{}",
        b"{",
        b'{"threads":[[1]],"nodes":[[]],"durations":[]}',
        b'{"threads":[],"nodes":[],"durations":[[5,[],0,0,[]]]}',
        b'{"threads":[["t",1,1,"n",0,0,0,0,true]],"nodes":[[[0,0,1]]],"durations":[]}',
    ],
)
def test_other_data_is_refused(data):
    """An index is made again then."""
    with pytest.raises(ValueError, match=r"."):
        read_calls(data, [])
