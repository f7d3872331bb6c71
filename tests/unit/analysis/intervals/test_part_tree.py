"""Call trees of a range of time with an index: the same, without what is before."""

from __future__ import annotations

import random

import pytest

import vestige
from support.call_traces import code, enter, leave, packet, write_calls
from vestige.analysis.intervals import intervals_of
from vestige.analysis.intervals.part_tree import part_tree
from vestige.graph import Selection

A, B, C, D = 0x1000, 0x2000, 0x3000, 0x4000


def lossy_thread(source, vtid, count):
    """Make up packets of a thread: of one in thirty records, only the number is left."""
    now, stack, packets, events, lost = 1000 + vtid, [], [], [], 0
    for _ in range(count):
        now += source.randrange(1, 50)
        if len(stack) > 5 or (stack and source.random() < 0.5):
            function = stack.pop()
            event = leave(now, function, function + 4)
        else:
            stack.append(source.choice([A, B, C, D]))
            event = enter(now, stack[-1], stack[-1] + 4)
        if packets and source.random() < 0.03:
            lost += 1
            continue
        events.append(event)
        if len(events) >= 37:
            packets.append(packet(events, vtid=vtid, discarded=lost))
            events = []
    packets.append(
        packet(events, vtid=vtid, discarded=lost) if events else packets.pop()
    )
    return packets


def facts(tree):
    """Return what is known of calls by path, and of threads."""
    found, path = {}, []
    for thread in tree.threads:
        for level, node in thread.root.walk():
            path[level:] = [node.function.address or node.function.name]
            counts = (node.calls, node.complete, node.across_loss, node.no_exit)
            times = (node.clipped, node.total, node.self_time, node.longest)
            if level:
                found[thread.vtid, *path] = (*counts, node.no_entry, *times)
    threads = [
        (one.vtid, one.begin, one.end, one.unknown_exits) for one in tree.threads
    ]
    return found, threads


def durations(tree):
    """Return how long calls took, by function."""
    return {
        function.address or function.name: (
            one.buckets,
            one.quantile(0),
            one.quantile(1),
            {(call.begin, call.duration, call.thread.tid) for call in one.longest},
        )
        for function, one in tree.durations.items()
        if one.count
    }


@pytest.mark.parametrize(("seed", "tracer"), [(1, "lttng"), (2, "")])
def test_a_part_is_the_same_with_an_index_and_without(tmp_path, seed, tracer):
    """With losses before the range, in it, and across where it begins."""
    source = random.Random(seed)  # noqa: S311 - no secret
    streams = {f"s{vtid}": lossy_thread(source, vtid, 30_000) for vtid in (1, 2)}
    path = write_calls(tmp_path / "trace", streams, tracer=tracer)
    trace = vestige.open(path, debug_info=False)
    intervals, _ = intervals_of(trace, every=1)
    assert len(intervals.losses) > 100

    for _ in range(12):
        begin = source.randrange(intervals.begin, intervals.end)
        end = begin + source.randrange(1, 50_000)
        selection = Selection(begin=begin, end=end)
        found, whole = (
            part_tree(intervals, selection, longest=3),
            trace.call_tree(begin=begin, end=end, durations=True, longest=3),
        )
        if intervals.fold(begin, end)[1] is None:
            assert found is None
            continue
        assert facts(found) == facts(whole)
        assert durations(found) == durations(whole)
        assert (found.events, found.other_events) == (whole.events, whole.other_events)
        assert found.lost == whole.lost
        assert len(found.losses) == len(whole.losses)


def test_what_an_index_does_not_tell_is_read_from_the_beginning(tmp_path):
    """Spans and coroutines of Python, patterns, and all without a begin."""
    events = [code(900, A, "f"), enter(1000, A), leave(2000)]
    path = write_calls(tmp_path / "trace", {"s": [packet(events)]})
    intervals, _ = intervals_of(vestige.open(path, debug_info=False), every=1)

    assert intervals.has_codes
    assert part_tree(intervals, Selection(begin=1500)) is None
    assert part_tree(intervals, Selection(end=1500)) is None
    assert part_tree(intervals, Selection(begin=1, patterns=("x",))) is None
