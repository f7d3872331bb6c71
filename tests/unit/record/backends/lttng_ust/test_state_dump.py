"""State dumps that the daemon writes are read as those of programs."""

from __future__ import annotations

import warnings

import pytest

import vestige
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.metadata import trace_text
from vestige.record.backends.lttng_ust.state_dump import (
    ProgramState,
    StatePacket,
    read_states,
    state_packet,
    state_text,
)

UUID = bytes(range(16))
ALL = frozenset(["start", "procname", "bin_info", "build_id", "debug_link", "end"])
OBJECTS = (
    (0x1000, 0x500, b"/bin/one", False, b"", None),
    (0x7000, 0x600, "/lib/zw\u00f6lf.so".encode(), True, b"\x01\xff", (b"t.debug", 7)),
)


def events(folder, *packets):
    """Return the events of a trace of such packets."""
    text = trace_text(UUID, {}, Clock()) + state_text(Clock())
    (folder / "metadata").write_text(text)
    (folder / "vestige-state").write_bytes(b"".join(one.data for one in packets))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace = vestige.open(folder, debug_info=False)
        found = [*trace.events()]
    assert not trace.damage
    return found


def packet(number, *states, wanted=ALL):
    """Return a packet."""
    return state_packet(StatePacket(UUID, 1000 + number, number), states, wanted)


def test_all_of_an_object_is_told(tmp_path):
    """In the order in which programs tell it, all at one time."""
    state = ProgramState(77, "a name that is longer than its field", OBJECTS)
    found = events(tmp_path, packet(0, state), packet(1, ProgramState(78, "b", ())))
    first = [one for one in found if one["vpid"] == 77]
    assert [one.name.partition(":")[2] for one in first] == [
        *("start", "procname", "bin_info", "bin_info", "build_id", "debug_link", "end")
    ]
    assert len({one.timestamp for one in first}) == 1
    assert first[1]["procname"] == "a name that is l"
    plain, library = first[2], first[3]
    assert (plain["baddr"], plain["memsz"], plain["path"]) == (
        0x1000,
        0x500,
        "/bin/one",
    )
    assert (plain["is_pic"], plain["has_build_id"], plain["has_debug_link"]) == (
        0,
        0,
        0,
    )
    assert library["path"] == "/lib/zw\u00f6lf.so"
    assert (library["is_pic"], library["has_build_id"]) == (1, 1)
    assert (first[4]["baddr"], [*first[4]["build_id"]]) == (0x7000, [1, 255])
    assert (first[5]["filename"], first[5]["crc"]) == ("t.debug", 7)
    assert [one.name for one in found if one["vpid"] == 78][-1].endswith(":end")


def test_only_events_that_a_session_records_are_there(tmp_path):
    """By their names."""
    state = ProgramState(77, "a", OBJECTS)
    wanted = frozenset(["bin_info"])
    found = events(tmp_path, packet(0, state, wanted=wanted))
    assert [one.name for one in found] == ["lttng_ust_statedump:bin_info"] * 2


def test_what_a_process_calls_its_files_breaks_nothing(tmp_path):
    """Bytes that are no text, and those that end one."""
    odd = ((0x1000, 1, b"/\xff\0\n", True, b"", (b"x\0y", 1)),)
    found = events(tmp_path, packet(0, ProgramState(1, "\udcff", odd)))
    assert len(found) == 5
    assert found[-2]["filename"] == "xy"


def test_what_was_told_is_read():
    """Of each program what was told last; nothing of what is no dump."""
    first = packet(0, ProgramState(77, "a", OBJECTS[:1]), ProgramState(78, "b", ()))
    last = packet(1, ProgramState(77, "a", OBJECTS))
    raw = bytes(first.data) + bytes(last.data)
    found = {77: ProgramState(77, "a", OBJECTS), 78: ProgramState(78, "b", ())}
    assert read_states(raw) == (found, 1001, 2)
    assert read_states(b"") == ({}, 0, 0)
    objects = packet(0, ProgramState(77, "a", OBJECTS), wanted={"bin_info"})
    without_name = read_states(bytes(objects.data)).programs[77]
    assert [one[2] for one in without_name.objects] == [one[2] for one in OBJECTS]
    for spoiled in (raw[:-1], raw[:50], b"?" + raw[1:], bytes(200)):
        with pytest.raises(ValueError, match="expected"):
            read_states(spoiled)
