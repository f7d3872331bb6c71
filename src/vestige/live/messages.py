"""The messages of LTTng's live protocol, version 2.4: bytes from and to values.

Numbers are big-endian and follow one another without padding, texts fill their places
with null characters. Whatever the other side sends is checked: counts and sizes have
limits, statuses are among those that there are.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from struct import Struct
from typing import TypeVar

from .._typing import NamedTuple
from ..errors import TraceFormatError

__all__ = [
    "ATTACH",
    "CONNECT",
    "INDEX_BYTES",
    "MAJOR",
    "MINOR",
    "PACKET",
    "REQUEST",
    "SESSION_BYTES",
    "STREAM_BYTES",
    "AttachStatus",
    "Command",
    "Flag",
    "Index",
    "IndexStatus",
    "MetadataStatus",
    "PacketStatus",
    "RemoteSession",
    "RemoteStream",
    "StreamsStatus",
    "checked",
    "status_of",
]

MAJOR, MINOR = 2, 4
"""The version of the protocol that is spoken here."""

LARGEST_PACKET = 1 << 28
"""Most bytes of a packet: LTTng makes none as large."""
MOST_STREAMS = 1 << 16
"""Most data streams, or sessions, in one answer."""

REQUEST = Struct(">QII")
"""Before each request: the size of what follows, the command, its version."""
CONNECT = Struct(">QIII")
"""ID of the viewer, version (major, minor), kind of connection."""
ATTACH = Struct(">QQI")
"""ID of the session, an offset that is not used, where to begin."""
PACKET = Struct(">QQI")
"""ID of the data stream, offset and size of what is wanted."""

_SESSION = Struct(">QIII64s255s")
_STREAM = Struct(">QQI4096s255s")
_INDEX = Struct(">7QII")

SESSION_BYTES = _SESSION.size
"""The size of a session in a list."""
STREAM_BYTES = _STREAM.size
"""The size of a data stream in a list."""
INDEX_BYTES = _INDEX.size
"""The size of what is known of a packet."""

Status = TypeVar("Status", bound=IntEnum)


class Command(IntEnum):
    """What can be asked."""

    CONNECT = 1
    LIST_SESSIONS = 2
    ATTACH_SESSION = 3
    GET_NEXT_INDEX = 4
    GET_PACKET = 5
    GET_METADATA = 6
    GET_NEW_STREAMS = 7
    CREATE_SESSION = 8
    DETACH_SESSION = 9


class Flag(IntFlag):
    """What is to be asked for first."""

    NEW_METADATA = 1
    NEW_STREAM = 2


class AttachStatus(IntEnum):
    """The answer to: let me read a session."""

    OK = 1
    ALREADY_ATTACHED = 2
    UNKNOWN_SESSION = 3
    NOT_LIVE = 4
    CANNOT_SEEK = 5
    NO_VIEWER_SESSION = 6


class IndexStatus(IntEnum):
    """The answer to: what is the next packet?"""

    OK = 1
    RETRY = 2
    HUNG_UP = 3
    ERROR = 4
    INACTIVE = 5
    END = 6


class PacketStatus(IntEnum):
    """The answer to: give me a part of a packet."""

    OK = 1
    RETRY = 2
    ERROR = 3
    END = 4


class MetadataStatus(IntEnum):
    """The answer to: give me metadata."""

    OK = 1
    NOTHING_NEW = 2
    ERROR = 3


class StreamsStatus(IntEnum):
    """The answer to: which data streams are new?"""

    OK = 1
    NOTHING_NEW = 2
    ERROR = 3
    HUNG_UP = 4


def checked(value: int, most: int, what: str) -> int:
    """Return a number that the other side has sent.

    Args:
        value: The number.
        most: The greatest that makes sense.
        what: What it is, for the error.

    Raises:
        TraceFormatError: It is greater.
    """
    if value > most:
        raise TraceFormatError(f"the relay daemon tells of {value} {what}")
    return value


def status_of(kind: type[Status], value: int) -> Status:
    """Return a status.

    Args:
        kind: Which statuses there are.
        value: Its number.

    Raises:
        TraceFormatError: There is none of that number.
    """
    try:
        return kind(value)
    except ValueError:
        raise TraceFormatError(
            f"the relay daemon answers with status {value}, which there is not"
        ) from None


def _text(place: bytes) -> str:
    return place.partition(b"\0")[0].decode(errors="replace")


class RemoteSession(NamedTuple):
    """A session of a relay daemon."""

    id: int
    """Its number there."""
    live_timer: int
    """How often data are sent that wait, microseconds."""
    clients: int
    """The number of viewers that read it."""
    streams: int
    """The number of its data streams."""
    hostname: str
    """The name of the machine that records."""
    name: str
    """Its name."""

    @classmethod
    def parse(cls, data: bytes | bytearray) -> RemoteSession:
        """Read what stands for a session in a list.

        Args:
            data: :data:`SESSION_BYTES` bytes.
        """
        number, timer, clients, streams, host, name = _SESSION.unpack(data)
        return cls(number, timer, clients, streams, _text(host), _text(name))


class RemoteStream(NamedTuple):
    """A data stream, or the metadata, of a session."""

    id: int
    """Its number at the relay daemon."""
    trace_id: int
    """The number of its trace there."""
    is_metadata: bool
    """Whether it is the metadata of that trace."""
    path: str
    """Where the relay daemon keeps it."""
    channel: str
    """The name of its file there."""

    @classmethod
    def parse(cls, data: bytes | bytearray) -> RemoteStream:
        """Read what stands for a data stream in a list.

        Args:
            data: :data:`STREAM_BYTES` bytes.
        """
        stream, trace, is_metadata, path, channel = _STREAM.unpack(data)
        return cls(stream, trace, bool(is_metadata), _text(path), _text(channel))


class Index(NamedTuple):
    """What is known of the next packet of a data stream."""

    offset: int
    """Where it begins."""
    size: int
    """Its size, bytes."""
    end: int
    """Until when it lasts; of a data stream that is inactive, until when; cycles."""
    class_id: int
    """ID of the stream class."""
    status: IndexStatus
    """Whether there is one."""
    flags: Flag
    """What is to be asked for before it."""

    @classmethod
    def parse(cls, data: bytes | bytearray) -> Index:
        """Read the message.

        Args:
            data: Its bytes.

        Raises:
            TraceFormatError: It makes no sense.
        """
        offset, bits, _, _, end, _, class_id, status, flags = _INDEX.unpack(data)
        found = status_of(IndexStatus, status)
        size = 0
        if found is IndexStatus.OK:
            size = checked(bits // 8, LARGEST_PACKET, "bytes of a packet")
        return cls(offset, size, end, class_id, found, Flag(flags & 3))
