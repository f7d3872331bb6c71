"""What was lost by threads that have no place in memory.

A thread counts the records that it loses in its part of the arena, and its packets tell
them. One that has no part, since all are taken or it shares its memory with another
task, counts them for the whole recording. That count becomes a data stream without
records, so that every reader reports it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .metadata_file import METADATA
from .own_files import open_directory, put_file, read_file
from .packets import (
    LOST_STREAM,
    MAGIC,
    PACKET,
    PacketHead,
    packet_heads,
)
from .stream_files import CHANNEL, is_stream_file

__all__ = ["tell_losses", "tell_losses_later"]

_UUID = re.compile(rb'\buuid = "([0-9a-f-]{36})"')


def tell_losses(
    directory: str | os.PathLike[str], uuid: str, begin: int, end: int, count: int
) -> bool:
    """Write a data stream that tells losses, if there are any.

    Args:
        directory: The trace.
        uuid: Its UUID.
        begin: The clock's value when the recording began.
        end: Its value now.
        count: How many event records were lost. What was told before is part of them.

    Returns:
        Whether the trace tells them all; on a full disk it cannot.
    """
    path = Path(directory, LOST_STREAM)
    with suppress(OSError):
        # Of an arena that is gone, nobody else knows.
        count = max([count, *(head.lost for head in packet_heads(path))])
    if count <= 0:
        return True
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
    try:
        opened = open_directory(directory)
        try:
            put_file(opened, LOST_STREAM, data, 0o644)
        finally:
            os.close(opened)
    except OSError:
        return False
    return True


def tell_losses_later(directory: str | os.PathLike[str], count: int) -> bool:
    """Do so when nobody knows any more when the recording began and ended.

    Args:
        directory: The trace. Its packets tell when they were made.
        count: How many event records were lost.

    Returns:
        Whether the trace tells them all.
    """
    try:
        found = _UUID.search(read_file(directory, METADATA))
        heads = list(_all_heads(Path(directory)))
    except OSError:
        return False
    if found is None:
        return False
    begin = min((head.begin for head in heads), default=0)
    end = max((head.end for head in heads), default=0)
    return tell_losses(directory, found[1].decode(), begin, end, count)


def _all_heads(directory: Path) -> Iterator[PacketHead]:
    # That of a channel has its name, perhaps with a number.
    channels = {CHANNEL, directory.name, directory.name.rpartition("-")[0] or CHANNEL}
    for path in directory.iterdir():
        is_found = any(is_stream_file(path.name, one) for one in channels)
        if is_found and path.name != LOST_STREAM:
            yield from packet_heads(path)
