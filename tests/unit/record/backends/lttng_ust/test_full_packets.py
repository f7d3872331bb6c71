"""Full packets are copied as the slow way does it, and what is rare is left."""

from __future__ import annotations

import os
import struct

import pytest

from support.ring_writer import COUNT, SIZE, UUID, Writer
from vestige.record._collector import FullPackets
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.ring import (
    CONSUMED,
    Ring,
    RingIdentity,
    RingShape,
)
from vestige.record.backends.lttng_ust.trace_files import DataStreamFile, OwnerFiles

PACKETS = 3


class Stream:
    """A ring with a file for it, that has a packet."""

    def __init__(self, folder, largest=0):
        folder.mkdir()
        self.folder = folder
        identity = RingIdentity(7, UUID, Clock())
        self.ring = Ring(str(folder / "c_1"), 1, RingShape(SIZE, COUNT), identity)
        files = OwnerFiles(str(folder), os.getuid(), os.getgid())
        self.file = DataStreamFile(files, str(folder), "out", (largest, 0))
        self.writer = Writer(self.ring)
        self.fill()
        self.take()

    def fill(self):
        """Write as many records as a sub-buffer has, and one of the next."""
        before = self.writer.word(128) // SIZE
        while self.writer.word(128) // SIZE == before:
            assert self.writer.write(1000)

    def take(self):
        """Write what is full, as it is done where there is no other way."""
        for packet in self.ring.take():
            self.file.write(packet)

    def copy(self):
        """Write what is full; return how many bytes."""
        full = FullPackets([self.ring.layout])
        place = (self.ring.file, *self.file.place)
        [count] = full.copy([place])
        self.file.add(count)
        return count

    def written(self):
        """Return what is in the files, without times."""
        index = bytearray((self.folder / "index/out.idx").read_bytes())
        data = bytearray((self.folder / "out").read_bytes())
        # The first packet began when the ring was made.
        index[16 + 24 : 16 + 32] = data[32:40] = bytes(8)
        return bytes(data), bytes(index)

    def close(self):
        """Let all go."""
        self.ring.close()
        self.file.close()


@pytest.fixture
def stream(tmp_path):
    """A stream with a packet."""
    stream = Stream(tmp_path / "one")
    yield stream
    stream.close()


def test_packets_and_index_are_as_the_slow_way_writes_them(stream, tmp_path):
    """And the sub-buffers are given back, as often as the ring goes round."""
    other = Stream(tmp_path / "other")
    for _ in range(PACKETS * COUNT):
        for one in (stream, other):
            one.fill()
        assert stream.copy() == SIZE
        other.take()
        assert stream.writer.word(CONSUMED) == other.writer.word(CONSUMED)
    assert stream.copy() == 0
    assert stream.written() == other.written()
    other.close()


def test_both_ways_can_follow_each_other(stream):
    """Each finds the end where the other one left it."""
    for _ in range(PACKETS):
        stream.fill()
        assert stream.copy() == SIZE
        stream.fill()
        stream.take()
    data, index = stream.written()
    packets = len(data) // SIZE
    assert packets == 2 * PACKETS + 1
    places = [
        struct.unpack_from(">Q", index, 16 + 72 * one)[0] for one in range(packets)
    ]
    assert places == [*range(0, packets * SIZE, SIZE)]
    numbers = [struct.unpack_from("=Q", data, place + 64)[0] for place in places]
    assert numbers == [*range(packets)]


@pytest.mark.parametrize(
    ("content", "size"), [(0, 0), (800, 0), (0, 800), (8000, 800), (800, 8 * SIZE + 8)]
)
def test_sizes_that_make_no_sense_are_left(stream, content, size):
    """Others count them."""
    stream.fill()
    begin = stream.ring.open_place(stream.writer.word(CONSUMED))
    struct.pack_into("=QQ", stream.writer.memory, begin + 48, content, size)
    before = stream.written()
    assert stream.copy() == 0
    assert stream.written() == before


def test_a_file_that_has_no_room_by_its_limit_is_left(tmp_path):
    """The next one is begun elsewhere."""
    stream = Stream(tmp_path / "limited", largest=2 * SIZE)
    stream.fill()
    assert stream.copy() == SIZE
    stream.fill()
    assert stream.copy() == 0
    stream.take()
    assert (stream.folder / "out_1").stat().st_size == SIZE
    stream.close()


def test_a_ring_that_was_made_shorter_gives_nothing(stream):
    """It is no signal, nothing is left of a packet, and the next ones find the end."""
    stream.fill()
    before = stream.written()
    full = FullPackets([stream.ring.layout])
    # The numbers stay, the packet does not.
    os.ftruncate(stream.ring.file, stream.ring.open_place(SIZE))
    place = (stream.ring.file, *stream.file.place)
    assert full.copy([place]) == [0]
    os.ftruncate(stream.ring.file, 0)
    assert full.copy([place]) == [0]
    assert stream.written() == before


def test_memory_that_is_not_there_is_an_error_of_the_file(stream):
    """And not a signal: only the kernel reads packets."""
    stream.fill()
    before = stream.written()
    full = FullPackets([stream.ring.layout])
    place = (stream.ring.file, *stream.file.place)
    size = stream.ring.memory_size
    # The numbers come from a whole file, what is mapped was made shorter.
    with (stream.folder / "c_1").open("rb") as file:
        (stream.folder / "copy").write_bytes(file.read(size))
    copy = os.open(stream.folder / "copy", os.O_RDWR)
    os.ftruncate(stream.ring.file, 0)
    assert full.copy([(copy, *place[1:])]) == [0]
    os.close(copy)
    assert stream.written() == before


def test_a_disk_that_takes_nothing_leaves_the_packet(stream, tmp_path):
    """It is not given back, and comes when there is room."""
    stream.fill()
    before = stream.written()
    full = FullPackets([stream.ring.layout])
    data, index, *rest = stream.file.place
    with (tmp_path / "closed").open("w") as file:
        file.write("x")
    reading = os.open(tmp_path / "closed", os.O_RDONLY)
    # The data can be written, the index cannot.
    assert full.copy([(stream.ring.file, data, reading, *rest)]) == [0]
    assert stream.written() == before
    assert full.copy([(stream.ring.file, reading, index, *rest)]) == [0]
    assert stream.written() == before
    os.close(reading)
    assert stream.copy() == SIZE


def test_rings_without_files_stay_as_they_are(stream):
    """As before the first packet."""
    stream.fill()
    assert FullPackets([stream.ring.layout]).copy(
        [(stream.ring.file, -1, -1, 0, SIZE, -1)]
    ) == [0]
    assert stream.copy() == SIZE


def test_a_shape_that_no_ring_has_is_refused(stream):
    """Sub-buffers are powers of two."""
    file, size, _, *rest = stream.ring.layout
    with pytest.raises(ValueError, match="invalid"):
        FullPackets([(file, size, 0, *rest)])
