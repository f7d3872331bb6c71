"""Calls of threads that run at the same time: only what has to be sorted is sorted."""

from __future__ import annotations

import random
from dataclasses import fields
from itertools import pairwise

import pytest

import vestige
from support.call_traces import code, enter, leave, packet, state, write_calls
from support.perfetto_trace import PerfettoTrace
from vestige import core
from vestige.analysis import call_tree
from vestige.analysis.call_nodes import CallCounts
from vestige.analysis.intervals import intervals_of
from vestige.components.filters.call_duration import CallDurationFilter
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.graph import mux
from vestige.viewers.write import write_trace

A, B, C = (1 << 47) + 0x1000, (1 << 47) + 0x2000, (1 << 47) + 0x3000
OBJECT, OTHER = 0x10000, 0x20000
ENTRY = "lttng_ust_cyg_profile_fast:func_entry"
TOLD = "vestige_python:code"


def counts(node):
    """Return what is known of calls, and of those that they made, in their order."""
    known = [getattr(node, one.name) for one in fields(CallCounts)]
    return node.function.name, known, [counts(one) for one in node.callees.values()]


def facts(tree):
    """Return all that is known of calls, thread by thread in their order."""
    threads = [
        (one.vtid, one.begin, one.end, one.losses, one.unknown_exits, counts(one.root))
        for one in tree.threads
    ]
    durations = {
        function.name: [(one.duration, one.begin, one.thread) for one in found.longest]
        + [(one.begin, one.count) for one in found.histogram()]
        for function, found in tree.durations.items()
    }
    return threads, durations, tree.events, tree.other_events, tree.lost


def write_threads(directory, seed, *, losses=False, changes=30_000):
    """Write threads that run at once, and change what addresses mean in the beginning."""
    rolls = random.Random(seed)  # noqa: S311 - no secret
    streams = {number: [] for number in range(4)}
    stacks = {number: [] for number in streams}
    time = 100
    for index in range(30_000):
        time += rolls.choice((0, 1, 1, 2))
        thread = rolls.choice((0, 1, 1, 2, 2, 2, 3))
        stack, events = stacks[thread], streams[thread]
        roll = rolls.random() if index < changes else 1
        if roll < 0.0005:
            events.append(code(time, A, rolls.choice("fgh")))
        elif roll < 0.001:
            kind = rolls.choice(("load", "unload"))
            events.append(state(time, kind, OBJECT, "/lib/one.so"))
        elif stack and rolls.random() < 0.5:
            events.append(leave(time, *stack.pop()))
        else:
            address = rolls.choice((A, B, C, OBJECT + 16, OTHER))
            call = rolls.choice(((address,), (address, OTHER + 8)))
            stack.append(call if len(call) == 2 else ())
            events.append(enter(time, *call))
    packets = {}
    for thread, events in streams.items():
        lost = 0
        packets[f"s{thread}"] = made = []
        for first in range(0, len(events), 700):
            lost += int(losses and rolls.random() < 0.3)
            part = events[first : first + 700]
            made.append(packet(part, vtid=thread, discarded=lost))
    return write_calls(directory, packets)


@pytest.mark.parametrize("losses", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_all_that_is_known_of_calls_is_what_the_whole_order_tells(
    tmp_path, seed, losses
):
    """Functions that other threads load and describe, threads and losses included."""
    path = write_threads(tmp_path / "trace", seed, losses=losses)
    source = vestige.open(path, debug_info=False)
    loose = call_tree(source, longest=3)
    hides_nothing = CallDurationFilter(0, [source])
    whole = call_tree(source, longest=3, call_filter=hides_nothing)

    assert {"f", "g", "h"} & {one.function.name for one in loose.functions()}
    assert (loose.lost > 0) == losses
    assert facts(loose) == facts(whole)


@pytest.mark.parametrize("losses", [False, True])
def test_a_trace_of_perfetto_has_what_the_whole_order_tells(tmp_path, losses):
    """Slices and instants of each thread, in their order."""
    source = CtfFsSource([write_threads(tmp_path / "trace", 4, losses=losses)])

    def read(name, call_filter):
        """Return what the file says: slices, and all other events."""
        path = tmp_path / name
        write_trace(source, path, "perfetto", call_filter=call_filter)
        found = PerfettoTrace(path)
        known = {track: facts[:2] for track, facts in found.threads.items()}
        tracks = found.tracks | known
        slices = {track: [] for track in tracks.values()}
        for one in found.slices:
            told = (one.name, one.begin, one.end, one.depth, one.arguments)
            slices[tracks[one.track]].append(told)
        return slices, [
            (tracks[one.track], one.name, one.time, one.arguments)
            for one in found.instants
        ]

    loose, whole = read("loose", None), read("whole", CallDurationFilter(0, [source]))
    slices, instants = whole
    assert sorted(map(len, slices.values()))[-4] > 1000
    assert len(instants) > 20
    assert loose == whole


def test_windows_have_what_the_whole_order_tells(tmp_path):
    """Where functions change, and where none does."""
    path = write_threads(tmp_path / "trace", 5, losses=True, changes=10_000)
    trace = vestige.open(path, debug_info=False)
    intervals, _ = intervals_of(trace, every=1000)
    length = intervals.end - intervals.begin
    for begin in range(0, length, length // 9):
        end = begin + length // 5
        fold, first = intervals.fold(intervals.begin + begin, intervals.begin + end)
        fold.keep_calls()
        for _ in intervals.read(fold, first, intervals.begin + end):
            pass
        whole = fold.take_blocks(intervals.begin)

        assert len(whole) > 10 * 39
        assert intervals.window(begin, end) == whole


def test_threads_are_numbered_by_their_first_call(tmp_path):
    """Also when what comes first in a data stream is something else."""
    late = [code(100, A, "f"), enter(300, A), leave(400)]
    early = [enter(200, B), leave(210), enter(220, B), leave(500)]
    streams = {"a": [packet(late, vtid=1)], "b": [packet(early, vtid=2)]}
    path = write_calls(tmp_path / "trace", streams)
    tree = call_tree(vestige.open(path, debug_info=False))

    assert [one.vtid for one in tree.threads] == [2, 1]


def test_only_what_means_nothing_to_others_is_out_of_order(tmp_path):
    """What an event record that is in order has in front of it is as in the whole order."""
    path = write_threads(tmp_path / "trace", 3, changes=20_000)
    streams = vestige.open(path, debug_info=False).streams
    fold = core.CallFold([ENTRY], [], [], code_events=[TOLD])
    whole, loose = mux(streams), mux(streams)
    for index, stream in enumerate(sorted(streams, key=type(streams[0]).order_key)):
        classes = fold.loose_classes(stream.handle)
        assert classes == [name != TOLD for name in stream.event_names]
        loose.loosen(index, classes)

    def order(muxer):
        """Return the data stream and the place of each record, and where code is told."""
        found, codes, before = [], [], {}
        for merge in muxer:
            for event in merge.events():
                number = before[event.stream] = before.get(event.stream, 0) + 1
                if event.name == TOLD:
                    codes.append((len(found), (event.stream, number)))
                found.append((event.stream, number))
        return found, codes

    (sorted_all, sorted_codes), (all_records, codes) = order(whole), order(loose)
    assert codes == sorted_codes
    assert len(codes) > 5
    for place, _ in codes:
        assert set(all_records[:place]) == set(sorted_all[:place])

    def changes(records):
        """Return how often the data stream is another one than before."""
        return sum(one[0] != other[0] for one, other in pairwise(records))

    assert changes(all_records) < 0.9 * changes(sorted_all)


def test_threads_that_only_records_tell_apart_stay_in_order(tmp_path):
    """One may go on in the data stream of another processor."""
    events = [enter(100, A, vtid=1), leave(200, vtid=1)]
    path = write_calls(
        tmp_path / "trace", {"s": [packet(events)]}, per_thread=False, contexts=True
    )
    (stream,) = vestige.open(path, debug_info=False).streams
    fold = core.CallFold([ENTRY], [], [])

    assert set(fold.loose_classes(stream.handle)) == {False}
