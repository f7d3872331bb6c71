"""When what is in a ring began."""

from __future__ import annotations

import pytest

from support.ring_writer import COUNT, SIZE, UUID, Writer
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.packet_begin import waiting_since
from vestige.record.backends.lttng_ust.ring import Ring, RingIdentity, RingShape


@pytest.fixture
def ring(tmp_path):
    """A ring of four sub-buffers."""
    identity = RingIdentity(7, UUID, Clock())
    ring = Ring(str(tmp_path / "c_1"), 1, RingShape(SIZE, COUNT), identity)
    yield ring
    ring.close()


def test_a_ring_without_records_waits_for_nothing(ring):
    """Neither a new one, nor one of which all is taken."""
    assert waiting_since(ring) is None
    writer = Writer(ring)
    writer.write(SIZE // 2)
    assert waiting_since(ring) is not None
    writer.switch(ring.reserved)
    assert [*ring.take()]
    assert waiting_since(ring) is None


def test_the_oldest_packet_that_was_not_taken_tells(ring):
    """Also if its header is not there, and the next one's is."""
    writer = Writer(ring)
    writer.write(SIZE // 2)
    for writer.now in (100, 200, 300):
        writer.switch(ring.reserved)
        writer.write(SIZE // 2)
    assert waiting_since(ring) < 1 << 62
    next(iter(ring.take()))
    ring.give_back(0)
    assert waiting_since(ring) == 100
    writer.put(writer.data + SIZE, 0)
    assert waiting_since(ring) == 200
