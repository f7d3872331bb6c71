"""A peer of a relay daemon that sends what LTTng's session daemons and consumers send.

The messages are put together here, apart from what reads them.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from typing import Any
from uuid import UUID

OK, UNKNOWN, INVALID_PROTOCOL = 10, 11, 152
NO_STREAM = (1 << 64) - 1
DAEMON = UUID(int=7)
NAMES_SINCE, NUMBERS_SINCE, CHUNKS_SINCE = 4, 8, 11
"""Minor versions since which peers send more: names of sessions and indexes, numbers of
packets, trace chunks."""
SECONDS = 60


class ControlPeer:
    """A control connection, after both sides have agreed on the protocol."""

    def __init__(self, port: int, minor: int = 11) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), SECONDS)
        self.minor = minor
        try:
            assert self.ask(5, struct.pack(">II", 2, minor), ">II") == (2, 13)
        except BaseException:
            self.close()
            raise

    def send(self, command: int, payload: bytes = b"") -> None:
        """Send a command."""
        head = struct.pack(">QQII", 0, len(payload), command, 0)
        self.socket.sendall(head + payload)

    def receive(self, layout: str) -> tuple[Any, ...]:
        """Receive a reply; return its members."""
        wanted = struct.calcsize(layout)
        received = b""
        while len(received) < wanted:
            part = self.socket.recv(wanted - len(received))
            if not part:
                raise EOFError("the relay has closed the connection")
            received += part
        return struct.unpack(layout, received)

    def ask(
        self, command: int, payload: bytes = b"", layout: str = ">I"
    ) -> tuple[Any, ...]:
        """Send a command; return the members of its reply."""
        self.send(command, payload)
        return self.receive(layout)

    def is_closed(self) -> bool:
        """Wait until the relay closes the connection."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()

    def create_session(
        self, name: str = "s", host: str = "host", base: str = "", **members: int
    ) -> tuple[int, int, str]:
        """Create a session; return its number, its status and its path."""
        texts = [f"{one}\0".encode() if one else b"" for one in (name, host, base)]
        number = members.get("number", 1)
        if self.minor < NAMES_SINCE:
            return *self.ask(2, layout=">QI"), ""
        if self.minor < CHUNKS_SINCE:
            timer, is_snapshot = members.get("live_timer", 0), False
            names = name.encode(), host.encode()
            payload = struct.pack(">255s64sII", *names, timer, is_snapshot)
            return *self.ask(2, payload, ">QI"), ""
        payload = struct.pack(
            ">IIIIBB16sQQBQ",
            *map(len, texts),
            members.get("live_timer", 0),
            members.get("is_snapshot", False),
            members.get("is_dated", True),
            DAEMON.bytes,
            number,
            members.get("created", 1_700_000_000),
            False,
            0,
        )
        session, status = self.ask(2, payload + b"".join(texts), ">QI")
        (length,) = self.receive(">I")
        (path,) = self.receive(f"{length}s")
        return session, status, path.rstrip(b"\0").decode()

    def create_chunk(
        self, chunk: int = 0, time: int = 1_700_000_000, name: str = ""
    ) -> int:
        """Begin a trace chunk; return the status."""
        text = f"{name}\0".encode() if name else b""
        payload = struct.pack(">QQI", chunk, time, len(text)) + text
        return int(self.ask(19, payload)[0])

    def close_chunk(
        self, chunk: int = 0, time: int = 1_700_000_001, action: int | None = None
    ) -> tuple[int, str]:
        """Close a trace chunk; return the status and where it will be."""
        payload = struct.pack(">QQBI", chunk, time, action is not None, action or 0)
        status, length = self.ask(20, payload, ">II")
        (path,) = self.receive(f"{length}s")
        return status, path.rstrip(b"\0").decode()

    def has_chunk(self, chunk: int) -> bool:
        """Tell whether a trace chunk is there."""
        return bool(self.ask(21, struct.pack(">Q", chunk), ">IB")[1])

    def add_stream(
        self,
        channel: str = "channel0_0",
        path: str = "ust/uid/0/64-bit",
        **members: int,
    ) -> tuple[int, int]:
        """Add a stream; return its number and the status."""
        texts = [one + b"\0" for one in (channel.encode(), path.encode())]
        size, count = members.get("file_bytes", 0), members.get("file_count", 0)
        if self.minor < CHUNKS_SINCE:
            payload = struct.pack(">264s4096s", *texts)
            payload += struct.pack(">QQ", size, count) if self.minor > 1 else b""
            number, status = self.ask(1, payload, ">QI")
            return number, status
        payload = struct.pack(">IIQQQ", *map(len, texts), size, count, 0)
        number, status = self.ask(1, payload + b"".join(texts), ">QI")
        return number, status

    def add_index(
        self, stream: int, sequence: int, size: int = 4096, number: int | None = None
    ) -> int:
        """Send what is to be known of a packet; return the status."""
        number = sequence if number is None else number
        words = [size * 8, size * 8, 100 + sequence, 101 + sequence, 0, 0]
        words += [] if self.minor < NUMBERS_SINCE else [0, number]
        layout = f">{2 + len(words)}Q"
        return int(self.ask(13, struct.pack(layout, stream, sequence, *words))[0])

    def send_metadata(self, stream: int, text: bytes, padding: int = 0) -> None:
        """Send metadata; nothing is answered."""
        self.send(6, struct.pack(">QI", stream, padding) + text)

    def is_pending(self, stream: int, last: int) -> int:
        """Return 1 if a packet has not come yet, 0 if it has."""
        return int(self.ask(8, struct.pack(">QQ", stream, last))[0])

    def close_stream(self, stream: int, last: int) -> int:
        """End a stream with a packet; return the status."""
        return int(self.ask(7, struct.pack(">QQ", stream, last))[0])

    def rotate(self, chunk: int | None, streams: Sequence[tuple[int, int]]) -> int:
        """Let streams go on in another trace chunk; return the status."""
        payload = struct.pack(">IB7xQ", len(streams), chunk is not None, chunk or 0)
        for stream, at in streams:
            payload += struct.pack(">QQ", stream, at)
        return int(self.ask(18, payload)[0])


class DataPeer:
    """A data connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), SECONDS)

    def send(self, stream: int, sequence: int, packet: bytes, padding: int = 0) -> None:
        """Send a packet."""
        head = struct.pack(">QQQII", 0, stream, sequence, len(packet), padding)
        self.socket.sendall(head + packet)

    def is_closed(self) -> bool:
        """Wait until the relay closes the connection."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()
