"""A trace that grows while it is read is the part that was there when it was opened."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import replace

import pytest

import vestige
from support.compilers import run_tool
from support.ctf_writer import Packet, Trace, numbered
from support.recorded import record_command
from vestige.ctf.reading import trace_files
from vestige.graph import Selection

EVENTS = 5


def packet(number):
    """Return a packet with a number and its part of all values."""
    return Packet(numbered(EVENTS, start=number * EVENTS), sequence=number).encode()


def cover(number, size):
    """Return the empty packet that reaches over what is not written yet."""
    time_then = 1_000_000 + ((number + 1) * EVENTS - 1) * 1000
    head = Packet((), begin=time_then, end=time_then, sequence=number)
    empty = Packet(
        (),
        begin=time_then,
        end=time_then,
        sequence=number,
        packet_bits=size * 8,
        content_bits=len(head.encode()) * 8,
    ).encode()
    return empty + bytes(size - len(empty))


def read(trace):
    """Return all values, and everything that is wrong."""
    values = [event["value"] for event in trace]
    return values, [(damage.kind, damage.start) for damage in trace.damage]


@pytest.fixture
def growing(tmp_path):
    """A data stream file with two packets and room for more."""
    (tmp_path / "metadata").write_text(Trace().metadata())
    stream = tmp_path / "stream"
    stream.write_bytes(packet(0) + packet(1) + cover(1, 10_000))
    return stream


def test_packets_in_the_place_of_an_empty_one_come_too_late(growing):
    """The room at the end of the file is filled after it was opened."""
    trace = vestige.open(growing.parent, strict=True)
    size = growing.stat().st_size
    written = packet(0) + packet(1) + packet(2) + packet(3)
    growing.write_bytes(written + cover(3, size - len(written)))

    assert read(trace) == (list(range(2 * EVENTS)), [])
    again = vestige.open(growing.parent, strict=True)
    assert read(again) == (list(range(4 * EVENTS)), [])


def test_the_room_at_the_end_is_cut_off(growing):
    """As it is when the program ends."""
    trace = vestige.open(growing.parent, strict=True)
    os.truncate(growing, len(packet(0) + packet(1)))

    assert read(trace) == (list(range(2 * EVENTS)), [])


@pytest.mark.parametrize("cut", [3, 40, 130])
def test_a_packet_that_is_being_written_at_the_end_of_a_file(tmp_path, cut):
    """As LTTng appends packets: what is not all there when the file is opened."""
    (tmp_path / "metadata").write_text(Trace().metadata())
    stream = tmp_path / "stream"
    stream.write_bytes(packet(0) + packet(1)[:cut])
    trace = vestige.open(tmp_path)
    stream.write_bytes(packet(0) + packet(1) + packet(2))

    values, damage = read(trace)
    assert damage == []
    assert values == list(range(len(values)))
    assert EVENTS <= len(values) < 2 * EVENTS


def test_event_classes_that_are_added_meanwhile(tmp_path, monkeypatch):
    """The metadata is read again when it has changed."""
    whole = Trace(["uint32_t value;", "uint32_t value;"])
    directory = whole.write(tmp_path / "trace")
    events = numbered(2)
    events[1] = replace(events[1], id=1)
    (directory / "stream").write_bytes(Packet(events).encode())
    text = (directory / "metadata").read_text()
    first = Trace().metadata()
    (directory / "metadata").write_text(first)
    names = trace_files.data_file_names

    def grow(path):
        (directory / "metadata").write_text(text)
        return names(path)

    monkeypatch.setattr(trace_files, "data_file_names", grow)
    trace = vestige.open(directory, strict=True)
    assert len(trace.streams[0].stream_class.event_classes) == 2
    assert read(trace)[0] == [0, 1]


LOOP = """\
__attribute__((noinline)) static int leaf(int number) { return number + 1; }
int main(void)
{
	volatile int sum = 0;
	for (int round = 0; round < 8000000; round++)
		sum = leaf(sum & 1);
	return 0;
}
"""


def test_a_recording_that_goes_on(tmp_path):
    """Nothing is lost and nothing damaged, however often it is looked at."""
    source, program, out = (tmp_path / name for name in ("loop.c", "loop", "out"))
    source.write_text(LOOP)
    run_tool(["gcc", "-O1", "-finstrument-functions", "-o", program, source])
    looks = 0
    with subprocess.Popen(
        record_command(out, [program], "--quiet"), stdout=subprocess.DEVNULL
    ) as recording:
        while recording.poll() is None:
            if not list(out.glob("[0-9]*-*")):
                time.sleep(0.02)
                continue
            trace = vestige.open(out, debug_info=False)
            notices = [one for part in trace.read(Selection()) for one in part.notices]
            assert (notices, trace.damage) == ([], [])
            looks += 1
    assert recording.returncode == 0
    assert looks > 0
