"""Calls as intervals: each level has all of them, and a part is what the whole has."""

from __future__ import annotations

import random
import struct
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.call_traces import code, enter, leave, packet, state, write_calls
from vestige import ctf
from vestige.analysis.intervals import CallRange, CallSelection, intervals_of

A, B, C, D = 0x1000, 0x2000, 0x3000, 0x4000
COLUMNS = (
    ("I", 4),
    ("H", 2),
    ("B", 1),
    ("I", 4),
    ("Q", 8),
    ("Q", 8),
    ("I", 4),
    ("Q", 8),
)
OPEN_AT_BEGIN, OPEN_AT_END, MERGED, OTHERS = 1, 2, 4, 16


def rows(data):
    """Return the blocks of columns."""
    count, at, columns = len(data) // 39, 0, []
    for form, size in COLUMNS:
        part = data[at : at + size * count]
        columns.append(struct.unpack(f"<{count}{form}", part))
        at += size * count
    assert at == len(data)
    return list(zip(*columns, strict=True))


def thread_events(source, vtid, calls, count):
    """Make up events of a thread, and add its calls to a list."""
    now, stack, events = 1000 + vtid, [], []
    for _ in range(count):
        now += source.choice([3, 20, 900, 30_000])
        if len(stack) > 6 or (stack and source.random() < 0.5):
            calls.append((*stack.pop(), now, len(stack), vtid))
            events.append(leave(now))
        else:
            stack.append((source.choice([A, B, C, D]), now))
            events.append(enter(now, stack[-1][0]))
    while stack:
        now += 5
        calls.append((*stack.pop(), now, len(stack), vtid))
        events.append(leave(now))
    return events


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Return a trace of some merges, its intervals, and all of its calls."""
    source = random.Random(19)  # noqa: S311 - no secret
    streams, calls = {}, []
    for vtid in (1, 2, 3):
        events = thread_events(source, vtid, calls, 25_000)
        parts = [events[at : at + 5000] for at in range(0, len(events), 5000)]
        streams[f"s{vtid}"] = [packet(part, vtid=vtid) for part in parts]
    path = write_calls(tmp_path_factory.mktemp("calls") / "trace", streams)
    trace = vestige.open(path, debug_info=False)
    intervals, tree = intervals_of(trace, every=1000)
    return trace, intervals, calls, tree


def test_each_level_has_every_call(recording):
    """With its time, however many share a block."""
    _, intervals, calls, tree = recording
    times = Counter()
    for _, begin, end, _, vtid in calls:
        times[vtid] += end - begin

    assert len(intervals.levels) == 12
    for level, (width, count) in enumerate(intervals.levels):
        found = rows(intervals.blocks(level, 0, intervals.end))
        assert len(found) == count
        assert found == sorted(found, key=lambda one: (one[0], one[1], one[4]))
        busy = Counter()
        for row, _, flags, _, _, duration, number, together in found:
            busy[intervals.rows[row].tid] += together
            assert (number > 1) == bool(flags & MERGED)
            assert number == 1 or duration < 2 * width
        assert busy == times
        assert sum(one[6] for one in found) == len(calls)
    assert sum(one.calls for one in tree.functions()) == len(calls)


def test_rows_are_threads(recording):
    """With the number of their event records, and how deep calls are."""
    trace, intervals, calls, _ = recording
    depths = {
        vtid: max(one[3] for one in calls if one[4] == vtid) for vtid in (1, 2, 3)
    }

    assert [row.kind for row in intervals.rows] == ["calls"] * 3
    assert {row.tid: row.depth - 1 for row in intervals.rows} == depths
    for row in intervals.rows:
        own = [one for one in calls if one[4] == row.tid]
        assert (row.events, row.calls) == (2 * len(own), len(own))
        assert row.begin == min(one[1] for one in own)
        assert row.end == max(one[2] for one in own)
    assert sum(one.events for one in intervals.threads()) == trace.count()


def test_a_window_is_the_whole_cut(recording):
    """Wherever it begins: the same calls, with what is inside of them."""
    _, intervals, calls, _ = recording
    source = random.Random(7)  # noqa: S311 - no secret
    tids = [row.tid for row in intervals.rows]
    assert intervals.index.points >= 1
    for _ in range(12):
        begin = source.randrange(intervals.end - intervals.begin)
        end = begin + source.randrange(3_000_000)
        first, last = begin + intervals.begin, end + intervals.begin
        expected = sorted(
            (
                vtid,
                depth,
                max(start, first) - intervals.begin,
                min(stop, last) - max(start, first),
                function,
                start < first,
                stop > last,
            )
            for function, start, stop, depth, vtid in calls
            if start <= last and stop >= first
        )
        found = sorted(
            (
                tids[row],
                depth,
                start,
                duration,
                intervals.functions[function].address,
                bool(flags & OPEN_AT_BEGIN),
                bool(flags & OPEN_AT_END),
            )
            for row, depth, flags, function, start, duration, *_ in rows(
                intervals.window(begin, end)
            )
        )
        assert found == expected


def test_the_tree_of_a_part_is_that_of_a_reading_from_the_beginning(recording):
    """The same calls by path, with what is inside of them."""
    trace, intervals, *_ = recording
    for begin, length in ((1_000_000, 400_000), (90_000_000, 2_000_000), (0, 1 << 60)):
        first = begin + intervals.begin
        read = trace.call_tree(begin=first, end=min(first + length, intervals.end))
        found = intervals.call_root(begin, begin + length)

        assert by_path(found) == by_path(read.root())
        assert by_path(found)


def test_the_tree_of_a_part_names_functions_of_several_processes(tmp_path):
    """Two runs of a program have the same functions: the second one has no others."""

    def run(begin, vpid):
        first = [state(begin, "start"), state(begin, "load", A, "/srv/one.so")]
        calls = [enter(begin + 10, A), enter(begin + 20, A + 8), leave(begin + 25)]
        return [packet([*first, *calls, leave(begin + 50)], vpid=vpid, vtid=vpid)]

    streams = {"a": run(100, 77), "b": run(1100, 78), "c": run(2100, 79)}
    trace = vestige.open(write_calls(tmp_path / "trace", streams))
    intervals, _ = intervals_of(trace)
    for begin in (100, 1100, 2100):
        first = begin - intervals.begin
        root = intervals.call_root(first, first + 60)
        found = [(one.function.name, one.duration) for _, one in root.walk()][1:]
        assert found == [("one.so+0x0", 40), ("one.so+0x8", 5)]


def test_a_loss_before_a_point_is_not_told_again_behind_it(tmp_path):
    """A reading may begin in the midst of the packet in front of which records are lost."""
    times = range(2000, 400_000, 4)
    inner = [one for at in times for one in (enter(at, B), leave(at + 2))]
    packets = [
        packet([enter(1000, A), leave(1010)]),
        packet([enter(1990, C), *inner, leave(400_100)], discarded=3),
        packet([enter(400_200, D), leave(400_300)], discarded=3),
    ]
    path = write_calls(tmp_path / "trace", {"s": packets}, tracer="lttng")
    trace = vestige.open(path, debug_info=False)
    intervals, _ = intervals_of(trace, every=1)
    first = intervals.begin
    assert first + 2000 < intervals.fold(399_000, 400_250)[1] < 399_000

    for begin in (399_000, 400_050, 1500):
        found = intervals.call_root(begin - first, 400_250 - first)
        read = trace.call_tree(begin=begin, end=400_250)
        assert by_path(found) == by_path(read.root())
        assert (C,) in {path[1:] for path in by_path(found)}


def by_path(root):
    """Return calls, time and own time of each path of addresses."""
    found, path = {}, []
    for level, node in root.walk():
        path[level:] = [node.function.address]
        found[tuple(path)] = (node.calls, node.duration, node.self_time)
    return found


def test_calls_of_a_part_need_not_what_is_before(recording):
    """The reading begins at a point at which it is known what is open."""
    _, intervals, *_ = recording
    late = intervals.end - 1_000_000
    _, begin = intervals.fold(late, intervals.end)
    early = intervals.fold(intervals.begin, late)[1]

    assert intervals.begin < begin <= late
    assert early is None


def test_functions_follow_their_addresses(tmp_path):
    """In a window after another object came to an address, names are those of then."""
    events = [state(10, "start"), code(20, A, "first"), code(21, B, "second")]
    now = 100
    for name in ("first", "other", "first"):
        events.append(code(now + 40, A, name))
        for _ in range(6_000):
            now += 50
            events += [
                enter(now, A),
                leave(now + 10),
                enter(now + 20, B),
                leave(now + 30),
            ]
    trace = vestige.open(write_calls(tmp_path / "trace", {"s": [packet(events)]}))
    intervals, _ = intervals_of(trace, every=1000)
    third = now // 3

    assert intervals.index.points >= 1
    for place, name in (
        (third // 2, "first"),
        (third * 3 // 2, "other"),
        (now, "first"),
    ):
        wanted = CallRange(begin=place - 500, end=place)
        names = {call.function.name for call in CallSelection(trace, intervals, wanted)}
        assert names == {name, "second"}


def test_events_that_are_no_calls_have_rows(tmp_path):
    """With how many there are in each block."""
    codes = [code(1000 + 100 * number, A, "f") for number in range(500)]
    ends = [enter(100_000, A), leave(200_000)]
    trace = vestige.open(
        write_calls(tmp_path / "trace", {"s": [packet([*codes, *ends])]})
    )
    intervals, _ = intervals_of(trace)
    found = rows(intervals.blocks(0, 0, intervals.end))

    assert [(row.kind, row.events) for row in intervals.rows] == [
        ("calls", 2),
        ("events", 500),
    ]
    others = [one for one in found if one[2] & OTHERS]
    assert {one[0] for one in others} == {1}
    assert sum(one[6] for one in others) == 500
    assert len(others) == 2
    (thread,) = intervals.threads()
    assert (thread.events, thread.calls, thread.begin, thread.end) == (
        502,
        1,
        1000,
        200_000,
    )


def test_incomplete_calls_are_flagged(tmp_path):
    """A call without an exit ends with the last event that is in it."""
    events = [enter(1000, A), enter(50_000, B), leave(90_000), enter(95_000, C)]
    trace = vestige.open(write_calls(tmp_path / "trace", {"s": [packet(events)]}))
    intervals, _ = intervals_of(trace)
    found = rows(intervals.blocks(0, 0, intervals.end))

    assert [
        (depth, flags, start, duration)
        for _, depth, flags, _, start, duration, *_ in found
    ] == [
        (0, OPEN_AT_END, 0, 94_000),
        (1, 0, 49_000, 40_000),
        (1, OPEN_AT_END, 94_000, 0),
    ]


def test_a_trace_without_events(tmp_path):
    """Has neither rows nor blocks."""
    trace = vestige.open(write_calls(tmp_path / "trace", {"s": [packet([])]}))
    intervals, _ = intervals_of(trace)

    assert (intervals.rows, intervals.begin, intervals.end) == ([], 0, 0)
    assert intervals.blocks(0, 0, 10**9) == intervals.window(0, 10**9) == b""


def test_a_thread_is_one_whatever_its_events_tell():
    """Event record classes of one data stream can differ in whether they tell it."""
    data = Path(__file__).parents[3] / "data"
    threads = vestige.open(data / "recording-1").threads()
    assert [(one.process.pid, one.tid) for one in threads] == [
        (22, 22),
        (22, 23),
        (24, 24),
    ]


def test_other_events_are_of_their_threads(tmp_path):
    """Also where a data stream has those of several, and contexts alone tell."""
    context = {"vpid": "s32", "vtid": "s32"}
    with ctf.Writer(tmp_path / "trace", event_context=context) as writer:
        event = writer.event_class("x:y", {"size": "u32"})
        stream = writer.stream("s")
        for index in range(6):
            who = {"vpid": 7, "vtid": 8 + index % 2}
            stream.write(event, 10 * index, who, size=index)
    index, _ = intervals_of(vestige.open(tmp_path / "trace", debug_info=False))

    assert [(one.process.pid, one.tid, one.events) for one in index.rows] == [
        (7, 8, 3),
        (7, 9, 3),
    ]


def test_calls_are_in_the_rows_of_their_threads(tmp_path):
    """Also if the data stream that is read first has the thread that begins last."""
    late = packet([enter(1500, A), leave(1600)], vtid=11)
    early = packet([enter(1000, B), leave(1300)], vtid=12)
    path = write_calls(tmp_path / "trace", {"a": [late], "b": [early]})
    found, _ = intervals_of(vestige.open(path, debug_info=False))
    blocks = rows(found.blocks(0, 0, 1000))

    assert [(one.tid, one.begin) for one in found.rows] == [(12, 1000), (11, 1500)]
    assert [(block[0], block[4]) for block in blocks] == [(0, 0), (1, 500)]


def test_threads_without_calls_are_of_the_process_of_their_packets(tmp_path):
    """Also where event records would tell it themselves, as those of ``--pthread``."""
    writer = ctf.Writer(
        tmp_path / "t",
        packet_context={"vpid": "s32", "vtid": "s32"},
        event_context={"ip": "x64", "vpid": "s32"},
    )
    other = writer.event_class("a:b", {})
    for number, vpid in enumerate((7, 7, 9)):
        stream = writer.stream(f"s{number}", vpid=vpid, vtid=70 + number)
        stream.write(other, 10 + number, {"ip": 0x100, "vpid": vpid})
    writer.close()
    threads = vestige.open(tmp_path / "t").threads()
    found = [(one.process.pid, one.tid) for one in threads]
    assert found == [(7, 70), (7, 71), (9, 72)]
