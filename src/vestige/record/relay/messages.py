"""The messages between a session daemon and a relay daemon: LTTng's protocol 2.11 on.

Numbers are big-endian, texts end with a zero byte that their lengths count. Most
commands have an answer that begins with a code.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ..._typing import NamedTuple

__all__ = [
    "CLEAR_ALLOWED",
    "CODE",
    "CREATED",
    "DELETE",
    "HANDLE",
    "MINOR",
    "MOVE",
    "NOTHING",
    "OK",
    "VERSION_REPLY",
    "Command",
    "PacketFacts",
    "RelayStream",
    "SessionFacts",
    "add_stream",
    "close_chunk",
    "close_stream",
    "create_chunk",
    "create_session",
    "data_header",
    "data_pending",
    "index",
    "message",
    "metadata",
    "reset_metadata",
    "rotate_streams",
    "version",
]

MAJOR, MINOR = 2, 13
OLDEST_MINOR = 11
"""Older ones know no chunks."""
OK = 10
"""LTTng's code of what has been done."""
CLEAR_ALLOWED = 1
"""Of the configuration: chunks may be removed."""


class Command:
    """The numbers of commands."""

    ADD_STREAM = 1
    CREATE_SESSION = 2
    VERSION = 5
    SEND_METADATA = 6
    CLOSE_STREAM = 7
    DATA_PENDING = 8
    QUIESCENT = 9
    SEND_INDEX = 13
    STREAMS_SENT = 16
    RESET_METADATA = 17
    ROTATE_STREAMS = 18
    CREATE_CHUNK = 19
    CLOSE_CHUNK = 20
    CHUNK_EXISTS = 21
    GET_CONFIGURATION = 22


MOVE, NOTHING, DELETE = 0, 1, 2
"""What becomes of a chunk that is closed: it goes to the archives, it stays, it is
removed."""

HEADER = struct.Struct(">QQII")
"""A circuit, which is always 0; bytes that follow; command and its version."""
ROTATION = struct.Struct(">IB7xQ")
"""As LTTng's compiler lays it out, with padding, which older ones expect."""
DATA_HEADER = struct.Struct(">QQQII")
"""A circuit; stream; number of the packet; its bytes, and zeros after these."""
NUMBERS_OF_VERSION = struct.Struct(">II")
SESSION = struct.Struct(">IIIIBB16sQQBQ")
CHUNK = struct.Struct(">QQI")
CLOSED_CHUNK = struct.Struct(">QQBI")
STREAM = struct.Struct(">IIQQQ")
PLACE = struct.Struct(">QQ")
"""A stream, and a packet of it."""
METADATA = struct.Struct(">QI")
INDEX = struct.Struct(">10Q")

VERSION_REPLY = NUMBERS_OF_VERSION
CODE = struct.Struct(">I")
CREATED = struct.Struct(">QII")
"""Session, code, bytes of the path that follows."""
HANDLE = struct.Struct(">QI")
"""Of a stream; code."""
CONFIGURATION = struct.Struct(">IQ")
PATH = struct.Struct(">II")
"""Code, bytes of the path that follows."""
EXISTS = struct.Struct(">IB")


class SessionFacts(NamedTuple):
    """What a relay daemon is told of a session."""

    name: str
    host: str
    """The name of the machine that records."""
    base_path: str
    """Where the trace is below the directory of the host; empty: by the name."""
    uuid: bytes
    """Of the session daemon."""
    number: int
    """Of the session there."""
    created: int
    """Seconds since 1970."""
    has_time: bool = False
    """Whether the name has the time in it."""
    live_timer: int = 0
    """Microseconds; 0: it is no live session."""
    is_snapshot: bool = False


class RelayStream(NamedTuple):
    """What a relay daemon is told of a data stream."""

    channel: str
    """The name of its file."""
    path: str
    """The directory of its trace, in that of the session."""
    chunk: int
    largest: int = 0
    """Bytes of a file before the next one begins; 0 without a limit."""
    most: int = 0
    """How many files are kept; 0 for all."""


class PacketFacts(NamedTuple):
    """What an index says of a packet: sizes in bits."""

    size: int
    content: int
    begin: int
    end: int
    discarded: int
    stream_class: int
    instance: int
    number: int


def message(command: int, *parts: bytes) -> bytes:
    """Return a message for the control connection.

    Args:
        command: Which.
        parts: What follows.
    """
    return b"".join((HEADER.pack(0, sum(map(len, parts)), command, 0), *parts))


def version() -> bytes:
    """Tell the version; the answer is the one of the relay daemon."""
    return message(Command.VERSION, NUMBERS_OF_VERSION.pack(MAJOR, MINOR))


def _text(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape") + b"\0"


def create_session(facts: SessionFacts, chunk: int | None = None) -> bytes:
    """Create a session.

    Args:
        facts: The session.
        chunk: One that another connection has begun: there is no session without it.
    """
    name, host = _text(facts.name), _text(facts.host)
    base = _text(facts.base_path) if facts.base_path else b""
    head = SESSION.pack(
        len(name),
        len(host),
        len(base),
        facts.live_timer,
        facts.is_snapshot,
        facts.has_time,
        facts.uuid,
        facts.number,
        facts.created,
        chunk is not None,
        chunk or 0,
    )
    return message(Command.CREATE_SESSION, head, name, host, base)


def create_chunk(number: int, begin: int, name: str | None = None) -> bytes:
    """Begin a chunk, to which later streams belong.

    Args:
        number: Its number.
        begin: Seconds since 1970.
        name: What its directory is called; ``None``: as LTTng calls chunks.
    """
    raw = b"" if name is None else _text(name)
    return message(Command.CREATE_CHUNK, CHUNK.pack(number, begin, len(raw)), raw)


def close_chunk(number: int, end: int, what: int) -> bytes:
    """End a chunk.

    Args:
        number: Its number.
        end: Seconds since 1970.
        what: What becomes of it.
    """
    return message(Command.CLOSE_CHUNK, CLOSED_CHUNK.pack(number, end, 1, what))


def chunk_exists(number: int) -> bytes:
    """Ask whether a chunk is still written to.

    Args:
        number: Its number.
    """
    return message(Command.CHUNK_EXISTS, struct.pack(">Q", number))


def configuration() -> bytes:
    """Ask what the relay daemon allows."""
    return message(Command.GET_CONFIGURATION, struct.pack(">Q", 0))


def add_stream(stream: RelayStream) -> bytes:
    """Add a data stream, or the metadata of a trace.

    Args:
        stream: The stream.
    """
    channel, path = _text(stream.channel), _text(stream.path)
    sizes = (len(channel), len(path), stream.largest, stream.most, stream.chunk)
    return message(Command.ADD_STREAM, STREAM.pack(*sizes), channel, path)


def streams_sent() -> bytes:
    """Let viewers see the streams that were added."""
    return message(Command.STREAMS_SENT)


def metadata(handle: int, raw: bytes) -> bytes:
    """Send more metadata; this has no answer.

    Args:
        handle: The stream.
        raw: The bytes.
    """
    return message(Command.SEND_METADATA, METADATA.pack(handle, 0), raw)


def quiescent(handle: int) -> bytes:
    """Ask for an answer that comes when all of before is done.

    Args:
        handle: A stream.
    """
    return message(Command.QUIESCENT, struct.pack(">Q", handle))


def reset_metadata(handle: int, number: int) -> bytes:
    """Begin the metadata anew.

    Args:
        handle: The stream.
        number: How often that was done.
    """
    return message(Command.RESET_METADATA, PLACE.pack(handle, number))


def index(handle: int, number: int, facts: PacketFacts) -> bytes:
    """Tell of a packet what an index has.

    Args:
        handle: The stream.
        number: Of the packet, as its data header has it.
        facts: The rest.
    """
    return message(Command.SEND_INDEX, INDEX.pack(handle, number, *facts))


def data_pending(handle: int, number: int) -> bytes:
    """Ask whether a packet has not been written yet.

    Args:
        handle: The stream.
        number: Of the packet, as its data header has it.
    """
    return message(Command.DATA_PENDING, PLACE.pack(handle, number))


def close_stream(handle: int, last: int) -> bytes:
    """End a stream.

    Args:
        handle: The stream.
        last: The number of its last packet.
    """
    return message(Command.CLOSE_STREAM, PLACE.pack(handle, last))


def rotate_streams(chunk: int, places: Sequence[tuple[int, int]]) -> bytes:
    """Go on with streams in another chunk, which was begun before.

    Args:
        chunk: Its number.
        places: The streams, and the number of their first packet there as indexes
            have it.
    """
    head = ROTATION.pack(len(places), 1, chunk)
    return message(
        Command.ROTATE_STREAMS, head, *(PLACE.pack(*place) for place in places)
    )


def data_header(handle: int, number: int, size: int, padding: int) -> bytes:
    """Return what comes before a packet on the data connection.

    Args:
        handle: The stream.
        number: Of the packet.
        size: Bytes that follow.
        padding: Zeros after these, which are not sent.
    """
    return DATA_HEADER.pack(0, handle, number, size, padding)
