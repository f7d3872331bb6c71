"""A relay daemon for tests: it serves packets by a script, and may misbehave."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

CONNECT, LIST, ATTACH, INDEX, PACKET, METADATA, STREAMS, CREATE, DETACH = range(1, 10)
OK, RETRY, HUNG_UP, ERROR, INACTIVE = range(1, 6)
NEW_METADATA, NEW_STREAM = 1, 2
METADATA_ID = 1000
SESSION_ID = 7


@dataclass
class Served:
    """A data stream: what is said when its next packet is asked for."""

    class_id: int = 0
    steps: list[bytes | int | str] = field(default_factory=list)
    """Packets; clock values until which it is inactive; ``retry``; ``error``."""
    ends: list[int] = field(default_factory=list)
    """The end of each packet, cycles."""
    is_announced_later: bool = False
    """Whether it is new only when somebody asks for new data streams."""
    sent: list[bytes] = field(default_factory=list)


class Relay:
    """Serves one session.

    Args:
        streams: Its data streams.
        metadata: Its metadata, in the parts in which they come.
        most: Most bytes of a packet in one answer.
        answer: Called with each command before it is answered; bytes are sent in place
            of the answer, and then the connection is closed.
    """

    def __init__(
        self,
        streams: Sequence[Served],
        metadata: Sequence[bytes],
        most: int = 1 << 20,
        answer: Callable[[int], bytes | None] = lambda _: None,
    ) -> None:
        self.streams = streams
        self.metadata = [*metadata]
        self.most = most
        self.answer = answer
        self.commands: list[int] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]

    @property
    def url(self) -> str:
        """The URL of the session."""
        return f"net://127.0.0.1:{self.port}/host/machine/session"

    def serve(self) -> None:
        """Serve until nobody connects any more."""
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                try:
                    self._serve(connection)
                except (ConnectionError, EOFError):
                    continue

    def close(self) -> None:
        """Serve nobody any more."""
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _serve(self, connection: socket.socket) -> None:
        while True:
            size, command, _ = struct.unpack(">QII", receive(connection, 16))
            body = receive(connection, size)
            self.commands.append(command)
            instead = self.answer(command)
            if instead is not None:
                connection.sendall(instead)
                return
            connection.sendall(self._answered(command, body))

    def _answered(self, command: int, body: bytes) -> bytes:
        answers: dict[int, Callable[[], bytes]] = {
            CONNECT: lambda: struct.pack(">QIII", 1, 2, 11, 1),
            LIST: self._sessions,
            CREATE: lambda: struct.pack(">I", 1),
            DETACH: lambda: struct.pack(">I", 1),
            ATTACH: self._attached,
            STREAMS: self._new_streams,
            METADATA: self._metadata,
            INDEX: partial(self._next, body),
            PACKET: partial(self._packet, body),
        }
        return answers[command]()

    def _sessions(self) -> bytes:
        names = struct.pack(">64s255s", b"machine", b"session")
        facts = struct.pack(">QIII", SESSION_ID, 1000, 0, len(self.streams))
        return struct.pack(">I", 1) + facts + names

    def _attached(self) -> bytes:
        there = [one for one in self.streams if not one.is_announced_later]
        listed = [self._listed(self.streams.index(one)) for one in there]
        listed.append(_stream(METADATA_ID, is_metadata=True))
        return struct.pack(">II", OK, len(listed)) + b"".join(listed)

    def _metadata(self) -> bytes:
        part = self.metadata.pop(0) if self.metadata else b""
        return struct.pack(">QI", len(part), 1 if part else 2) + part

    def _next(self, body: bytes) -> bytes:
        [stream] = struct.unpack(">Q", body)
        return self._index(stream)

    def _packet(self, body: bytes) -> bytes:
        stream, offset, length = struct.unpack(">QQI", body)
        data = b"".join(self.streams[stream].sent)
        piece: bytes = data[offset : offset + min(length, self.most)]
        head: bytes = struct.pack(">III", 1, len(piece), 0)
        return head + piece

    def _new_streams(self) -> bytes:
        later = [one for one in self.streams if one.is_announced_later]
        if later:
            listed = b"".join(self._listed(self.streams.index(one)) for one in later)
            for one in later:
                one.is_announced_later = False
            return struct.pack(">II", 1, len(later)) + listed
        ended = all(not one.steps for one in self.streams)
        return struct.pack(">II", 4 if ended else 2, 0)

    def _listed(self, number: int) -> bytes:
        return _stream(number, is_metadata=False)

    def _index(self, number: int) -> bytes:
        stream = self.streams[number]
        step = stream.steps.pop(0) if stream.steps else "hung up"
        if isinstance(step, bytes):
            offset = sum(map(len, stream.sent))
            stream.sent.append(step)
            flags = NEW_METADATA if self.metadata else 0
            if any(one.is_announced_later for one in self.streams):
                flags |= NEW_STREAM
            end = stream.ends.pop(0)
            size = len(step) * 8
            return struct.pack(
                ">7QII", offset, size, size, 0, end, 0, stream.class_id, OK, flags
            )
        end = step if isinstance(step, int) else 0
        words = {"retry": RETRY, "error": ERROR, "hung up": HUNG_UP}
        status = INACTIVE if isinstance(step, int) else words[step]
        return struct.pack(">7QII", 0, 0, 0, 0, end, 0, stream.class_id, status, 0)


def _stream(number: int, *, is_metadata: bool) -> bytes:
    path, name = b"session/ust", b"metadata" if is_metadata else b"channel0"
    return struct.pack(">QQI4096s255s", number, 1, is_metadata, path, name)


def receive(connection: socket.socket, size: int) -> bytes:
    """Return so many bytes of what is sent."""
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


@contextmanager
def relay(*arguments: object, **options: object) -> Iterator[Relay]:
    """Have a relay daemon."""
    served = Relay(*arguments, **options)  # type: ignore[arg-type]
    thread = threading.Thread(target=served.serve, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.close()
        thread.join(10)
