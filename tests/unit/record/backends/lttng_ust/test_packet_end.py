"""Packets end while programs write, and nothing that they write is lost."""

from __future__ import annotations

import os
import struct
from contextlib import suppress

import pytest

from support.ring_writer import COUNT, HOT, SIZE, UUID, Writer
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.packet_end import end_packet
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


def contents(ring):
    """Take what is full, and return the bytes of records in each packet."""
    return [
        struct.unpack_from("=Q", packet.header, 48)[0] // 8 - HEADER_SIZE
        for packet in ring.take()
    ]


def test_a_packet_without_records_goes_on(ring):
    """Its header alone is nothing to end."""
    assert ring.has_taken_up_to(end_packet(ring))
    assert contents(ring) == []
    assert ring.reserved == HEADER_SIZE


def test_a_packet_is_ended_and_writers_go_on(ring):
    """As often as the ring goes round; what follows is in the next one."""
    writer = Writer(ring)
    for size in range(100, 100 + 3 * COUNT):
        assert writer.write(size)
        end = end_packet(ring)
        assert not ring.has_taken_up_to(end)
        assert contents(ring) == [size]
        assert ring.has_taken_up_to(end)
    assert ring.lost == 0
    assert end_packet(ring) == ring.reserved


def test_who_is_in_a_record_hands_the_packet_over(ring):
    """It is not taken before; then with all that was written."""
    writer = Writer(ring)
    writer.write(100)
    writer.write(50, is_committed=False)
    end = end_packet(ring)
    assert contents(ring) == []
    assert not ring.has_taken_up_to(end)
    # The writer commits last, and finds what it has to write into the packet.
    writer.put(HOT, writer.word(HOT) + 50)
    assert writer.word(HOT) == SIZE
    page = ring._pages + 24
    assert ring.word(page) == HEADER_SIZE + 150
    ring.deliver(HEADER_SIZE + 150, ring.word(page), ring.now())
    assert contents(ring) == [150]


def test_losses_alone_are_told_once(ring):
    """In a packet without records."""
    writer = Writer(ring)
    writer.put(392, 3)
    end_packet(ring)
    assert contents(ring) == [0]
    writer.write(10)
    end_packet(ring)
    assert contents(ring) == [10]
    end_packet(ring)
    assert contents(ring) == []


@pytest.mark.parametrize("size", [0, 64, HOT, 2 * SIZE])
def test_a_ring_that_was_cut_gives_nothing(ring, size):
    """A program may do so at any time; nobody ends by it."""
    Writer(ring).write(10)
    os.ftruncate(ring.file, size)
    with suppress(OSError):
        end_packet(ring)
    assert contents(ring) == []
