"""The other side of the live protocol: requests of viewers, and what they are answered.

Whatever a viewer sends is checked by its size alone: all numbers in it are looked up,
and none is trusted.
"""

from __future__ import annotations

from struct import Struct

from .._typing import NamedTuple
from .messages import (
    ATTACH,
    CONNECT,
    MAJOR,
    PACKET,
    AttachStatus,
    Command,
    Flag,
    IndexStatus,
    MetadataStatus,
    PacketStatus,
    StreamsStatus,
)

__all__ = [
    "BODY_BYTES",
    "MOST_BODY_BYTES",
    "SERVED_MINOR",
    "UNKNOWN_COMMAND",
    "PacketFacts",
    "attached",
    "connected",
    "index",
    "index_without_packet",
    "metadata",
    "new_streams",
    "number_of",
    "packet",
    "session",
    "status",
    "stream",
]

SERVED_MINOR = 11
"""The minor version that ``lttng-relayd`` 2.13 tells."""
MOST_BODY_BYTES = 4096
"""No request has more behind its head; what is unknown there is left out."""

_NUMBER = Struct(">I")
_LONG = Struct(">Q")
_PAIR = Struct(">II")
_TRIPLE = Struct(">III")
_METADATA = Struct(">QI")
_SESSION = Struct(">QIII64s255s")
_STREAM = Struct(">QQI4096s255s")
_INDEX = Struct(">7QII")

BODY_BYTES = {
    Command.CONNECT: CONNECT.size,
    Command.LIST_SESSIONS: 0,
    Command.ATTACH_SESSION: ATTACH.size,
    Command.GET_NEXT_INDEX: _LONG.size,
    Command.GET_PACKET: PACKET.size,
    Command.GET_METADATA: _LONG.size,
    Command.GET_NEW_STREAMS: _LONG.size,
    Command.CREATE_SESSION: 0,
    Command.DETACH_SESSION: _LONG.size,
}
"""What follows the head of a request, whatever size that says: ``lttng-relayd`` does
not look at it, and not all viewers fill it in."""

UNKNOWN_COMMAND = _NUMBER.pack(10)
"""``LTTNG_ERR_UNK``; nothing follows."""


class PacketFacts(NamedTuple):
    """What is known of a packet: times are values of its clock, sizes are bits."""

    offset: int
    """Where it begins in its file, bytes."""
    packet_size: int
    content_size: int
    begin: int
    end: int
    discarded: int
    """Event records that were lost in its data stream up to its end."""
    class_id: int
    """ID of the stream class."""


def connected(viewer: int) -> bytes:
    """Return the answer to a viewer who connects.

    Args:
        viewer: The number that it gets.
    """
    return CONNECT.pack(viewer, MAJOR, SERVED_MINOR, 0)


def number_of(count: int) -> bytes:
    """Return the head of a list of sessions.

    Args:
        count: How many there are.
    """
    return _NUMBER.pack(count)


def session(  # noqa: PLR0913, PLR0917 - as many as it has members
    number: int, live_timer: int, viewers: int, streams: int, host: str, name: str
) -> bytes:
    """Return what stands for a session in a list.

    Args:
        number: Its number.
        live_timer: Its live timer, microseconds.
        viewers: How many read it.
        streams: How many data streams it has.
        host: The name of the machine.
        name: That of itself.
    """
    return _SESSION.pack(
        number, live_timer, viewers, streams, _text(host, 64), _text(name, 255)
    )


def stream(
    number: int, trace: int, path: str, channel: str, *, is_metadata: bool
) -> bytes:
    """Return what stands for a data stream in a list.

    Args:
        number: Its number.
        trace: That of its trace.
        path: Where its files are.
        channel: How they begin.
        is_metadata: Whether it is the metadata.
    """
    return _STREAM.pack(
        number, trace, is_metadata, _text(path, 4096), _text(channel, 255)
    )


def attached(found: AttachStatus, streams: int) -> bytes:
    """Return the head of the answer to: let me read a session.

    Args:
        found: Whether it may.
        streams: How many data streams follow.
    """
    return _PAIR.pack(found, streams)


def new_streams(found: StreamsStatus, streams: int) -> bytes:
    """Return the head of the answer to: which data streams are new?

    Args:
        found: Whether there are any, and may be.
        streams: How many follow.
    """
    return _PAIR.pack(found, streams)


def index(facts: PacketFacts, flags: Flag) -> bytes:
    """Return what is known of the next packet.

    Args:
        facts: That.
        flags: What is to be asked for before it.
    """
    return _INDEX.pack(*facts, IndexStatus.OK, flags)


def index_without_packet(
    found: IndexStatus, flags: Flag, end: int = 0, class_id: int = 0
) -> bytes:
    """Return the answer when there is no next packet.

    Args:
        found: Why there is none.
        flags: What is to be asked for.
        end: Until when the data stream is inactive.
        class_id: ID of its stream class.
    """
    return _INDEX.pack(0, 0, 0, 0, end, 0, class_id, found, flags)


def packet(found: PacketStatus, size: int = 0) -> bytes:
    """Return the head of a part of a packet.

    Args:
        found: Whether it is there.
        size: Bytes that follow.
    """
    return _TRIPLE.pack(found, size, 0)


def metadata(found: MetadataStatus, size: int = 0) -> bytes:
    """Return the head of a part of the metadata.

    Args:
        found: Whether there is any.
        size: Bytes that follow.
    """
    return _METADATA.pack(size, found)


def status(number: int) -> bytes:
    """Return an answer that is only a number.

    Args:
        number: The number.
    """
    return _NUMBER.pack(number)


def _text(text: str, size: int) -> bytes:
    # There is always a null character at the end.
    return text.encode(errors="replace")[: size - 1]
