"""A thread copies packets for programs that wait; who holds it has the files alone."""

from __future__ import annotations

import asyncio
import os

import pytest

from support.ring_writer import COUNT, SIZE, UUID, Writer
from support.waiting import wait_until
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.packet_copies import PacketCopies
from vestige.record.backends.lttng_ust.ring import (
    CONSUMED,
    Ring,
    RingIdentity,
    RingShape,
)
from vestige.record.backends.lttng_ust.trace_files import DataStreamFile, OwnerFiles


class Stream:
    """A ring with a file for it, that has a packet, and a thread."""

    def __init__(self, folder, largest=0):
        self.folder = folder
        identity = RingIdentity(7, UUID, Clock())
        self.ring = Ring(str(folder / "c_1"), 1, RingShape(SIZE, COUNT), identity)
        files = OwnerFiles(str(folder), os.getuid(), os.getgid())
        self.file = DataStreamFile(files, str(folder), "out", (largest, 0))
        self.writer = Writer(self.ring)
        self.wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.fill()
        for packet in self.ring.take():
            self.file.write(packet)
        self.copies = PacketCopies(
            [self.ring], [self.file], self.wakes, has_thread=True
        )

    def fill(self):
        """Write as many records as a sub-buffer has, and say so."""
        before = self.writer.word(128) // SIZE
        while self.writer.word(128) // SIZE == before:
            assert self.writer.write(1000)
        os.write(self.wakes[1], b"x")

    @property
    def packets(self):
        """How many were given back."""
        return self.writer.word(CONSUMED) // SIZE

    def wait_for(self, packets):
        """Wait until so many were given back."""
        wait_until(lambda: self.packets == packets, f"{packets} packets", 30)

    def close(self):
        """Let all go."""
        self.copies.close()
        self.ring.close()
        self.file.close()
        for end in self.wakes:
            os.close(end)


@pytest.fixture
def stream(tmp_path):
    """A stream with a packet."""
    stream = Stream(tmp_path)
    yield stream
    stream.close()


def test_a_program_gets_its_subbuffers_back_while_nobody_else_does_anything(stream):
    """As often as the ring goes round; what was copied is known to who asks."""
    for number in range(2, 3 * COUNT):
        stream.fill()
        stream.wait_for(number)
    with stream.copies.held():
        assert stream.copies.copied == (3 * COUNT - 2) * SIZE
        assert stream.file.chunk_size == (3 * COUNT - 1) * SIZE
    assert (stream.folder / "out").stat().st_size == (3 * COUNT - 1) * SIZE


def test_nothing_is_copied_while_it_is_held(stream):
    """And what came meanwhile is, thereafter: into the file that there is then."""
    with stream.copies.held(), stream.copies.held():
        stream.fill()
        stream.file.cut()
        (stream.folder / "out").rename(stream.folder / "chunk")
        os.write(stream.wakes[1], b"x")
        assert stream.packets == 1
        for packet in stream.ring.take():
            stream.file.write(packet)
        stream.fill()
        assert stream.packets == 2
    stream.wait_for(3)
    assert (stream.folder / "chunk").stat().st_size == SIZE
    assert (stream.folder / "out").stat().st_size == 2 * SIZE


def test_what_it_cannot_do_is_told(tmp_path):
    """A file that is full by its limit, of which others begin the next one."""
    stream = Stream(tmp_path, largest=2 * SIZE)
    stream.fill()
    stream.wait_for(2)

    async def next_one():
        told = asyncio.Event()
        asyncio.get_running_loop().add_reader(stream.copies.left, told.set)
        stream.fill()
        await asyncio.wait_for(told.wait(), 30)

    asyncio.run(next_one())
    assert stream.packets == 2
    with stream.copies.held():
        for packet in stream.ring.take():
            stream.file.write(packet)
    assert (tmp_path / "out_1").stat().st_size == SIZE
    stream.close()


def test_it_can_be_ended_at_any_time(stream):
    """Also if it is held, and twice."""
    with stream.copies.held():
        stream.fill()
    stream.copies.close()
    stream.copies.close()
    assert stream.copies.left == -1
