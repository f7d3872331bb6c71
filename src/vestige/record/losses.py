"""What was lost by threads and processes that could write no file of their own.

A thread counts the records that it loses in its packet. One that has none, since it
may make no file (another user's, another root directory, no descriptor left), counts
them in a file that all processes of a recording map, and that outlives them. When the
recording has ended, the count becomes a data stream without records, so that every
reader reports it.
"""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from pathlib import Path

from ._agreement import LOSSES_FILE, LOSSES_SIZE
from .packets import LOST_STREAM, MAGIC, ORDER, PACKET

__all__ = ["LOST", "make_losses", "tell_losses"]

LOST = LOSSES_FILE
COUNT = struct.Struct(f"{ORDER}q")


def make_losses(directory: Path) -> None:
    """Make the file, with its blocks: a store to it must never fail.

    Args:
        directory: The trace.

    Raises:
        OSError: The file cannot be made.
    """
    with (directory / LOST).open("xb") as file:
        file.write(bytes(LOSSES_SIZE))
        # Processes that become another user count, too.
        os.fchmod(file.fileno(), 0o600)


def tell_losses(directory: Path, uuid: str, begin: int, end: int) -> int:
    """Turn the count into a data stream, if anything was lost, and remove the file.

    Args:
        directory: The trace.
        uuid: Its UUID.
        begin: The clock's value when the recording began.
        end: Its value now.

    Returns:
        How many event records were lost.
    """
    path = directory / LOST
    try:
        [count] = COUNT.unpack(path.read_bytes()[: COUNT.size])
        path.unlink()
    except (OSError, struct.error):
        return 0
    if count <= 0:
        return 0
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
    # On a full disk, the file that was removed has left room.
    with suppress(OSError):
        (directory / LOST_STREAM).write_bytes(data)
    return int(count)
