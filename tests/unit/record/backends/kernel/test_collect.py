"""Pages of the kernel become a trace, wherever they come from."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import page
from vestige.record._kernel import collect
from vestige.record.backends.kernel.event_classes import event_class
from vestige.record.backends.kernel.formats import read_format
from vestige.record.backends.kernel.metadata import ClockFacts, metadata_text

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


def waking(thread: int, woken: int) -> bytes:
    """Return a record of the kernel."""
    return struct.pack("<HBBi4sii", 3, 0, 0, thread, b"app\0", woken, 120)


def collected(directory: Path, pages, *, statistics="", own=(), classes=1, end=9000):
    """Collect pages of one CPU; return what became of them."""
    (directory / "index").mkdir()
    known = [event_class(one) for one in FORMATS]
    names = [(one.name, one.fields) for one in known]
    names += [(f"own_{number}", "") for number in range(classes - len(known))]
    text = metadata_text(UUID, "test", CLOCK, names)
    (directory / "metadata").write_text(text)
    (directory / "stats").write_text(statistics)
    # A pipe gives no more than was written at once, as the kernel's file does.
    readable, writable = os.pipe2(os.O_DIRECT | os.O_NONBLOCK)
    for one in pages:
        os.write(writable, one)
    os.close(writable)
    mine, theirs = socket.socketpair()
    mine.sendall(struct.pack("<Q", end))
    new = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    events = [
        (one.id, 0, made.operations, None)
        for one, made in zip(FORMATS, known, strict=True)
    ]
    files = (
        readable,
        os.open(directory / "stats", os.O_RDONLY),
        os.open(directory / "channel0_5", new, 0o600),
        os.open(directory / "index" / "channel0_5.idx", new, 0o600),
    )
    recording = (bytes.fromhex(UUID.replace("-", "")), classes, 4096, BEGIN)
    with mine:
        [outcome] = collect(
            recording, events, {}, [(5, *files)], (5, own), theirs.detach()
        )
    (directory / "stats").unlink()
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


def test_pages_that_make_no_sense_are_counted(tmp_path):
    """What is before that is kept; unknown events and short records are left out."""
    unknown = struct.pack("<HBBi", 99, 0, 0, 1)
    short = waking(7, 8)[:12]
    broken = page(2000, [(5, waking(7, 8)), (1, unknown), (1, short)])
    beyond = struct.pack("<QQI", 3000, 8, 28).ljust(4096, b"\xff")
    outcome = collected(tmp_path, [broken, beyond])

    assert (outcome.records, outcome.damaged) == (1, 2)
    assert len(list(vestige.open(tmp_path))) == 1


def test_a_cpu_without_events_covers_all_of_the_time(tmp_path):
    """Readers look for what all data streams have in common."""
    outcome = collected(tmp_path, [])

    data = (tmp_path / "channel0_5").read_bytes()
    assert struct.unpack_from("<QQ", data, 32) == (BEGIN, 9000)
    assert (outcome.records, outcome.packets) == (0, 1)


def test_operations_that_are_none_are_refused():
    """Nothing has been read then."""
    mine, theirs = socket.socketpair()
    with mine, theirs, pytest.raises(ValueError, match="no such operation"):
        collect(
            (bytes(16), 1, 4096, 0),
            [(1, 0, [("add", 0, 0)], None)],
            {},
            [],
            (0, []),
            -1,
        )
