"""The packet header and packet context that the tracer writes."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from ...._typing import NamedTuple
from ..._agreement import LOST_STREAM, PACKET_FORMAT, PACKET_MAGIC
from .own_files import open_regular

__all__ = [
    "LOST_STREAM",
    "MAGIC",
    "ORDER",
    "PACKET",
    "PacketHead",
    "packet_heads",
]

MAGIC = PACKET_MAGIC
ORDER = "<" if sys.byteorder == "little" else ">"
PACKET = struct.Struct(ORDER + PACKET_FORMAT)
"""Magic number, UUID, stream class, stream instance; begin, end, content size, packet
size, sequence number, lost records, process, thread, its name."""


class PacketHead(NamedTuple):
    """What the beginning of a packet says, in the order in which it says so."""

    magic: int
    uuid: bytes
    stream_class: int
    instance: int
    """Of the data stream."""
    begin: int
    end: int
    content_bits: int
    packet_bits: int
    number: int
    """Of the packet in its data stream."""
    lost: int
    """Event records that the data stream has lost so far."""
    process: int
    thread: int
    name: bytes


def packet_heads(path: Path) -> Iterator[PacketHead]:
    """Read the beginnings of all packets of a data stream file.

    Args:
        path: The file, which the recorder has written.

    Yields:
        The heads, up to the first that is none.

    Raises:
        OSError: It cannot be read.
    """
    file = open_regular(None, str(path), os.O_RDONLY)
    try:
        place = 0
        while len(data := os.pread(file, PACKET.size, place)) == PACKET.size:
            head = PacketHead(*PACKET.unpack(data))
            if head.magic != MAGIC or head.packet_bits < PACKET.size * 8:
                return
            yield head
            place += head.packet_bits // 8
    finally:
        os.close(file)
