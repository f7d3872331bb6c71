"""Rings that overwrite give the newest sub-buffers, whole, and count the others."""

from __future__ import annotations

import mmap
import os
import struct

import pytest

from vestige.record.backends.lttng_ust import ring as ring_module
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.overwriting_ring import OverwritingRing
from vestige.record.backends.lttng_ust.ring import HEADER_SIZE, RingIdentity, RingShape

SIZE, COUNT = 4096, 4
WHOLE = SIZE * COUNT
SHAPE = RingShape(SIZE, COUNT, is_overwriting=True)
UUID = bytes(range(16))
HOT, COLD = 640, 640 + 128 * COUNT
FREE = 1 << 32


class Writer:
    """Writes numbered records as programs do, each as long as fits four times."""

    RECORD = 1000

    def __init__(self, ring):
        self.memory = mmap.mmap(ring.file, ring.memory_size)
        self.ring = ring
        self.number = 0

    def word(self, place):
        """Return a number of the memory."""
        return struct.unpack_from("=Q", self.memory, place)[0]

    def put(self, place, value):
        """Write a number into the memory."""
        struct.pack_into("=Q", self.memory, place, value)

    def use(self, position):
        """Return where the sub-buffer of a place is said, and what."""
        place = self.ring._writers + 8 * (position % WHOLE // SIZE)
        return place, self.word(place)

    def data(self, position):
        """Return where the bytes of a place are."""
        index = self.use(position)[1] & (FREE - 1)
        return self.ring._data + index * SIZE + position % SIZE

    def write(self, count=1):
        """Write so many records."""
        for _ in range(count):
            offset = self.word(128)
            if offset % SIZE == 0 or offset % SIZE + self.RECORD > SIZE:
                offset = self.begin(self.end(offset))
            self.put(128, offset + self.RECORD)
            self.put(self.data(offset), self.number)
            self.number += 1
            hot = HOT + 128 * (offset % WHOLE // SIZE)
            self.put(hot, self.word(hot) + self.RECORD)
            self.put(hot + 8, self.word(hot))

    def end(self, offset):
        """End a sub-buffer: no writer has it."""
        used = offset % SIZE
        if not used:
            return offset
        begin = self.data(offset - used)
        struct.pack_into("=I", self.memory, begin, 0xC1FC1FC1)
        sizes = (1 << 62, used * 8, SIZE * 8, offset // SIZE)
        struct.pack_into("=QQQQ", self.memory, begin + 40, *sizes)
        index = offset % WHOLE // SIZE
        hot = HOT + 128 * index
        self.put(hot, self.word(hot) + SIZE - used)
        place, use = self.use(offset)
        laps = offset // WHOLE << 33
        self.put(place, use & (FREE - 1) | FREE | laps)
        self.put(COLD + 128 * index, self.word(hot))
        return offset - used + SIZE

    def begin(self, offset):
        """Begin a sub-buffer; what was not taken from there is gone."""
        while offset - self.word(152) >= WHOLE:
            self.put(152, self.word(152) + SIZE)
        place, use = self.use(offset)
        self.put(place, use & ~FREE)
        at = self.data(offset)
        struct.pack_into("=I", self.memory, at, 0xC1FC1FC1)
        struct.pack_into("=Q", self.memory, at + 64, offset // SIZE)
        hot = HOT + 128 * (offset % WHOLE // SIZE)
        self.put(hot, self.word(hot) + HEADER_SIZE)
        self.put(hot + 8, self.word(hot))
        self.put(128, offset + HEADER_SIZE)
        return offset + HEADER_SIZE


@pytest.fixture
def ring(tmp_path):
    """A ring of four sub-buffers, and one for the reader."""
    ring = OverwritingRing(
        str(tmp_path / "c_1"), 1, SHAPE, RingIdentity(7, UUID, Clock())
    )
    yield ring
    ring.close()


def numbers(ring):
    """Take what is full, and return the numbers of its records."""
    found = []
    for packet in ring.take():
        content = struct.unpack_from("=Q", packet.header, 48)[0] // 8
        places = range(HEADER_SIZE, content, Writer.RECORD)
        found += [struct.unpack_from("=Q", packet.data, one)[0] for one in places]
    return found


def records(packet):
    """Return the numbers of the records of a packet."""
    content = struct.unpack_from("=Q", packet.header, 48)[0] // 8
    places = range(HEADER_SIZE, content, Writer.RECORD)
    return [struct.unpack_from("=Q", packet.data, one)[0] for one in places]


def snapshot(ring, most=None):
    """Return the numbers of all records that a snapshot has."""
    return [number for packet in ring.snapshot(most) for number in records(packet)]


def test_a_snapshot_takes_nothing_away(ring):
    """As often as one is taken: all that is there, the open sub-buffer included."""
    writer = Writer(ring)
    writer.write(6)
    assert snapshot(ring) == snapshot(ring) == [*range(6)]
    writer.write(40)
    found = snapshot(ring)
    assert found == snapshot(ring) == [*range(46 - len(found), 46)]
    assert len(found) >= 12
    writer.write(1)
    assert snapshot(ring)[-1] == 46
    ring.end_open()
    assert numbers(ring)[-1] == 46


def test_a_snapshot_has_the_newest_sub_buffers(ring):
    """As many as are asked for, with the one that is open."""
    writer = Writer(ring)
    writer.write(42)
    assert snapshot(ring, 1) == [40, 41]
    assert snapshot(ring, 2) == [*range(36, 42)]
    assert snapshot(ring, 9) == snapshot(ring)


def test_what_a_snapshot_reads_nobody_overwrites(ring):
    """Writers go round and round meanwhile: it is held, and given back if it can be."""
    writer = Writer(ring)
    writer.write(16)
    for rounds in range(20):
        for packet in ring.snapshot(None):
            before = records(packet)
            writer.write(1 + rounds % 7 * 5)
            assert records(packet) == before == sorted(before)
    last = writer.number
    assert snapshot(ring)[-1] == last - 1
    writer.write(100)
    found = snapshot(ring)
    assert found == [*range(found[0], last + 100)]
    assert ring.damaged == 0


@pytest.mark.parametrize("laps", [1, 3])
def test_a_ring_that_writers_go_round_too_quickly_has_its_newest(
    ring, monkeypatch, laps
):
    """They have come round to all that was there, whenever one looks at it."""
    writer = Writer(ring)
    writer.write(42)
    positions, left = ring._positions, [laps]

    def are_overwritten(end, most):
        found = positions(end, most)
        if left[0]:
            left[0] -= 1
            writer.write(100)
        return found

    monkeypatch.setattr(ring, "_positions", are_overwritten)
    last = 42 + 100 * laps - 1
    found = snapshot(ring)
    assert found == [*range(found[0], last + 1)]
    assert len(found) > 1


@pytest.mark.parametrize("more", [1, 2, 4])
def test_writers_may_go_on_before_the_open_sub_buffer_is_read(ring, more):
    """Also to its end, and to the next: what was there when it began is there."""
    writer = Writer(ring)
    writer.write(6)
    found = []
    for packet in ring.snapshot(None):
        found += records(packet)
        if len(found) == 4:
            writer.write(more)
    assert found == [*range(6)]


def test_a_snapshot_ends_at_the_first_gap(ring):
    """What was begun and not committed is left out, with what came after it."""
    writer = Writer(ring)
    writer.write(2)
    hot = HOT
    # Three records are reserved, the second of them is not committed.
    writer.put(128, writer.word(128) + 2 * Writer.RECORD)
    writer.put(hot, writer.word(hot) + Writer.RECORD)
    assert snapshot(ring) == [0, 1]
    assert not ring.is_quiet()
    # It was the other one that came last: then all of it is there.
    writer.put(hot, writer.word(hot) + Writer.RECORD)
    assert len(snapshot(ring)) == 4


def test_what_a_killed_program_has_left_is_ended_when_writers_come_round(ring):
    """Until then it is only left out; then nobody could go on."""
    writer = Writer(ring)
    writer.write(5)
    # A record of the second sub-buffer is never committed.
    writer.put(128, writer.word(128) + Writer.RECORD)
    writer.write(10)
    assert ring.stuck is None
    found = snapshot(ring)
    assert found[:5] == [*range(5)]
    # Packets count what was lost until they end: never fewer than the one before.
    writer.put(392, 50)
    counts = [
        struct.unpack_from("=Q", one.header, 72)[0] for one in ring.snapshot(None)
    ]
    assert counts == sorted(counts)
    writer.write(1)
    while ring.stuck is None:
        writer.write(1)
    consumed, _ = ring.stuck
    assert consumed == SIZE
    ring.end_stuck(consumed)
    assert ring.stuck is None
    writer.write(40)
    last = writer.number
    found = snapshot(ring)
    assert found == [*range(found[0], last)]


@pytest.mark.parametrize("further", [0, 1, 15, 16, 40])
def test_what_is_too_large_to_copy_is_read_where_it_lies(ring, monkeypatch, further):
    """Whoever writes it asks afterwards whether writers have come round to it."""
    monkeypatch.setattr(ring_module, "LARGEST_COPY", 0)
    writer = Writer(ring)
    writer.write(17)
    assert snapshot(ring) == [*range(4, 17)]
    for packet in ring.snapshot(None):
        before = records(packet)
        if before[-1] == writer.number - 1:
            writer.write(further)
            assert packet.is_whole() == (records(packet) == before) == (further < 16)
            break
        assert packet.is_whole()


def test_pages_that_are_mapped_before_are_read_as_others(ring):
    """Also when a program has taken them away."""
    writer = Writer(ring)
    writer.write(30)
    before = snapshot(ring)
    ring.populate()
    assert snapshot(ring) == before
    os.ftruncate(ring.file, 0)
    ring.populate()
    assert snapshot(ring) == []


@pytest.mark.parametrize("place", [128, 152, HOT, HOT + 8, COLD, 640 - 8])
@pytest.mark.parametrize("number", [0, 1, 4095, 1 << 40, (1 << 64) - 1])
def test_a_snapshot_of_what_a_program_has_scribbled_ends(ring, place, number):
    """With whatever makes sense; no number makes it long."""
    writer = Writer(ring)
    writer.write(30)
    writer.put(place, number)
    assert len([*ring.snapshot(None)]) <= COUNT + 1
    writer.put(ring._writers, number)
    assert len([*ring.snapshot(None)]) <= COUNT + 1
    os.ftruncate(ring.file, SIZE)
    assert len([*ring.snapshot(None)]) <= COUNT + 1


def test_what_is_taken_in_time_is_all_there_was(ring):
    """As often as the ring goes round."""
    writer = Writer(ring)
    found = []
    for _ in range(200):
        writer.write(7)
        found += numbers(ring)
    ring.end_open()
    found += numbers(ring)
    assert found == list(range(1400))
    assert ring.overwritten == 0


def test_the_newest_are_there_and_the_others_are_counted(ring):
    """Four records a sub-buffer, of which the ring has four."""
    writer = Writer(ring)
    writer.write(400)
    ring.end_open()
    assert numbers(ring) == list(range(384, 400))
    assert ring.overwritten == 96
    writer.write(40)
    ring.end_open()
    assert numbers(ring) == list(range(424, 440))
    assert ring.overwritten == 96 + 6


def test_what_the_reader_has_is_not_overwritten(ring):
    """Writers go round while it reads."""
    writer = Writer(ring)
    writer.write(12)
    taking = ring.take()
    packet = next(taking)
    writer.write(100)
    assert struct.unpack_from("=Q", packet.data, HEADER_SIZE)[0] == 0
    taking.close()
    ring.end_open()
    # The ring had gone on, and goes on where it is.
    assert numbers(ring)[-1] == 111


def test_a_writer_that_comes_first_keeps_its_subbuffer(ring):
    """The reader gets nothing, and takes the next one."""
    writer = Writer(ring)
    writer.write(8)
    place, use = writer.use(0)
    writer.put(place, use & ~FREE)
    assert ring.hold(0) is None
    writer.put(place, use | 1 << 33)
    assert ring.hold(0) is None
    writer.put(place, use)
    taken = ring.hold(0)
    assert taken is not None
    assert ring.hold(0) == taken


def test_a_ring_that_was_left_is_read_as_it_was(ring):
    """Whatever sub-buffer the reader had."""
    writer = Writer(ring)
    for _ in range(7):
        writer.write(5)
        numbers(ring)
    left = OverwritingRing(ring.path, 1, SHAPE, None)
    writer.write(20)
    left.end_open()
    assert numbers(left) == list(range(writer.number - 15, writer.number))
    left.close()


def test_a_subbuffer_that_a_killed_reader_had_is_read(ring):
    """The next one finds it where that had put it."""
    writer = Writer(ring)
    writer.write(9)
    assert ring.hold(0) is not None
    left = OverwritingRing(ring.path, 1, SHAPE, None)
    left.end_open()
    assert numbers(left) == list(range(9))
    left.close()


@pytest.mark.parametrize("value", [0, (1 << 64) - 1, FREE | 9, FREE | 4])
def test_numbers_that_make_no_sense_end_nobody(ring, value):
    """A program can write what it likes into its memory."""
    writer = Writer(ring)
    writer.write(10)
    for place in (ring._writers, 128, 152, HOT, COLD, 192):
        writer.put(place, value)
        assert len(list(ring.take())) <= COUNT
        ring.end_open()
        assert all(len(packet.data) <= SIZE for packet in ring.take())
        stuck = ring.stuck
        if stuck is not None:
            ring.end_stuck(stuck[0])


def test_a_file_that_was_made_shorter_gives_nothing(ring):
    """And ends nobody."""
    Writer(ring).write(10)
    for size in (ring._writers, HOT, 0):
        os.ftruncate(ring.file, size)
        assert list(ring.take()) == []
        ring.end_open()
