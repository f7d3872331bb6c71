"""LTTng's index files, CTF index 1.1, beside data streams of Vestige's own tracer."""

from __future__ import annotations

import struct
from pathlib import Path

__all__ = ["INDEX_ENTRY", "INDEX_HEADER", "indexed_packets", "packets_of"]

INDEX_HEADER = struct.pack(">IIII", 0xC1F1DCC1, 1, 1, 72)
INDEX_ENTRY = struct.Struct(">9Q")
PACKET = struct.Struct("=I16sIQ6Q")


def indexed_packets(data: Path) -> list[tuple[int, ...]]:
    """Return the entries of the index of a data stream file.

    Args:
        data: The file, which has an index.
    """
    raw = (data.parent / "index" / f"{data.name}.idx").read_bytes()
    assert raw[: len(INDEX_HEADER)] == INDEX_HEADER
    return [*INDEX_ENTRY.iter_unpack(raw[len(INDEX_HEADER) :])]


def packets_of(data: Path) -> list[tuple[int, ...]]:
    """Return what an index is to say of a data stream file.

    Args:
        data: The file.
    """
    raw = data.read_bytes()
    found: list[tuple[int, ...]] = []
    place = 0
    while place < len(raw):
        head = PACKET.unpack_from(raw, place)
        _, _, stream, instance, begin, end, content, size, number, lost = head
        found.append((place, size, content, begin, end, lost, stream, instance, number))
        place += size // 8
    return found
