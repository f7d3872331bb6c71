"""Messages between programs and a session daemon: a head, and what it needs."""

from __future__ import annotations

import struct

from ...._typing import NamedTuple
from ._agreement import (
    MESSAGE_EVENT_FORMAT,
    MESSAGE_FIELD_FORMAT,
    MESSAGE_HEAD_FORMAT,
    MESSAGE_HELLO_FORMAT,
    MESSAGE_RECORD_FORMAT,
    MESSAGE_STOP_FORMAT,
    MOST_CHANNELS,
    REGISTRATION_VERSION,
    Message,
)

__all__ = [
    "EVENT",
    "FIELD",
    "HEAD",
    "LARGEST_MESSAGE",
    "RECORD",
    "STOP",
    "Hello",
    "Received",
    "decode",
    "encode",
    "text",
]

HEAD = struct.Struct("=" + MESSAGE_HEAD_FORMAT)
HELLO = struct.Struct("=" + MESSAGE_HELLO_FORMAT)
RECORD = struct.Struct("=" + MESSAGE_RECORD_FORMAT)
STOP = struct.Struct("=" + MESSAGE_STOP_FORMAT)
EVENT = struct.Struct("=" + MESSAGE_EVENT_FORMAT)
FIELD = struct.Struct("=" + MESSAGE_FIELD_FORMAT)
LARGEST_MESSAGE = 4096
"""Bytes of what a program sends."""


class Received(NamedTuple):
    """A message of a program; nothing of it is trusted."""

    kind: int
    generation: int
    status: int
    body: bytes


class Hello(NamedTuple):
    """What a program says of itself."""

    fingerprint: int
    """Of the agreement of its tracer."""

    pid_namespace: int
    arenas: frozenset[int]
    """The inodes of the memories that it records to."""

    vpid: int
    bits: int
    name: str

    @classmethod
    def read(cls, message: Received) -> Hello:
        """Read the first message of a program.

        Args:
            message: The message.

        Raises:
            ValueError: It is something else.
        """
        if message.kind != Message.HELLO or len(message.body) != HELLO.size:
            raise ValueError("expected a program that says who it is")
        fingerprint, space, *rest = HELLO.unpack(message.body)
        arenas = frozenset(rest[:MOST_CHANNELS]) - {0}
        vpid, bits, name = rest[MOST_CHANNELS:]
        return cls(fingerprint, space, arenas, vpid, bits, text(name))


def encode(kind: Message, generation: int, body: bytes = b"", status: int = 0) -> bytes:
    """Write a message.

    Args:
        kind: What it is.
        generation: Of the request.
        body: What follows the head.
        status: What the kind needs beside.
    """
    size = HEAD.size + len(body)
    return HEAD.pack(kind, REGISTRATION_VERSION, size, generation, status) + body


def decode(raw: bytes) -> Received:
    """Read a message.

    Args:
        raw: What came.

    Raises:
        ValueError: It is none, or of another version.
    """
    if len(raw) < HEAD.size:
        raise ValueError(f"a message of {len(raw)} bytes")
    kind, version, size, generation, status = HEAD.unpack_from(raw)
    if version != REGISTRATION_VERSION or size != len(raw):
        raise ValueError(f"a message of version {version} and {size} bytes")
    return Received(kind, generation, status, raw[HEAD.size :])


def text(raw: bytes) -> str:
    """Return a text that ends with a zero.

    Args:
        raw: The text.
    """
    return raw.split(b"\0", 1)[0].decode(errors="replace")
