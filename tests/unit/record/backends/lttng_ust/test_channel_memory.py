"""What programs are told of the rings of a channel."""

from __future__ import annotations

import struct

from support.ring_writer import COUNT, SIZE, UUID
from vestige.record.backends.lttng_ust.channel_memory import channel_memory
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.ring import RingIdentity, RingShape


def test_programs_wait_for_milliseconds():
    """A part of one is one, and there is a longest time."""
    places = {0: 0, -1: -1, 1: 1, 1000: 1, 1001: 2, 1 << 60: (1 << 31) - 1}
    for timeout, milliseconds in places.items():
        shape = RingShape(SIZE, COUNT, blocking_timeout=timeout)
        memory = channel_memory(shape, 2, RingIdentity(0, UUID, Clock()))
        assert struct.unpack_from("=i", memory, 88)[0] == milliseconds
