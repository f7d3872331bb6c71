"""What programs of LTTng-UST are told of the rings of a channel, one for each CPU."""

from __future__ import annotations

import struct

from .ring import ALL_BITS, RingIdentity, RingShape

__all__ = ["channel_memory", "possible_cpus"]

_POSSIBLE = "/sys/devices/system/cpu/possible"
LONGEST_BLOCKING = (1 << 31) - 1
"""Milliseconds."""


def possible_cpus() -> int:
    """Return how many CPUs there may ever be."""
    with open(_POSSIBLE) as file:
        last = file.read().strip().replace(",", "-").split("-")[-1]
    return int(last) + 1


def channel_memory(shape: RingShape, cpus: int, identity: RingIdentity) -> bytes:
    """Return the description of a channel that programs keep a copy of.

    Args:
        shape: Its rings.
        cpus: How many rings there are.
        identity: What the channel belongs to.
    """
    subbuf_size, num_subbuf = shape.subbuf_size, shape.num_subbuf
    size = 768 + 16 * cpus
    memory = bytearray(size + 120)
    order = num_subbuf.bit_length() - 1
    whole = subbuf_size * num_subbuf
    struct.pack_into("=Q", memory, 8, ALL_BITS >> order)
    struct.pack_into("=QI", memory, 64, size, cpus)
    struct.pack_into(
        "=QQIIII",
        memory,
        120,
        *(whole, subbuf_size, subbuf_size.bit_length() - 1, order),
        *(whole.bit_length() - 1, shape.is_overwriting),
    )
    struct.pack_into("=i", memory, 88, _milliseconds(shape.blocking_timeout))
    struct.pack_into("=QQ", memory, 152, num_subbuf, identity.clock.read())
    # For each CPU, discard, mapped; woken by writers.
    struct.pack_into("=IIII", memory, 184, 0, 1, not shape.is_overwriting, 1)
    struct.pack_into("=I", memory, 184 + 28, not shape.is_polled)
    memory[344:351] = b"channel"
    for index in range(cpus):
        struct.pack_into("=qq", memory, 664 + 16 * index, index + 1, 0)
    struct.pack_into("=I", memory, size + 92, identity.stream_id)
    memory[size + 100 : size + 116] = identity.uuid
    return bytes(memory)


def _milliseconds(blocking_timeout: int) -> int:
    """Return how long programs wait, as they count it; a part of one is one."""
    if blocking_timeout < 0:
        return -1
    return min(-(-blocking_timeout // 1000), LONGEST_BLOCKING)
