"""Closing a trace: the last packet of each thread joins its data stream file.

While a thread runs, its present packet is in a file of its own, ``NAME.open``, which is
a valid data stream file by itself: a reader finds all committed records at any time.
When the thread or its process has ended, the packet is appended to ``NAME``.

A process may die at any moment, also while it appends a packet. The packets in the file
tell how far it came: each has its sequence number and its size.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

__all__ = ["Collected", "collect"]

OPEN_SUFFIX = ".open"
MAGIC = 0xC1FC1FC1
HEADER = struct.Struct("<I16sIQQQQQQQ")
"""The packet header and the packet context up to ``events_discarded``."""
SIZES_OFFSET = 48
"""Of the content size, followed by packet size, sequence number and lost records."""
SIZES = struct.Struct("<QQQQ")
TIME_BEGIN, TIME_END = slice(32, 40), slice(40, 48)
HEADER_SIZE = 104


class Collected:
    """What the files of a recording hold.

    Args:
        streams: Data stream files.
        packets: Packets joined to their files.
        lost: Event records that the tracer counted as lost.
        problems: What could not be joined, for people; the data are left where they
            are.
    """

    def __init__(
        self,
        streams: int = 0,
        packets: int = 0,
        lost: int = 0,
        problems: Iterable[str] = (),
    ) -> None:
        self.streams = streams
        self.packets = packets
        self.lost = lost
        self.problems = list(problems)


class _Packet(NamedTuple):
    content: int
    size: int
    number: int
    lost: int


def collect(directory: Path) -> Collected:
    """Join the last packets of all threads to their data stream files.

    Args:
        directory: The trace.

    Returns:
        What was found.
    """
    found = Collected()
    for opened in sorted(directory.glob(f"*{OPEN_SUFFIX}")):
        final = opened.with_name(opened.name.removesuffix(OPEN_SUFFIX))
        try:
            found.packets += _join(opened, final)
        except OSError as error:
            found.problems.append(f"{opened}: {error.strerror or error}")
    for path in directory.iterdir():
        if path.name != "metadata" and not path.name.startswith("."):
            found.streams += 1
            last = _last_packet(path)
            found.lost += last.lost if last is not None else 0
    return found


def _join(opened: Path, final: Path) -> bool:
    """Append the packet unless it is there; whether it was."""
    with opened.open("rb") as file:
        packet = _read_packet(file.read(HEADER_SIZE), opened.stat().st_size)
        file.seek(0)
        data = (
            bytearray(file.read(-(-packet.content // 8) * 8)) if packet else bytearray()
        )
    if packet is None or not data:
        # The thread died before its first packet began.
        opened.unlink()
        return False
    last = _last_packet(final, cut=True) if final.exists() else None
    is_new = last is None or last.number != packet.number
    if is_new and (packet.content > HEADER_SIZE or packet.lost):
        number = packet.number
        with final.open("ab") as file:
            if packet.lost and last is None:
                file.write(_origin(data))
                number += 1
            SIZES.pack_into(
                data,
                SIZES_OFFSET,
                packet.content * 8,
                len(data) * 8,
                number,
                packet.lost,
            )
            file.write(data)
    opened.unlink()
    return is_new


def _origin(packet: bytearray) -> bytearray:
    """Return an empty packet, from which on the first one may tell lost records.

    Readers compare the count with that of the packet before.
    """
    origin = packet[:HEADER_SIZE]
    SIZES.pack_into(origin, SIZES_OFFSET, HEADER_SIZE * 8, HEADER_SIZE * 8, 0, 0)
    origin[TIME_END] = origin[TIME_BEGIN]
    return origin


def _read_packet(header: bytes, available: int) -> _Packet | None:
    if len(header) < HEADER.size:
        return None
    magic, _, _, _, _, _, content, size, number, lost = HEADER.unpack_from(header)
    if magic != MAGIC or not HEADER_SIZE * 8 <= content <= size <= available * 8:
        return None
    return _Packet(content // 8, size // 8, number, lost)


def _last_packet(path: Path, *, cut: bool = False) -> _Packet | None:
    """Find the last whole packet; take away what follows it when asked."""
    size = path.stat().st_size
    offset, last = 0, None
    with path.open("r+b" if cut else "rb") as file:
        while offset < size:
            file.seek(offset)
            packet = _read_packet(file.read(HEADER_SIZE), size - offset)
            if packet is None:
                break
            last = packet
            offset += packet.size
        if cut and offset < size:
            os.ftruncate(file.fileno(), offset)
    return last
