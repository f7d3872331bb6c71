"""Records of pages that are read where somebody waits for them."""

from __future__ import annotations

import struct

from support.kernel_tracer import page
from vestige.record.backends.kernel.formats import EventFormat, read_format
from vestige.record.backends.kernel.watched_pages import (
    read_page,
    read_values,
    thread_of,
    type_of,
)

SWITCH = """name: sched_switch
ID: 7
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:__data_loc char[] where;\toffset:32;\tsize:4;\tsigned:0;
\tfield:struct thing other;\toffset:36;\tsize:12;\tsigned:0;
"""


def event() -> EventFormat:
    """Return what the kernel says of an event."""
    return read_format("sched", "sched_switch", SWITCH)


def record(comm: bytes = b"sh", where: bytes = b"here\0") -> bytes:
    """Return a record of it."""
    place = len(where) << 16 | 48
    data = struct.pack("<HBBi16siiI12x", 7, 0, 0, 31, comm, 31, 120, place)
    whole = data + where
    return whole + bytes(-len(whole) % 4)


def test_records_become_values_by_lttngs_names():
    """Numbers and texts; what is neither has none. Priorities are those of LTTng."""
    [found] = read_page(page(5, [(0, record())])).records

    assert (type_of(found), thread_of(found)) == (7, 31)
    assert read_values(found, event()) == {
        "prev_comm": b"sh",
        "prev_tid": 31,
        "prev_prio": 20,
        "where": b"here",
        "other": None,
    }


def test_all_records_of_a_page_are_found():
    """Also after a long time between two."""
    records = [(0, record()), (1 << 30, record(b"x" * 16)), (3, record())]
    found = read_page(page(5, records)).records

    names = [read_values(one, event())["prev_comm"] for one in found]
    assert names == [b"sh", b"x" * 16, b"sh"]


def test_losses_are_counted():
    """As far as the kernel tells them."""
    assert read_page(page(5, [(0, record())], lost=9)).lost == 9
    assert read_page(page(5, [(0, record())])).lost == 0


def test_what_makes_no_sense_ends_a_page():
    """Whatever bytes there are, nothing is read that is not there."""
    whole = page(5, [(0, record()), (0, record())])
    for end in range(len(whole)):
        assert len(read_page(whole[:end]).records) <= 2
    for at in range(8, 120):
        for value in (0, 29, 31, 255):
            broken = bytearray(whole)
            broken[at] = value
            for one in read_page(bytes(broken)).records:
                read_values(one, event())
