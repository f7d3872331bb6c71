"""Function calls whose records have no ``ip``: packets and payloads tell the rest."""

from __future__ import annotations

import random
import struct

import pytest

import vestige
from support.ctf_writer import Event, Packet, metadata_head, write_trace
from vestige.cli.main import main
from vestige.debuginfo import Place

BASE = 0x7F00_0000_0000
OBJECT = "/nowhere/libtold.so"
ENTRY, EXIT, BIN_INFO, OTHER, VERBOSE_EXIT = range(5)
NAMES = {
    ENTRY: ("lttng_ust_cyg_profile_fast:func_entry", "uint64_t addr;"),
    EXIT: ("lttng_ust_cyg_profile_fast:func_exit", ""),
    BIN_INFO: (
        "lttng_ust_statedump:bin_info",
        "uint64_t baddr; uint64_t memsz; string path; uint8_t is_pic;",
    ),
    OTHER: ("shop:order", "uint64_t addr;"),
    VERBOSE_EXIT: ("lttng_ust_cyg_profile:func_exit", "uint64_t addr;"),
}


def metadata(*, packet="", context="", environment=""):
    """Return metadata with more fields in the contexts."""
    head = metadata_head(packet=packet, context=context, env=environment)
    return head + "".join(
        f'event {{ id = {number}; stream_id = 0; name = "{name}";\n'
        f"\tfields := struct {{ {fields} }};\n}};\n"
        for number, (name, fields) in NAMES.items()
    )


class Calls:
    """Records in a row, each some time after the one before.

    Args:
        context: The fields of the common context of each.
    """

    def __init__(self, context=b"", time=100):
        self.context = context
        self.time = time
        self.events = []

    def add(self, kind, payload=b""):
        """Add a record."""
        self.time += 10
        self.events.append(Event(self.time, self.context + payload, kind))
        return self

    def dump(self):
        """Add the state dump of one object."""
        fields = struct.pack("<QQ", BASE, 0x1000) + OBJECT.encode() + b"\0\1"
        return self.add(BIN_INFO, fields)

    def enter(self, offset):
        """Enter a function of the object."""
        return self.add(ENTRY, struct.pack("<Q", BASE + offset))

    def leave(self, count=1):
        """Leave functions."""
        for _ in range(count):
            self.add(EXIT)
        return self

    def packet(self, thread=(), **facts):
        """Return the records so far as a packet, and begin a new one."""
        events, self.events = self.events, []
        return Packet(events, context=struct.pack(f"<{len(thread)}i", *thread), **facts)


def thread_trace(directory, *packets, **streams):
    """Write a trace whose packets tell process and thread."""
    text = metadata(packet="int32_t vpid; int32_t vtid;")
    files = {"stream": packets, **streams}
    data = {
        name: b"".join(one.encode() for one in given) for name, given in files.items()
    }
    return write_trace(directory, text, data)


def offsets(trace, pattern="lttng_ust_cyg*"):
    """Return where in the object each event was, and ``None`` for those not resolved."""
    found = []
    for event in vestige.open(trace).events(pattern):
        place = event.debug_info
        assert place is None or isinstance(place, Place)
        found.append(None if place is None else place.binary.offset)
    return found


THREAD = (7, 8)


def test_entries_and_exits_have_the_place_of_their_function(tmp_path):
    """Exits by the entries before them."""
    calls = Calls().dump().enter(1).enter(2).leave().enter(3).leave(2)
    trace = thread_trace(tmp_path / "trace", calls.packet(THREAD))

    assert offsets(trace) == [1, 2, 2, 3, 3, 1]


def test_text_and_columns_have_the_same_places(tmp_path, capfd):
    """In a common context that holds nothing else."""
    pyarrow = pytest.importorskip("pyarrow")
    calls = Calls().dump().enter(1).enter(2).leave(3)
    trace = thread_trace(tmp_path / "trace", calls.packet(THREAD))
    expected = [f"libtold.so+{offset:#x}" for offset in (1, 2, 2, 1)]

    assert main(["convert", "--debug-info", str(trace)]) == 0
    lines = capfd.readouterr().out.splitlines()
    for line, told in zip(lines[1:], expected, strict=False):
        place = f'{{ debug_info = {{ bin = "{told}", func = "", src = "" }} }}'
        assert f"{{ vpid = 7, vtid = 8 }}, {place}, {{ " in line
    assert "debug_info" not in lines[0]
    assert "debug_info" not in lines[5]
    places = pyarrow.table(vestige.open(trace).to_arrow(["debug_info"]))["debug_info"]
    bins = [place and place["bin"] for place in places.to_pylist()]
    assert bins == [None, *expected, None]


def test_an_exit_without_an_entry_has_no_place(tmp_path):
    """Recording began inside of the function."""
    calls = Calls().dump().leave().enter(1).leave(2)
    trace = thread_trace(tmp_path / "trace", calls.packet(THREAD))

    assert offsets(trace) == [None, 1, 1, None]


def test_threads_have_stacks_of_their_own(tmp_path):
    """One data stream each, merged by time."""
    first = Calls().dump().enter(1).enter(2).leave(2)
    second = Calls(time=125).enter(3).leave(2)
    trace = thread_trace(
        tmp_path / "trace", first.packet(THREAD), other=[second.packet((7, 9))]
    )

    assert offsets(trace) == [1, 2, 3, 2, 3, 1, None]


def test_exits_around_lost_events_have_no_place(tmp_path):
    """Up to the end of the packet that tells of a loss: where it was nobody knows."""
    calls = Calls()
    packets = [
        calls.dump().enter(1).enter(2).packet(THREAD),
        calls.leave().enter(3).leave().packet(THREAD, discarded=4, sequence=1),
        calls.leave().enter(4).leave().packet(THREAD, discarded=4, sequence=2),
    ]
    trace = thread_trace(tmp_path / "trace", *packets)

    assert offsets(trace) == [1, 2, None, 3, None, None, 4, 4]


def test_exits_behind_lost_packets_have_no_place(tmp_path):
    """Until their entries are known again."""
    calls = Calls()
    packets = [
        calls.dump().enter(1).enter(2).packet(THREAD),
        calls.leave().enter(3).leave().packet(THREAD, sequence=5),
    ]
    trace = thread_trace(tmp_path / "trace", *packets)

    assert offsets(trace) == [1, 2, None, 3, 3]


def test_exits_behind_damage_have_no_place(tmp_path):
    """What stood there may have been calls."""
    calls = Calls()
    packets = [
        calls.dump().enter(1).enter(2).packet(THREAD),
        calls.add(99).packet(THREAD, sequence=1),
        calls.leave().enter(3).leave().packet(THREAD, sequence=2),
    ]
    trace = thread_trace(tmp_path / "trace", *packets)

    with pytest.warns(vestige.TraceDamageWarning):
        assert offsets(trace) == [1, 2, None, 3, 3]


@pytest.mark.parametrize("pattern", ["*:func_exit", "*_exit"])
def test_entries_that_are_not_shown_count(tmp_path, pattern):
    """The filter needs them all the same."""
    calls = Calls().dump().enter(1).enter(2).leave(2)
    trace = thread_trace(tmp_path / "trace", calls.packet(THREAD))

    assert offsets(trace, pattern) == [2, 1]


def test_entries_before_the_time_range_count(tmp_path):
    """A call that is under way at its beginning is known."""
    calls = Calls().dump().enter(1).enter(2).leave(2)
    trace = thread_trace(tmp_path / "trace", calls.packet(THREAD))
    found = vestige.open(trace).events(begin=calls.time)

    assert [event.debug_info.binary.offset for event in found] == [1]


def test_a_packet_of_another_thread_begins_anew(tmp_path):
    """Where several share a data stream."""
    calls = Calls()
    packets = [
        calls.dump().enter(1).packet(THREAD),
        calls.leave().enter(2).leave().packet((7, 9), sequence=1),
    ]
    trace = thread_trace(tmp_path / "trace", *packets)

    assert offsets(trace) == [1, None, 2, 2]


@pytest.mark.parametrize(
    ("facts", "context", "thread"),
    [
        ({"packet": "int32_t vpid;"}, b"", (7,)),
        ({"context": "int32_t vpid;"}, struct.pack("<i", 7), ()),
        (
            {"context": "string procname; int32_t vpid;"},
            b"told\0" + struct.pack("<i", 7),
            (),
        ),
        ({"environment": "vpid = 7;"}, b"", ()),
    ],
)
def test_the_process_is_told_by_record_packet_or_trace(
    tmp_path, facts, context, thread
):
    """Without a thread, exits have no entries; verbose ones tell their function."""
    calls = Calls(context).dump().enter(1).leave()
    calls.add(VERBOSE_EXIT, struct.pack("<Q", BASE + 5))
    packet = calls.packet(thread).encode()
    trace = write_trace(tmp_path / "trace", metadata(**facts), {"stream": packet})

    assert offsets(trace) == [1, None, 5]


def test_the_context_of_a_record_comes_first(tmp_path):
    """It tells where in the function the event was, at the exit, too."""
    calls = Calls(struct.pack("<Q", BASE + 77)).dump().enter(1).leave()
    text = metadata(packet="int32_t vpid; int32_t vtid;", context="uint64_t ip;")
    packet = calls.packet(THREAD).encode()
    trace = write_trace(tmp_path / "trace", text, {"stream": packet})

    assert offsets(trace) == [77, 77]


def test_other_events_get_no_place(tmp_path):
    """Whatever their fields are called."""
    calls = Calls().dump().enter(1).add(OTHER, struct.pack("<Q", BASE + 3))
    trace = thread_trace(tmp_path / "trace", calls.packet(THREAD))

    assert offsets(trace, "shop:*") == [None]


def test_without_a_process_there_is_no_place(tmp_path):
    """An address means nothing then."""
    packet = Calls().dump().enter(1).leave().packet().encode()
    trace = write_trace(tmp_path / "trace", metadata(), {"stream": packet})

    assert offsets(trace) == [None, None]


def random_thread(chance, thread, time):
    """Return packets of random calls with losses, and the offset of each event."""
    calls, packets, expected = Calls(time=time), [], []
    if thread == THREAD:
        calls.dump()
    stack, lost = [], 0
    for sequence in range(60):
        is_lossy = sequence > 0 and chance.random() < 0.2
        if is_lossy:
            lost += 1
            stack.clear()
        for _ in range(chance.randrange(1, 1500)):
            calls.time += chance.randrange(40)
            if chance.random() < 0.5:
                offset = chance.randrange(0x1000)
                calls.enter(offset)
                stack.append(offset)
                expected.append((calls.time, offset))
            else:
                calls.leave()
                left = stack.pop() if stack else None
                expected.append((calls.time, None if is_lossy else left))
        if is_lossy:
            stack.clear()
        packets.append(calls.packet(thread, discarded=lost, sequence=sequence))
        calls.time += 1000
    return packets, expected


@pytest.mark.parametrize("seed", [1, 2])
def test_stacks_last_over_many_merges(tmp_path, seed):
    """Of threads that take turns, with losses in between."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    first, found_first = random_thread(chance, THREAD, 100)
    second, found_second = random_thread(chance, (7, 9), 10_000)
    trace = thread_trace(tmp_path / "trace", *first, other=second)
    expected = sorted(found_first + found_second, key=lambda one: one[0])

    events = vestige.open(trace).events("lttng_ust_cyg*")
    places = [(event.cycles, event.debug_info) for event in events]
    offsets_found = [
        (time, None if place is None else place.binary.offset) for time, place in places
    ]
    assert len(expected) > 2 * 32_768
    assert sorted(offsets_found, key=repr) == sorted(expected, key=repr)
