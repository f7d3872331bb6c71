"""When what is in a ring began."""

from __future__ import annotations

import os

from .ring import CONSUMED, HEADER, HEADER_SIZE, PACKET_MAGIC, Ring

__all__ = ["waiting_since"]

_BEGIN, _SEQUENCE = 4, 8
"""Places in the header of a packet."""


def waiting_since(ring: Ring) -> int | None:
    """Return when the oldest packet began that was not taken.

    Args:
        ring: The ring of one CPU.

    Returns:
        The time by the clock of programs; ``None`` if there is no record in it.
    """
    _, _, size, count, _, _ = ring.layout
    reserved = ring.reserved
    used = reserved % size
    last = reserved - used
    first = max(ring.word(CONSUMED) // size * size, last - count * size, 0)
    if used <= HEADER_SIZE:
        last -= size
    for position in range(first, last + 1, size):
        raw = os.pread(ring.file, HEADER_SIZE, ring.open_place(position))
        if len(raw) < HEADER_SIZE:
            return None
        header = HEADER.unpack(raw)
        # Of one that was killed before it wrote the header, the next one tells.
        if header[0] == PACKET_MAGIC and header[_SEQUENCE] == position // size:
            return int(header[_BEGIN])
    return None
