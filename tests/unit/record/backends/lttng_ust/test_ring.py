"""Rings give their sub-buffers as packets, once, and nothing that was not committed."""

from __future__ import annotations

import errno
import os
import struct

import pytest

from support.ring_writer import COLD, COUNT, HOT, SIZE, UUID, Writer
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.ring import (
    HEADER_SIZE,
    Ring,
    RingIdentity,
    RingShape,
)


@pytest.fixture
def ring(tmp_path):
    """A ring of four sub-buffers."""
    ring = Ring(
        str(tmp_path / "c_1"), 1, RingShape(SIZE, COUNT), RingIdentity(7, UUID, Clock())
    )
    yield ring
    ring.close()


def headers(ring):
    """Take what is full, and return the headers."""
    return [packet.header for packet in ring.take()]


def test_the_first_packet_begins_as_programs_continue_it(ring):
    """Magic, UUID, data stream class, CPU."""
    writer = Writer(ring)
    writer.write(100)
    ring.end_open()
    [packet] = headers(ring)
    magic, uuid, stream, instance = struct.unpack_from("=I16sIQ", packet)
    assert (magic, uuid, stream, instance) == (0xC1FC1FC1, UUID, 7, 1)
    content, size = struct.unpack_from("=QQ", packet, 48)
    assert (content // 8, size // 8) == (HEADER_SIZE + 100, SIZE)
    assert list(ring.take()) == []


def test_full_subbuffers_are_taken_in_order_and_given_back(ring):
    """As often as the ring goes round."""
    writer = Writer(ring)
    taken = 0
    for _ in range(500):
        assert writer.write(1000)
        taken += len(list(ring.take()))
    ring.end_open()
    taken += len(list(ring.take()))
    assert ring.lost == 0
    assert taken == -(-500 // 4)


def test_a_full_ring_loses_and_goes_on(ring):
    """What was lost is in the next packet."""
    writer = Writer(ring)
    written = sum(writer.write(1000) for _ in range(100))
    assert written == 16
    assert ring.lost == 84
    assert len(list(ring.take())) == 4
    assert writer.write(1000)
    ring.end_open()
    [packet] = headers(ring)
    assert struct.unpack_from("=Q", packet, 72)[0] == 84


def test_what_was_not_committed_is_left_out(ring):
    """With what came after it; the ring goes on."""
    writer = Writer(ring)
    writer.write(100)
    writer.write(50, is_committed=False)
    assert not ring.is_quiet()
    ring.end_open()
    [packet] = headers(ring)
    assert struct.unpack_from("=Q", packet, 48)[0] // 8 == HEADER_SIZE + 100
    assert ring.is_quiet()
    writer.write(10)
    ring.end_open()
    assert len(list(ring.take())) == 1


def test_an_empty_subbuffer_is_no_packet(ring):
    """Unless something was lost."""
    ring.end_open()
    assert list(ring.take()) == []
    Writer(ring).put(392, 3)
    ring.end_open()
    [packet] = headers(ring)
    assert struct.unpack_from("=Q", packet, 72)[0] == 3


def test_numbers_that_make_no_sense_cost_a_few_packets_at_most(ring):
    """A program can write what it likes into its memory."""
    writer = Writer(ring)
    for place in (128, 152, HOT, COLD, COLD + 128, ring._data + 56):
        writer.put(place, (1 << 64) - 1)
        assert len(list(ring.take())) <= COUNT
        ring.end_open()
        assert all(len(packet.data) <= SIZE for packet in ring.take())


def test_a_file_that_was_made_shorter_gives_nothing(ring):
    """And ends nobody."""
    Writer(ring).write(100)
    for size in (HOT, 200, 0):
        os.ftruncate(ring.file, size)
        assert list(ring.take()) == []
        ring.end_open()
        assert ring.lost == 0


def test_a_ring_that_was_left_is_read_as_it_was(ring):
    """What was full and what was not, once."""
    writer = Writer(ring)
    for _ in range(6):
        writer.write(1000)
    left = Ring(ring.path, 1, RingShape(SIZE, COUNT), None)
    assert len(list(left.take())) == 1
    left.end_open()
    assert len(list(left.take())) == 1
    left.close()


def test_a_packet_that_is_taken_away_is_an_error_of_its_file(ring, tmp_path):
    """And not a signal: only the kernel reads it."""
    Writer(ring).write(100)
    ring.end_open()
    for packet in ring.take():
        os.ftruncate(ring.file, 0)
        with (
            (tmp_path / "out").open("wb", buffering=0) as file,
            pytest.raises(OSError, match="Bad address"),
        ):
            file.write(packet.data)


@pytest.mark.parametrize(
    ("content", "size"), [(800, 0), (0, 800), (8000, 800), (800, 8 * SIZE + 8)]
)
def test_a_packet_with_sizes_that_make_no_sense_is_left_out(ring, content, size):
    """It is counted, and the ring goes on."""
    writer = Writer(ring)
    writer.write(100)
    ring.end_open()
    struct.pack_into("=QQ", writer.memory, ring._data + 48, content, size)
    assert list(ring.take()) == []
    assert ring.damaged == 1
    writer.write(100)
    ring.end_open()
    assert len(list(ring.take())) == 1


def test_a_subbuffer_that_was_never_committed_is_ended(ring):
    """What was committed before the hole is read, and what the others wrote later."""
    writer = Writer(ring)
    writer.write(100)
    writer.write(50, is_committed=False)
    hole = writer.word(HOT + 8)
    for _ in range(5):
        writer.write(1000)
    # The second counter stays where the hole is.
    writer.put(HOT + 8, hole)
    writer.put(COLD, 0)
    assert headers(ring) == []
    stuck = ring.stuck
    assert stuck is not None
    ring.end_stuck(stuck[0])
    [packet] = headers(ring)
    assert struct.unpack_from("=Q", packet, 48)[0] // 8 == HEADER_SIZE + 100
    assert ring.cut == 1
    assert ring.stuck is None
    ring.end_open()
    assert len(headers(ring)) == 1
    for _ in range(20):
        assert writer.write(1000)
        list(ring.take())
    assert ring.lost == 0


def test_a_subbuffer_that_was_never_committed_ends_when_the_next_began(ring):
    """Not when that was found out: packets of a data stream do not overlap."""
    writer = Writer(ring)
    writer.write(100)
    writer.write(50, is_committed=False)
    writer.put(HOT, writer.word(HOT) - 1)
    [begin] = struct.unpack_from("=Q", writer.memory, ring._data + 32)
    writer.now = begin + 5
    for _ in range(5):
        writer.write(1000)
    writer.put(COLD, 0)
    ring.end_stuck(ring.stuck[0])
    [packet] = headers(ring)
    assert struct.unpack_from("=QQ", packet, 32) == (begin, begin + 5)


@pytest.mark.parametrize("is_last", [False, True])
def test_a_subbuffer_whose_header_was_never_written_is_no_packet(ring, is_last):
    """Who began it was killed before that; others have written behind it."""
    writer = Writer(ring)
    writer.write(4000)
    offset = writer.switch(writer.word(128), has_header=False)
    assert offset == SIZE + HEADER_SIZE
    hot = writer.word(HOT + 128)
    writer.write(500)
    # It counts what is committed without a gap.
    writer.put(HOT + 128 + 8, hot)
    assert len(headers(ring)) == 1
    if is_last:
        ring.end_open()
    else:
        writer.write(4000)
        writer.put(COLD + 128, 0)
        ring.end_stuck(ring.stuck[0])
        ring.end_open()
    numbers = [struct.unpack_from("=Q", packet, 64)[0] for packet in headers(ring)]
    assert numbers == ([] if is_last else [2])
    assert (ring.cut, ring.damaged, ring.stuck) == (1, 0, None)
    assert writer.write(1000)
    ring.end_open()
    assert len(headers(ring)) == 1


def test_records_that_fit_into_no_subbuffer_are_lost(ring):
    """As those that found a ring that goes wrong."""
    writer = Writer(ring)
    for place, lost in ((392, 1), (400, 2), (408, 4)):
        writer.put(place, lost)
    assert ring.lost == 7


def test_memory_is_there_before_a_program_touches_it(ring):
    """The kernel kills a program for which it finds no page."""
    assert os.fstat(ring.file).st_blocks * 512 >= ring.memory_size


def test_a_ring_without_memory_leaves_nothing(tmp_path, monkeypatch):
    """Neither a file nor a descriptor."""
    made = []

    def is_full(file, _at, _size):
        made.append(file)
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "posix_fallocate", is_full)
    with pytest.raises(OSError, match="full"):
        Ring(
            str(tmp_path / "r"),
            0,
            RingShape(SIZE, COUNT),
            RingIdentity(0, UUID, Clock()),
        )
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(made[0])
