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
from support.lttng_index import INDEX_ENTRY, INDEX_HEADER
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


class Indexed:
    """A data stream file with an index, as LTTng writes and replaces them."""

    def __init__(self, directory):
        (directory / "metadata").write_text(Trace().metadata())
        (directory / "index").mkdir()
        self.directory = directory
        self.data = directory / "stream"
        self.index = directory / "index" / "stream.idx"
        self.index.write_bytes(INDEX_HEADER)
        self.data.touch()

    def write(self, number):
        """Write the only packet, then its entry."""
        raw = packet(number)
        bits = 8 * len(raw)
        self.data.write_bytes(raw)
        entry = INDEX_ENTRY.pack(0, bits, bits, 1, 2, 0, 0, 0, number)
        self.index.write_bytes(INDEX_HEADER + entry)

    def empty(self):
        """Begin both anew, the index first."""
        self.index.write_bytes(INDEX_HEADER)
        self.data.write_bytes(b"")

    def remove(self):
        """Remove both, the index first."""
        self.index.unlink()
        self.data.unlink()


@pytest.fixture
def indexed(tmp_path):
    """A data stream file in which there is nothing yet."""
    return Indexed(tmp_path)


def between(monkeypatch, moment, change):
    """Let something happen once, before or after the reader does something.

    The moment is the name of a function, which of its calls, and whether it is before.
    """
    name, call, is_before = moment
    real = getattr(trace_files, name)
    calls = []

    def look(*args, **options):
        calls.append(args)
        is_now = len(calls) == call
        if is_now and is_before:
            change()
        found = real(*args, **options)
        if is_now and not is_before:
            change()
        return found

    monkeypatch.setattr(trace_files, name, look)


MOMENTS = [
    ("indexed_names", 1, True),
    ("indexed_names", 1, False),
    # The first call only counts the files.
    ("data_file_names", 2, True),
    ("data_file_names", 2, False),
    ("_read_index", 1, True),
    ("_read_index", 1, False),
]


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_first_packet_is_written_between_two_looks(indexed, monkeypatch, moment):
    """What an index lists was written before, though not when files were listed."""
    between(monkeypatch, moment, lambda: indexed.write(0))

    values, damage = read(vestige.open(indexed.directory, strict=True))
    assert damage == []
    assert values in ([], list(range(EVENTS)))


@pytest.mark.parametrize("way", ["empty", "remove"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_file_is_replaced_between_two_looks(indexed, monkeypatch, moment, way):
    """Where few are kept, the oldest one goes and another one of its name comes."""
    indexed.write(0)
    between(monkeypatch, moment, getattr(indexed, way))
    monkeypatch.setattr(trace_files.time, "sleep", lambda _: indexed.write(1))

    values, damage = read(vestige.open(indexed.directory, strict=True))
    assert damage == []
    assert values in ([], list(range(EVENTS, 2 * EVENTS)))


@pytest.mark.parametrize("way", ["empty", "remove"])
def test_a_file_that_has_gone_is_told(indexed, monkeypatch, way):
    """It was listed, and nothing has come in its place."""
    indexed.write(0)
    between(monkeypatch, ("data_file_names", 2, False), getattr(indexed, way))

    with pytest.warns(vestige.TraceDamageWarning, match=r"cannot open|file is empty"):
        trace = vestige.open(indexed.directory)
    assert list(trace) == []


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
