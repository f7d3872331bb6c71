"""Packets, and the header of event records.

Code addresses have no more bits than user space has; 32 bits of process and thread IDs are what
Babeltrace's debug-info filter asks for.
"""

from __future__ import annotations

from .terms import (
    BYTE,
    CHARACTER,
    NAME_OF_THREAD,
    U32,
    U64,
    Constant,
    Member,
    Structure,
)

__all__ = [
    "CONSTANTS",
    "CPU_MEMBERS",
    "HEADER_MEMBERS",
    "PACKET",
    "STREAM_CLASSES",
]

STREAM_CLASSES = (
    Constant("STREAM_CLASS", 0, about="Of the rings of threads."),
    Constant("STREAM_CLASS_OF_CPUS", 1),
)
CONSTANTS = (
    Constant("PACKET_MAGIC", 0xC1FC1FC1, about="CTF 1.8.3, section 5.1."),
    *STREAM_CLASSES,
    Constant("PROCNAME_SIZE", NAME_OF_THREAD),
    Constant("PLACE_SIZE", 6, about="Of `ip`, `addr` and `call_site`."),
    Constant("ID_SIZE", 4),
    Constant("CPU_ID_SIZE", 2),
    Constant(
        "HEADER_CLASS_BITS",
        8,
        about="The compact event header: bits of class, then the lower bits of the time. "
        "Bits are counted from the least significant one on little-endian machines, from "
        "the other end on big-endian ones.",
    ),
    Constant("HEADER_TIME_BITS", 24),
    Constant(
        "HEADER_EXTENDED",
        255,
        about="In place of the class, which follows in 32 bits, with all of the time.",
    ),
    Constant("COMPACT_HEADER_SIZE", 4),
    Constant("EXTENDED_HEADER_SIZE", 13),
)

PACKET = Structure(
    "packet",
    (
        Member("magic", U32),
        Member("uuid", BYTE, 16),
        Member("stream_id", U32),
        Member("stream_instance_id", U64),
        Member("timestamp_begin", U64, is_time=True),
        Member(
            "timestamp_end",
            U64,
            qualifier="volatile",
            is_time=True,
            about="Up to date after each record; the collector fills what follows.",
        ),
        Member("content_size", U64, qualifier="volatile"),
        Member("packet_size", U64),
        Member("packet_seq_num", U64),
        Member("events_discarded", U64, qualifier="volatile"),
        Member("vpid", U32),
        Member("vtid", U32),
        Member("procname", CHARACTER, NAME_OF_THREAD),
    ),
    about="The packet header and the packet context. All sizes are in bits, as CTF has them.",
)

CPU_MEMBERS = (
    *(one for one in PACKET.members if one.name not in {"vpid", "vtid", "procname"}),
    Member("cpu_id", U32),
)
"""Of a packet of the ring of a CPU, as LTTng's have it."""

HEADER_MEMBERS = 4
"""So many members are the packet header; the others are the packet context."""
