"""Commands that need a decision, and what is answered.

The layouts are those of LTTng's relay protocol, of which peers up to minor version 10
speak an older form; what is read here has the same members for all.
"""

from __future__ import annotations

import struct

from .._typing import NamedTuple

__all__ = [
    "AddStream",
    "ChunkExists",
    "CloseChunk",
    "Code",
    "Configuration",
    "CreateChunk",
    "CreateSession",
    "RotateStreams",
    "chunk_closed",
    "chunk_exists",
    "configuration",
    "session_created",
    "status",
    "stream_added",
]

TRACE_CHUNKS_SINCE = 11
"""The minor version of the protocol from which on there are trace chunks."""
CLEAR_ALLOWED = 1
"""A flag of the relay's configuration."""


class Code:
    """Outcomes, by the numbers of LTTng's errors."""

    OK = 10
    UNKNOWN = 11
    FATAL = 25
    INVALID = 97
    INVALID_PROTOCOL = 152
    FILE_CREATION = 153


class CreateSession(NamedTuple):
    """A session begins."""

    session_name: bytes
    """Empty from peers before 2.4, and as are all others then."""

    host_name: bytes
    base_path: bytes
    """Where below the host somebody wants it; empty if nobody said."""

    live_timer: int
    """Microseconds; 0 if it is not live."""

    is_snapshot: bool
    is_dated: bool
    """Whether its name tells when it was created."""

    daemon: bytes | None
    """The UUID of the session daemon; nothing from peers without trace chunks."""

    number: int | None
    """Which session of that daemon."""

    creation_time: int | None
    """Seconds since 1970."""

    chunk: int | None
    """The trace chunk that another connection has created for it."""


class AddStream(NamedTuple):
    """A stream of the session begins."""

    channel: bytes
    """The name of its files."""

    path: bytes
    """Their directory in the trace chunk."""

    file_bytes: int
    file_count: int


class RotateStreams(NamedTuple):
    """Streams go on in another trace chunk."""

    chunk: int | None
    streams: list[tuple[int, int]]
    """Their numbers, and the first packet there."""


class CreateChunk(NamedTuple):
    """A trace chunk begins."""

    chunk: int
    time: int
    """Seconds since 1970."""

    name: bytes | None
    """The name that it has in place of a date."""


class CloseChunk(NamedTuple):
    """A trace chunk ends."""

    chunk: int
    time: int
    """Seconds since 1970."""

    action: int | None
    """What becomes of it."""


class ChunkExists(NamedTuple):
    """Whether a trace chunk is there."""

    chunk: int


class Configuration(NamedTuple):
    """What the relay allows."""

    flags: int


def status(code: int) -> bytes:
    """Return the reply that says only what came of it."""
    return struct.pack(">I", code)


def session_created(minor: int, code: int, number: int, path: str) -> bytes:
    """Return the reply to a session.

    Args:
        minor: The version of the protocol.
        code: What came of it.
        number: Its number; 0 if there is none.
        path: Where it is, below the output of the relay.
    """
    reply = struct.pack(">QI", number, code)
    if minor < TRACE_CHUNKS_SINCE:
        return reply
    text = path.encode(errors="surrogateescape") + b"\0" if path else b""
    return reply + struct.pack(">I", len(text)) + text


def stream_added(code: int, number: int) -> bytes:
    """Return the reply to a stream; of one that was refused, all bits are ones."""
    return struct.pack(">QI", number, code)


def chunk_closed(code: int, path: str) -> bytes:
    """Return the reply to the end of a trace chunk, and where it will be."""
    text = path.encode(errors="surrogateescape") + b"\0" if path else b""
    return struct.pack(">II", code, len(text)) + text


def chunk_exists(*, is_there: bool) -> bytes:
    """Return whether a trace chunk is there."""
    return struct.pack(">IB", Code.OK, is_there)


def configuration(code: int, *, allows_clear: bool) -> bytes:
    """Return what the relay allows."""
    return struct.pack(">IQ", code, CLEAR_ALLOWED if allows_clear else 0)
