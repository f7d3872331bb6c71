"""Pages of the kernel become a trace, wherever they come from."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
from array import array
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import page
from support.waiting import wait_until
from vestige.record._kernel import Collector
from vestige.record.backends.kernel.channel import Plan
from vestige.record.backends.kernel.event_classes import event_class
from vestige.record.backends.kernel.formats import read_format
from vestige.record.backends.kernel.metadata import (
    FEW,
    ClockFacts,
    DeclaredClass,
    StreamText,
    metadata_text,
)

UUID = "0d5d1ca2-6b4a-4dd8-9dd0-6b7d0a2e6f11"
CLOCK = ClockFacts("monotonic", "CLOCK_MONOTONIC", UUID, 10**9, 0)
WAKING = """\
ID: 3
	field:char comm[4];	offset:8;	size:4;	signed:0;
	field:pid_t pid;	offset:12;	size:4;	signed:1;
	field:int prio;	offset:16;	size:4;	signed:1;
"""
FORMATS = [read_format("sched", "sched_waking", WAKING)]
BEGIN = 1000
SECONDS = 30.0


def waking(thread: int, woken: int) -> bytes:
    """Return a record of the kernel."""
    return struct.pack("<HBBi4sii", 3, 0, 0, thread, b"app\0", woken, 120)


def pipe_of(pages) -> int:
    """Return what gives pages as the kernel's file does: none is read further."""
    readable, writable = os.pipe2(os.O_DIRECT | os.O_NONBLOCK)
    for one in pages:
        os.write(writable, one)
    os.close(writable)
    return readable


def new_pair(directory: Path) -> tuple[int, int]:
    """Return a new data file and its index."""
    (directory / "index").mkdir()
    new = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    places = directory / "channel0_5", directory / "index" / "channel0_5.idx"
    first, second = (os.open(place, new, 0o600) for place in places)
    return first, second


def write_metadata(directory: Path, classes: int = 1) -> list[Plan]:
    """Write metadata with the events and some more; return what becomes of those."""
    known = [event_class(one) for one in FORMATS]
    declared = [
        DeclaredClass(number, one.name, one.fields) for number, one in enumerate(known)
    ]
    more = range(len(known), classes)
    declared += [DeclaredClass(one, f"own_{one}", "") for one in more]
    stream = StreamText(0, is_compact=classes <= FEW, classes=declared)
    text = metadata_text(UUID, "test", CLOCK, [stream])
    (directory / "metadata").write_text(text)
    return [
        (one.id, number, list(made.operations), None)
        for number, (one, made) in enumerate(zip(FORMATS, known, strict=True))
    ]


def collector(
    directory: Path,
    pages,
    *,
    statistics="",
    own=(),
    classes=1,
    kept=None,
    left_out=None,
    ended=None,
    pages_from=None,
    **more,
):
    """Return what collects pages of one CPU."""
    plans = write_metadata(directory, classes)
    found = directory / "stats"
    found.write_text(statistics)
    given = pipe_of(pages) if pages_from is None else pages_from
    cpu = 5, given, os.open(found, os.O_RDONLY)
    found.unlink()
    made = Collector(4096)
    facts = bytes.fromhex(UUID.replace("-", "")), 0, classes <= FEW, BEGIN
    files = [new_pair(directory)] if kept is None else []
    made.leave_out(left_out or {})
    if ended is not None:
        made.end_own([*left_out], ended)
    made.add(facts, plans, [cpu], files, own=own, kept=kept, **more)
    return made


def collected(directory: Path, pages, *, end=9000, **facts):
    """Collect pages of one CPU; return what became of them."""
    [[outcome]] = collector(directory, pages, **facts).end(end)
    return outcome


@pytest.mark.parametrize("classes", [1, 40])
def test_records_are_in_the_trace(tmp_path, classes):
    """With short headers and long ones, whatever time passes between them."""
    first = page(2000, [(5, waking(7, 8)), (1 << 33, waking(8, 7))])
    outcome = collected(tmp_path, [first], classes=classes, end=1 << 40)

    trace = vestige.open(tmp_path)
    found = [(one.timestamp, one.name, dict(one.payload)) for one in trace]
    fields = {"comm": "app", "tid": 8, "prio": 20}
    assert found == [
        (2005, "sched_waking", fields),
        (2005 + (1 << 33), "sched_waking", {**fields, "tid": 7}),
    ]
    assert [one.context["tid"] for one in trace] == [7, 8]
    assert (outcome.records, outcome.lost, outcome.packets) == (2, 0, 1)
    assert outcome.bytes == (tmp_path / "channel0_5").stat().st_size
    assert outcome.failure is None


def test_what_pages_and_statistics_say_is_lost(tmp_path):
    """Before a page, or before it came to a page; the trace tells all of it."""
    pages = [page(2000, [(5, waking(7, 8))]), page(3000, [(5, waking(7, 8))], lost=30)]
    statistics = "overrun: 31\ncommit overrun: 0\ndropped events: 4\n"
    outcome = collected(tmp_path, pages, statistics=statistics)

    assert (outcome.records, outcome.lost) == (2, 35)
    trace = vestige.open(tmp_path)
    assert len(list(trace)) == 2
    assert sum(one.count for one in trace.losses) == 35


def test_own_records_are_put_in_their_places(tmp_path):
    """Also behind the last one of the kernel."""
    context = struct.pack("<i", 1)
    own = [(time, 1, context) for time in (1500, 2500, 3500)]
    pages = [page(2000, [(5, waking(7, 8)), (1000, waking(7, 8))])]
    collected(tmp_path, pages, own=own, classes=2)

    found = [one.timestamp for one in vestige.open(tmp_path)]
    assert found == [1500, 2005, 2500, 3005, 3500]


def test_pages_are_read_while_they_wait_for_own_records(tmp_path):
    """They become records once all are there that are earlier; then, nothing waits."""
    reads, writes = os.pipe2(os.O_DIRECT | os.O_NONBLOCK)
    made = collector(tmp_path, (), classes=2, pages_from=reads)
    context = struct.pack("<i", 1)
    made.wait_for_own()
    for time in (2000, 3000, 4000):
        os.write(writes, page(time, [(5, waking(7, 8))]))

    def is_read():
        left = array("i", [0])
        fcntl.ioctl(writes, termios.FIONREAD, left)
        return left[0] == 0

    def records():
        [[outcome]] = made.outcomes()
        return outcome.records

    wait_until(is_read, "all pages are read", SECONDS)
    assert records() == 0
    made.put(0, [(1500, 1, context), (2500, 1, context)], 3000)
    wait_until(lambda: records() == 2, "what is early is there", SECONDS)
    made.put(0, [(3500, 1, context)])
    wait_until(lambda: records() == 6, "all is there", SECONDS)
    os.close(writes)
    made.end(9000)

    found = [one.timestamp for one in vestige.open(tmp_path)]
    assert found == [1500, 2005, 2500, 3005, 3500, 4005]


def test_pages_that_make_no_sense_are_counted(tmp_path):
    """What is before that is kept; unknown events and short records are left out."""
    unknown = struct.pack("<HBBi", 99, 0, 0, 1)
    short = waking(7, 8)[:12]
    broken = page(2000, [(5, waking(7, 8)), (1, unknown), (1, short)])
    beyond = struct.pack("<QQI", 3000, 8, 28).ljust(4096, b"\xff")
    outcome = collected(tmp_path, [broken, beyond])

    assert (outcome.records, outcome.damaged) == (1, 2)
    assert len(list(vestige.open(tmp_path))) == 1


def test_a_buffer_is_read_in_parts(tmp_path):
    """Until there is nothing more, without being told to."""
    count, pages = 120, 15
    record = 10, waking(7, 9)
    full = [page(BEGIN + 10_000 * one, [record] * count) for one in range(pages)]
    made = collector(tmp_path, full, buffer=4 * 4096)
    wait_until(lambda: made.outcomes()[0][0].records == count * pages, "records", 30)
    made.end(BEGIN + 10**6)

    times = [one.timestamp for one in vestige.open(tmp_path)]
    assert len(times) == count * pages
    assert times == sorted(times)


def test_what_own_threads_do_is_left_out_but_what_concerns_others(tmp_path):
    """From a time on until they end; it is no loss."""
    records = [(10, waking(7, 9)), (10, waking(7, 7)), (10, waking(9, 7))]
    pages = [page(BEGIN + one, records) for one in (0, 100, 200)]
    left_out = {"left_out": {7: BEGIN + 50}, "ended": BEGIN + 205, "others": {3: 12}}
    # However little is read at a time: all of it is at the end.
    made = collector(tmp_path, pages, buffer=1, **left_out)
    [[outcome]] = made.end(BEGIN + 500)

    found = [
        (one.timestamp - BEGIN, one.context["tid"], one.payload["tid"])
        for one in vestige.open(tmp_path)
    ]
    before = [(10, 7, 9), (20, 7, 7), (30, 9, 7)]
    after = [(time + 200, thread, other) for time, thread, other in before]
    assert found == [*before, (110, 7, 9), (130, 9, 7), *after]
    assert (outcome.records, outcome.lost) == (8, 0)


def test_a_cpu_without_events_covers_all_of_the_time(tmp_path):
    """Readers look for what all data streams have in common."""
    outcome = collected(tmp_path, [])

    data = (tmp_path / "channel0_5").read_bytes()
    assert struct.unpack_from("<QQ", data, 32) == (BEGIN, 9000)
    assert (outcome.records, outcome.packets) == (0, 1)


def test_operations_that_are_none_are_refused():
    """Nothing has been read then."""
    with pytest.raises(ValueError, match="no such operation"):
        Collector(4096).add(
            (bytes(16), 0, True, 0), [(1, 0, [("add", 0, 0)], None)], [], []
        )


def test_a_cut_puts_what_comes_later_into_other_files(tmp_path):
    """Each of both is a trace; what is thrown away is in none."""
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    for one in (first, second, third):
        one.mkdir()
        write_metadata(one)
    readable, writable = os.pipe2(os.O_DIRECT | os.O_NONBLOCK)
    statistics = os.open("/dev/null", os.O_RDONLY)
    made = Collector(4096)
    facts = bytes.fromhex(UUID.replace("-", "")), 0, True, BEGIN
    plans = write_metadata(first)
    made.add(facts, plans, [(5, readable, statistics)], [new_pair(first)])
    os.write(writable, page(2000, [(5, waking(7, 8))]))
    made.cut(3000, [[new_pair(second)]], is_dropped=False)
    os.write(writable, page(4000, [(5, waking(7, 9))]))
    made.cut(5000, [[new_pair(third)]], is_dropped=True)
    os.write(writable, page(6000, [(5, waking(7, 10))]))
    [[outcome]] = made.flush(7000, is_stopped=True)
    made.end(8000)
    os.close(writable)

    found = {
        one.name: [
            (event.timestamp, event.payload["tid"]) for event in vestige.open(one)
        ]
        for one in (first, third)
    }
    assert found == {"first": [(2005, 8)], "third": [(6005, 10)]}
    assert list(vestige.open(second)) == []
    assert outcome.records == 2


def test_what_is_kept_is_written_when_it_is_asked_for(tmp_path):
    """And stays: the next snapshot has it, too. The oldest makes room."""
    pages = [page(1000 * time, [(5, waking(7, time))]) for time in range(2, 6)]
    made = collector(tmp_path, pages, kept=150)
    taken = []
    for most in (1 << 20, 70):
        place = tmp_path / f"snapshot-{most}"
        place.mkdir()
        write_metadata(place)
        made.copy(9000, [[new_pair(place)]], [most])
        taken.append([one.payload["tid"] for one in vestige.open(place)])
    made.end(9000)

    assert taken == [[4, 5], [5]]
