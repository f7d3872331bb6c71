"""Pages that kernels have made, and each shape that a page may have: exact bytes."""

from __future__ import annotations

import gzip
import struct
from collections import Counter
from itertools import pairwise

import pytest

import vestige
from support.kernel_fixtures import (
    BEGIN,
    CPU,
    END,
    FIXTURES,
    UUID,
    format_text,
    read_fixture,
    write_trace,
)
from vestige.record.backends.kernel.formats import read_format

EVENT = read_format("some", "event", format_text(3, ("int value", 8, 4, 1)))
TEXTS = [
    read_format(
        "some",
        f"event_{kind}",
        format_text(number, (f"__{kind}_loc char[] text", 8, 4, 0)),
    )
    for number, kind in ((4, "data"), (5, "rel"))
]
KERNELS = sorted(
    one.name.removesuffix("-4k.formats") for one in FIXTURES.glob("*-4k.formats")
)
OPENED = "syscall_entry_openat"
PADDING, EXTEND, STAMP = 29, 30, 31
LOST, COUNTED = 1 << 31, 1 << 30
PAGE = 4096
HEAD = 84
"""Bytes of header and context of a packet."""


def body(value, thread=7):
    """Return a record of the event."""
    return struct.pack("<HBBii", 3, 0, 0, thread, value)


def record(later, data):
    """Return a record of whole words, as short as the kernel makes it."""
    return struct.pack("<I", len(data) // 4 | later << 5) + data


def page(time, *records, flags=0, behind=b"", size=PAGE):
    """Return a page."""
    data = b"".join(records)
    return (struct.pack("<QQ", time, len(data) | flags) + data + behind).ljust(
        size, b"\0"
    )


def written(tmp_path, formats, pages, **more):
    """Return what becomes of pages: packets, each with its context and its records."""
    write_trace(tmp_path, formats, pages, **more)
    data = (tmp_path / f"channel0_{CPU}").read_bytes()
    packets = []
    while data:
        assert data[:4] == struct.pack("<I", 0xC1FC1FC1)
        assert data[4:20].hex() == UUID.replace("-", "")
        context = struct.unpack_from("<QQQQQQI", data, 32)
        begin, end, content, size, sequence, lost, cpu = context
        assert (sequence, cpu) == (len(packets), CPU)
        packets.append(((begin, end, lost), data[HEAD : content // 8]))
        assert not any(data[content // 8 : size // 8])
        data = data[size // 8 :]
    return packets


def compact(time, number, *fields):
    """Return a record with a short header: 5 bits of its class and 27 of the time."""
    return struct.pack("<I", (number | time << 5) & 0xFFFFFFFF) + b"".join(fields)


def extended(time, number, *fields):
    """Return a record that has the whole time."""
    return struct.pack("<BIQ", 31, number, time) + b"".join(fields)


def numbers(*values):
    """Return signed numbers of 4 bytes."""
    return struct.pack(f"<{len(values)}i", *values)


@pytest.mark.parametrize("name", ["4k", "64k"])
def test_pages_of_this_kernel_become_the_same_bytes(tmp_path, name):
    """Of Linux 6.18, with pages of two sizes; what is made of them is as it was."""
    formats, pages, size = read_fixture(FIXTURES / name)
    outcome = write_trace(tmp_path, formats, pages, page_bytes=size)
    made = (tmp_path / f"channel0_{CPU}").read_bytes()
    found = Counter(event.name for event in vestige.open(tmp_path))

    assert (outcome.damaged, outcome.lost) == (0, 0)
    assert found == {
        "syscall_entry_getpriority": 300,
        "syscall_exit_getpriority": 300,
        "syscall_entry_chdir": 3,
        "syscall_exit_chdir": 3,
        "lttng_logger": 1,
    }
    assert made == gzip.decompress((FIXTURES / f"{name}.ctf.gz").read_bytes())


@pytest.mark.parametrize("kernel", KERNELS)
def test_pages_of_other_kernels_become_the_same_bytes(tmp_path, kernel):
    """With names and priorities of threads, texts of the kernel's own, and a pause."""
    base = FIXTURES / f"{kernel}-4k"
    formats, pages, _ = read_fixture(base)
    outcome = write_trace(tmp_path, formats, pages)
    made = (tmp_path / f"channel0_{CPU}").read_bytes()
    events = list(vestige.open(tmp_path))
    found = {event.name: event for event in events}
    names = [one.payload["filename"] for one in events if one.name == OPENED]
    switches = [one.payload for one in events if one.name == "sched_switch"]
    steps = [two.cycles - one.cycles for one, two in pairwise(events)]

    assert (outcome.damaged, outcome.lost) == (0, 0)
    assert sum("getpriority" in one.name for one in events) == 600
    assert found["lttng_logger"].payload["msg"] == "a line of text"
    assert found["sched_process_exec"].payload["filename"] == "/bin/true"
    is_told = any(one.at("__filename_val") is not None for one in formats)
    assert ("/etc/passwd" in names) is is_told
    assert is_told or {*names} == {""}
    assert {("swapper/0", 20), ("python", 20), ("true", 20)} <= {
        (one["prev_comm"], one["prev_prio"]) for one in switches
    }
    assert max(steps) > 1 << 27
    assert made == gzip.decompress(base.with_name(f"{kernel}-4k.ctf.gz").read_bytes())


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_did_not_fit_is_counted(tmp_path, kernel):
    """As the first page says: with the line of text that comes first, 601 records."""
    base = FIXTURES / f"{kernel}-lost"
    formats, pages, _ = read_fixture(base)
    outcome = write_trace(tmp_path, formats, pages)
    made = (tmp_path / f"channel0_{CPU}").read_bytes()

    assert outcome.damaged == 0
    assert outcome.lost > 0
    assert outcome.records + outcome.lost == 601
    assert made == gzip.decompress(base.with_name(f"{kernel}-lost.ctf.gz").read_bytes())


def test_a_time_is_told_by_what_is_before_it(tmp_path):
    """Short steps, long ones, and the whole of it."""
    pages = [
        page(
            2000,
            record(5, body(1)),
            struct.pack("<II", EXTEND | 3 << 5, 2),
            record(1, body(2)),
            struct.pack("<II", STAMP | 7 << 5, 1 << 10),
            record(0, body(3)),
            # As long records are told, whose length is in a word of its own.
            struct.pack("<II", 4 << 5, len(body(4)) + 4) + body(4),
        )
    ]
    [(context, data)] = written(tmp_path, [EVENT], pages)
    later, stamp = 2005 + (2 << 27) + 4, 1 << 37 | 7

    assert context == (BEGIN, END, 0)
    assert data == b"".join(
        (
            compact(2005, 0, numbers(7, 1)),
            extended(later, 0, numbers(7, 2)),
            extended(stamp, 0, numbers(7, 3)),
            compact(stamp + 4, 0, numbers(7, 4)),
        )
    )


def test_padding_is_no_record(tmp_path):
    """One that is taken back has a time; the end of a page has none."""
    pages = [
        page(
            2000,
            record(5, body(1)),
            struct.pack("<II", PADDING | 3 << 5, 12) + bytes(8),
            record(1, body(2)),
            struct.pack("<II", PADDING, 0),
            record(1, body(3)),
        ),
        page(3000, record(0, body(4))),
    ]
    [(_, data)] = written(tmp_path, [EVENT], pages)

    assert data == b"".join(
        (
            compact(2005, 0, numbers(7, 1)),
            compact(2009, 0, numbers(7, 2)),
            compact(3000, 0, numbers(7, 4)),
        )
    )


def test_texts_are_where_their_words_lead(tmp_path):
    """From the record's begin, or from behind the word."""
    common = struct.pack("<BBi", 0, 0, 7)
    located = struct.pack("<H", 4) + common + struct.pack("<I", 12 | 3 << 16)
    relative = struct.pack("<H", 5) + common + struct.pack("<I", 0 | 4 << 16)
    pages = [page(2000, record(0, located + b"ab\0\0"), record(1, relative + b"abc\0"))]
    [(_, data)] = written(tmp_path, TEXTS, pages)

    assert data == compact(2000, 0, numbers(7), b"ab\0") + compact(
        2001, 1, numbers(7), b"abc\0"
    )


def test_what_was_lost_is_between_packets(tmp_path):
    """With its number behind the records."""
    pages = [
        page(2000, record(5, body(1))),
        page(
            3000,
            record(5, body(2)),
            flags=LOST | COUNTED,
            behind=struct.pack("<Q", 30),
        ),
    ]
    packets = written(tmp_path, [EVENT], pages)

    assert packets == [
        ((BEGIN, 2005, 0), compact(2005, 0, numbers(7, 1))),
        ((2005, END, 30), compact(3005, 0, numbers(7, 2))),
    ]


def test_a_full_page_has_no_room_for_the_number(tmp_path):
    """The kernel's statistics tell it at the end."""
    pages = [
        page(2000, record(5, body(1))),
        page(3000, record(5, body(2)), flags=LOST),
    ]
    packets = written(tmp_path, [EVENT], pages, statistics="overrun: 30\n")

    trace = vestige.open(tmp_path)
    assert [context[2] for context, _ in packets] == [0, 30]
    assert len(list(trace)) == 2
    assert sum(one.count for one in trace.losses) == 30


def test_records_are_as_long_as_their_events(tmp_path):
    """A shorter one has no fields, what stands behind a longer one is alignment."""
    pages = [page(2000, record(0, body(1)[:8]), record(1, body(2) + bytes(4)))]
    outcome = write_trace(tmp_path, [EVENT], pages)

    assert (outcome.records, outcome.damaged) == (1, 1)
    assert [event.payload["value"] for event in vestige.open(tmp_path)] == [2]
