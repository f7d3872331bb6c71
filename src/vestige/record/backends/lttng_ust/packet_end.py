"""Ending packets of rings that programs write to just now, without their help.

It is done as writers do it that find no room in a sub-buffer: the rest of it is
reserved by one atomic operation, and committed by another. Whoever commits last of all,
we or a program, makes the sub-buffer one that can be taken. So nobody waits for
anybody, and a program that is stopped in the middle of a record holds nothing up but
that packet.
"""

from __future__ import annotations

from ..._collector import exchange
from .ring import ALL_BITS, HEADER_SIZE, Ring

__all__ = ["end_packet"]

MOST_ATTEMPTS = 200
"""Writers that are faster than we are fill the sub-buffer soon."""


def end_packet(ring: Ring, *, is_first: bool = False) -> int:
    """End the packet that writers have, if there is anything in it.

    Args:
        ring: The ring of one CPU.
        is_first: Whether the first packet is ended also if it is empty. It has begun
            when the ring was made, later ones begin with their first record.

    Returns:
        Up to where all that was recorded before this is in packets, once all of it is
        committed; it is meant as :attr:`Ring.reserved` is.

    Raises:
        OSError: A program has made the memory shorter.
    """
    size = ring.subbuf_size
    begin = ring.reserved
    for _ in range(MOST_ATTEMPTS):
        offset = ring.reserved
        used = offset % size
        is_ended = ring.has_new_losses() or (is_first and offset == HEADER_SIZE)
        if used == 0 or (used == HEADER_SIZE and not is_ended):
            return offset - used
        # Before the place is taken, after what was reserved was seen: all records in
        # the packet are older, all in the next one younger.
        now = ring.now()
        after = (offset - used + size) & ALL_BITS
        if exchange(ring.file, ring.OFFSET, offset, after) == offset:
            if used == HEADER_SIZE and is_first:
                # It is empty: since the ring was made, viewers may have seen others.
                ring.begin_at(offset, now)
            _commit_rest(ring, offset, now)
            return after
    return (begin - begin % size + size) & ALL_BITS


def _commit_rest(ring: Ring, offset: int, end: int) -> None:
    """Commit the rest of a sub-buffer, which is ours."""
    size = ring.subbuf_size
    used = offset % size
    ring.note_end(offset, used, end)
    place = ring.commit_place(offset)
    before = ring.word(place)
    while (found := exchange(ring.file, place, before, before + size - used)) != before:
        before = found
    full = ring.full_commit(offset)
    if (before + size - used) & ALL_BITS != full:
        return
    # A program that has committed last thinks so, too: one of us may.
    before = (full - size) & ALL_BITS
    if exchange(ring.file, ring.delivery_place(offset), before, before + 1) == before:
        ring.deliver(offset, used, end)
