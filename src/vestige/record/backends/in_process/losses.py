"""What was lost by threads that have no place in memory.

A thread counts the records that it loses in its part of the arena, and its packets tell
them. One that has no part, since all are taken or it shares its memory with another
task, counts them for the whole recording. That count becomes a data stream without
records, so that every reader reports it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from .packets import LOST_STREAM, MAGIC, PACKET

__all__ = ["tell_losses"]


def tell_losses(directory: Path, uuid: str, begin: int, end: int, count: int) -> None:
    """Write a data stream that tells losses, if there are any.

    Args:
        directory: The trace.
        uuid: Its UUID.
        begin: The clock's value when the recording began.
        end: Its value now.
        count: How many event records were lost.
    """
    if count <= 0:
        return
    # Readers compare the count with that of the packet before.
    packets = [(begin, begin, 0, 0), (begin, end, 1, count)]
    data = b"".join(
        PACKET.pack(
            MAGIC,
            bytes.fromhex(uuid.replace("-", "")),
            *(0, 0, first, last, PACKET.size * 8, PACKET.size * 8, number, lost),
            *(0, 0, b""),
        )
        for first, last, number, lost in packets
    )
    # On a full disk, the summary tells it all the same.
    with suppress(OSError):
        (directory / LOST_STREAM).write_bytes(data)
