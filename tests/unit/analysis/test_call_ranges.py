"""Call trees of a range of time and of some threads: calls are cut at its ends."""

from __future__ import annotations

import random
import struct

import pytest

import vestige
from support.call_traces import code, enter, leave, packet, write_calls
from support.ctf_writer import Packet
from vestige.analysis import Process, Thread
from vestige.analysis.intervals import intervals_of

A, B, C, D = 0x1000, 0x2000, 0x3000, 0x4000


def facts(tree):
    """Return calls, complete ones, clipped ones, total and own time by function."""
    return {
        one.function.address: (
            one.calls,
            one.complete,
            one.clipped,
            one.total,
            one.self_time,
        )
        for one in tree.functions()
    }


@pytest.fixture
def trace(tmp_path):
    """Return a trace of nested calls of a thread, in several packets."""
    packets = [
        packet([enter(100, A), enter(110, B), leave(120)]),
        packet([enter(130, B), enter(140, C), leave(160)]),
        packet([leave(170), enter(180, D), leave(190), leave(200)]),
    ]
    path = write_calls(tmp_path / "trace", {"s": packets})
    return vestige.open(path, debug_info=False)


def test_calls_are_cut(trace):
    """Their time is what is in the range, and they are not complete."""
    tree = trace.call_tree(begin=150, end=185)

    assert facts(tree) == {
        A: (1, 0, 1, 35, 10),
        B: (1, 0, 1, 20, 10),
        C: (1, 0, 1, 10, 10),
        D: (1, 0, 1, 5, 5),
    }
    assert tree.events == 3
    assert (tree.threads[0].begin, tree.threads[0].end) == (150, 185)


def test_what_ends_where_the_range_begins_is_not_in_it(trace):
    """It has no time there; what it is in has."""
    assert facts(trace.call_tree(begin=160)) == {
        A: (1, 0, 1, 40, 20),
        B: (1, 0, 1, 10, 10),
        D: (1, 1, 0, 10, 10),
    }
    assert facts(trace.call_tree(begin=190)) == {A: (1, 0, 1, 10, 10)}


def test_an_end_behind_the_trace_cuts_nothing(trace):
    """What is complete is complete."""
    assert facts(trace.call_tree(begin=0, end=10**6)) == facts(trace.call_tree())


def test_calls_around_a_range_without_events_are_in_it(trace):
    """They were running all the time."""
    assert facts(trace.call_tree(begin=142, end=152)) == {
        A: (1, 0, 1, 10, 0),
        B: (1, 0, 1, 10, 0),
        C: (1, 0, 1, 10, 10),
    }


def test_short_calls_may_be_left_out_of_a_range(trace):
    """Long ones that began before it are in."""
    found = facts(trace.call_tree(begin=150, end=185, min_duration=30))
    assert found == {A: (1, 0, 1, 35, 15), B: (1, 0, 1, 20, 20)}


def random_trace(path, seed):
    """Write calls at random; return the trace and what each of them is."""
    source = random.Random(seed)  # noqa: S311 - no secret
    streams, calls = {}, []
    for vtid in (1, 2):
        now, stack, events = 1000 + vtid, [], []
        for _ in range(400):
            now += source.randrange(1, 50)
            if stack and source.random() < 0.5:
                calls.append((*stack.pop(), now, len(stack)))
                events.append(leave(now))
            elif len(stack) < 6:
                stack.append((source.choice([A, B, C, D]), now))
                events.append(enter(now, stack[-1][0]))
        while stack:
            now += 1
            calls.append((*stack.pop(), now, len(stack)))
            events.append(leave(now))
        parts = [events[at : at + 37] for at in range(0, len(events), 37)]
        streams[f"s{vtid}"] = [packet(part, vtid=vtid) for part in parts]
    return vestige.open(write_calls(path, streams), debug_info=False), calls


@pytest.mark.parametrize("seed", range(4))
def test_a_range_is_the_whole_cut(tmp_path, seed):
    """Whatever range it is: the same calls with the part of their time that is in it."""
    trace, calls = random_trace(tmp_path / "trace", seed)
    source = random.Random(seed)  # noqa: S311 - no secret
    last = max(end for _, _, end, _ in calls)
    for _ in range(10):
        begin = source.randrange(1000, last)
        end = begin + source.randrange(2000)
        expected: dict[int, list[int]] = {}
        outermost = 0
        for function, start, stop, depth in calls:
            if (start < begin and stop <= begin) or start > end:
                continue
            outermost += 0 if depth else min(stop, end) - max(start, begin)
            row = expected.setdefault(function, [0, 0, 0])
            is_cut = start < begin or stop > end
            row[0] += 1
            row[1] += not is_cut
            row[2] += is_cut
        found = facts(trace.call_tree(begin=begin, end=end))
        assert {at: list(one[:3]) for at, one in found.items()} == expected
        assert sum(one[4] for one in found.values()) == outermost


def of_cut_threads(path, *, per_thread):
    """Write a trace of a thread that is killed in a call, and of one that goes on."""
    one, other = (None, None) if per_thread else (1, 2)
    killed = [enter(100, A, vtid=one), enter(110, B, vtid=one)]
    killed.append(code(150, 0x9000, "f", vtid=one))
    going = [enter(160, C, vtid=other), leave(900, C, vtid=other)]
    if per_thread:
        streams = {"killed": [packet(killed)], "going": [packet(going, vtid=2)]}
    else:
        # The buffers of a CPU are flushed long after the last record.
        both = [Packet([*killed, *going], end=5000, context=struct.pack("<I", 1))]
        streams = {"cpu": both}
    return vestige.open(
        write_calls(
            path,
            streams,
            per_thread=per_thread,
            contexts=not per_thread,
            tracer="lttng",
        ),
        debug_info=False,
    )


def counts(root):
    """Return calls, those without exit, clipped ones and time by function."""
    return {
        node.function.address: (node.calls, node.no_exit, node.clipped, node.total)
        for level, node in root.walk()
        if level and node.calls
    }


def test_calls_of_a_killed_thread_last_up_to_its_last_record(tmp_path):
    """Whichever part is read, with an index or without: records that are no calls count."""
    trace = of_cut_threads(tmp_path / "trace", per_thread=True)
    intervals, tree = intervals_of(trace)
    whole = {A: (1, 1, 0, 50), B: (1, 1, 0, 40), C: (1, 0, 0, 740)}
    assert counts(tree.root()) == counts(trace.call_tree().root()) == whole

    for begin, end, expected in (
        (90, 500, {A: (1, 1, 0, 50), B: (1, 1, 0, 40), C: (1, 0, 1, 340)}),
        (105, 150, {A: (1, 0, 1, 45), B: (1, 1, 0, 40)}),
        (130, 145, {A: (1, 0, 1, 15), B: (1, 0, 1, 15)}),
        (160, 500, {C: (1, 0, 1, 340)}),
        (140, 5000, {A: (1, 0, 1, 10), B: (1, 0, 1, 10), C: (1, 0, 0, 740)}),
    ):
        first, last = begin - intervals.begin, end - intervals.begin
        assert counts(trace.call_tree(begin=begin, end=end).root()) == expected
        assert counts(intervals.call_root(first, last)) == expected
        lasted = [one.duration for one in trace.calls(begin=begin, end=end)]
        assert sorted(lasted) == sorted(one[3] for one in expected.values())


def test_threads_that_share_data_streams_are_looked_for_behind_a_range(tmp_path):
    """One of them may end long before its data streams do."""
    trace = of_cut_threads(tmp_path / "trace", per_thread=False)
    intervals, _ = intervals_of(trace)
    killed = {A: (1, 1, 0, 10), B: (1, 1, 0, 0)}

    for end, going in ((1000, (1, 0, 0, 740)), (500, (1, 0, 1, 340))):
        expected = {**killed, C: going}
        assert counts(trace.call_tree(begin=90, end=end).root()) == expected
        last = end - intervals.begin
        assert counts(intervals.call_root(0, last)) == expected


def test_losses_before_a_range_are_known_in_it(tmp_path):
    """What was open before one may have ended there; they are not told of the range."""
    packets = [
        packet([enter(100, A), enter(110, B)]),
        packet([enter(200, C), leave(210)], discarded=1),
        packet([enter(300, D), leave(310)], discarded=1),
    ]
    path = write_calls(tmp_path / "trace", {"s": packets}, tracer="lttng")
    trace = vestige.open(path, debug_info=False)

    tree = trace.call_tree(begin=250)
    assert facts(tree) == {D: (1, 1, 0, 10, 10)}
    assert (tree.losses, tree.threads[0].losses) == ([], 0)
    assert (tree.events, tree.other_events) == (2, 0)
    [lost] = trace.call_tree(begin=150).losses
    assert (lost.begin, lost.end, lost.count) == (150, 210, None)


def test_threads_are_chosen(tmp_path):
    """By their IDs, or as they were found."""
    trace, _ = random_trace(tmp_path / "trace", 1)
    whole = trace.call_tree()
    first, second = whole.threads

    for chosen in (second.vtid, second.thread):
        tree = trace.call_tree(threads=[chosen])
        assert [one.vtid for one in tree.threads] == [second.vtid]
        assert tree.events < whole.events
    assert first.thread != second.thread
    assert trace.call_tree(threads=[]).threads == []
    nobody = Thread(process=Process(None, "x"), tid=second.vtid)
    assert trace.call_tree(threads=[nobody]).threads == []
