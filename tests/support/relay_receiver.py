"""A relay daemon for tests of senders: it keeps what it gets, and may misbehave."""

from __future__ import annotations

import errno
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from .relay import receive

ADD_STREAM, CREATE_SESSION, VERSION, METADATA, CLOSE_STREAM, PENDING = 1, 2, 5, 6, 7, 8
INDEX, SENT, RESET, ROTATE, CREATE_CHUNK, CLOSE_CHUNK = 13, 16, 17, 18, 19, 20
CONFIGURATION = 22
CHUNK_EXISTS = 21
OK, FAILED = 10, 11
Serve = Callable[[socket.socket], None]


def _as_it_is(_: int, answer: bytes) -> Iterable[bytes | None]:
    return [answer]


@dataclass
class KeptStream:
    """A data stream, or metadata."""

    path: str
    name: str
    chunk: int
    limits: tuple[int, int] = (0, 0)
    raw: bytes = b""
    last: int = -1
    """The number of its last packet."""
    indexes: list[tuple[int, ...]] = field(default_factory=list)
    resets: int = 0
    is_closed: bool = False


@dataclass
class KeptSession:
    """What came on one control connection."""

    name: str = ""
    host: str = ""
    base_path: str = ""
    created: int = 0
    number: int = 0
    live_timer: int = 0
    is_snapshot: bool = False
    streams: dict[int, KeptStream] = field(default_factory=dict)
    chunks: list[int] = field(default_factory=list)
    closed: list[tuple[int, int]] = field(default_factory=list)
    """Chunks, and what became of them."""
    rotated: list[tuple[int, dict[int, int]]] = field(default_factory=list)
    """Chunks in which streams went on, and from which packet on."""
    commands: list[int] = field(default_factory=list)

    def files(self) -> dict[str, bytes]:
        """Return what was sent, by path and name."""
        return {f"{one.path}/{one.name}": one.raw for one in self.streams.values()}


class RelayReceiver:
    """Listens on two ports of localhost.

    Args:
        minor: The version that it says it is.
        refused: A command that it refuses.
        confirms: Whether it says that packets have come.
    """

    def __init__(
        self, minor: int = 13, refused: int = 0, *, confirms: bool = True
    ) -> None:
        self.minor, self.refused, self.confirms = minor, refused, confirms
        self.has_lost = False
        """Whether it still has what connections have begun that are gone."""
        self.still_has = 0
        """How often it says that it still has a chunk."""
        self.asked_for: list[int] = []
        """The chunks that it was asked for."""
        self.is_stopped = False
        """Whether it reads no packets."""
        self.takes_metadata = threading.Event()
        self.takes_metadata.set()
        """Whether it goes on when metadata come."""
        self.spoil: Callable[[int, bytes], Iterable[bytes | None]] = _as_it_is
        """Returns what is sent in place of an answer, by parts; ``None`` ends it."""
        self.sessions: list[KeptSession] = []
        self._streams: dict[int, KeptStream] = {}
        self._handles = iter(range(1, 1 << 20))
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._control = socket.create_server(("127.0.0.1", 0))
        self._data = socket.create_server(("127.0.0.1", 0))
        self.control_port: int = self._control.getsockname()[1]
        self.data_port: int = self._data.getsockname()[1]
        for listener, serve in (
            (self._control, self._serve_control),
            (self._data, self._serve_data),
        ):
            threading.Thread(
                target=self._accept, args=(listener, serve), daemon=True
            ).start()

    def break_off(self) -> None:
        """Close all connections; others may be made."""
        with self._lock:
            opened, self._open = self._open, []
        for one in opened:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Listen no more."""
        self.takes_metadata.set()
        for one in (self._control, self._data):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.break_off()

    def _accept(self, listener: socket.socket, serve: Serve) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError as error:
                if error.errno == errno.EMFILE:
                    time.sleep(0.01)
                    continue
                return
            with self._lock:
                self._open.append(connection)
            threading.Thread(
                target=self._serve, args=(connection, serve), daemon=True
            ).start()

    @staticmethod
    def _serve(connection: socket.socket, serve: Serve) -> None:
        # One that was told of another handle than it has knows no such stream.
        with connection, suppress(OSError, EOFError, KeyError):
            serve(connection)

    def _serve_data(self, connection: socket.socket) -> None:
        while True:
            while self.is_stopped:
                time.sleep(0.01)
            _, handle, number, size, padding = struct.unpack(
                ">QQQII", receive(connection, 32)
            )
            raw = receive(connection, size) + bytes(padding)
            with self._lock:
                stream = self._streams[handle]
                assert number == stream.last + 1
                stream.raw += raw
                stream.last = number

    def _serve_control(self, connection: socket.socket) -> None:
        session = KeptSession()
        while True:
            _, size, command, _ = struct.unpack(">QQII", receive(connection, 24))
            body = receive(connection, size)
            if command == METADATA:
                self.takes_metadata.wait()
            with self._lock:
                session.commands.append(command)
                answer = self._answer(session, command, body)
            for part in self.spoil(command, answer):
                if part is None:
                    return
                connection.sendall(part)

    def _answer(self, session: KeptSession, command: int, body: bytes) -> bytes:
        code = FAILED if command == self.refused else OK
        answers: dict[int, Callable[[], bytes]] = {
            VERSION: lambda: struct.pack(">II", 2, self.minor),
            CREATE_SESSION: lambda: self._create_session(session, body, code),
            CONFIGURATION: lambda: struct.pack(">IQ", code, 1),
            CHUNK_EXISTS: lambda: self._tell_chunk(body, code),
            CLOSE_CHUNK: lambda: _close_chunk(session, body, code),
            ADD_STREAM: lambda: self._add_stream(session, body, code),
            METADATA: lambda: self._add_metadata(body),
            PENDING: lambda: self._tell_pending(body),
        }
        if command in answers:
            return answers[command]()
        if command == CREATE_CHUNK:
            session.chunks.append(struct.unpack_from(">Q", body)[0])
        elif command == ROTATE:
            session.rotated.append(_rotated(body))
        elif command in {RESET, INDEX, CLOSE_STREAM}:
            self._note(command, body)
        return struct.pack(">I", code)

    def _note(self, command: int, body: bytes) -> None:
        stream = self._streams[struct.unpack_from(">Q", body)[0]]
        if command == RESET:
            stream.raw, stream.resets = b"", stream.resets + 1
        elif command == INDEX:
            stream.indexes.append(struct.unpack(">10Q", body)[1:])
        else:
            stream.is_closed = True

    def _add_metadata(self, body: bytes) -> bytes:
        self._streams[struct.unpack_from(">Q", body)[0]].raw += body[12:]
        return b""

    def _tell_pending(self, body: bytes) -> bytes:
        handle, number = struct.unpack(">QQ", body)
        is_there = self._streams[handle].last >= number and self.confirms
        return struct.pack(">I", 0 if is_there else 1)

    def _tell_chunk(self, body: bytes, code: int) -> bytes:
        self.asked_for.append(struct.unpack(">Q", body)[0])
        self.still_has -= 1
        return struct.pack(">IB", code, self.still_has >= 0)

    def _create_session(self, session: KeptSession, body: bytes, code: int) -> bytes:
        head = struct.Struct(">IIIIBB16sQQBQ")
        (
            name,
            host,
            base,
            timer,
            snapshot,
            _,
            _,
            session.number,
            created,
            is_old,
            _,
        ) = head.unpack_from(body)
        if is_old and not self.has_lost:
            code = FAILED
        rest = body[head.size :]
        session.name = rest[: name - 1].decode()
        session.host = rest[name : name + host - 1].decode()
        session.base_path = (
            rest[name + host : name + host + base].rstrip(b"\0").decode()
        )
        session.live_timer, session.is_snapshot = timer, bool(snapshot)
        session.created = created
        if code == OK and not is_old:
            self.sessions.append(session)
        path = f"{session.host}/{session.name}".encode() + b"\0"
        return struct.pack(">QII", len(self.sessions), code, len(path)) + path

    def _add_stream(self, session: KeptSession, body: bytes, code: int) -> bytes:
        head = struct.Struct(">IIQQQ")
        name, path, largest, most, chunk = head.unpack_from(body)
        rest = body[head.size :]
        stream = KeptStream(
            rest[name : name + path - 1].decode(),
            rest[: name - 1].decode(),
            chunk,
            (largest, most),
        )
        handle = next(self._handles)
        self._streams[handle] = session.streams[handle] = stream
        return struct.pack(">QI", handle, code)


def _rotated(body: bytes) -> tuple[int, dict[int, int]]:
    count, is_set, chunk = struct.unpack_from(">IB7xQ", body)
    assert (is_set, len(body)) == (1, 20 + 16 * count)
    places = (struct.unpack_from(">QQ", body, 20 + 16 * n) for n in range(count))
    return chunk, dict(places)


def _close_chunk(session: KeptSession, body: bytes, code: int) -> bytes:
    number, _, _, what = struct.unpack(">QQBI", body)
    session.closed.append((number, what))
    path = f"{session.host}/{session.name}/{number}".encode() + b"\0"
    return struct.pack(">II", code, len(path)) + path


@contextmanager
def relay_receiver(
    minor: int = 13, refused: int = 0, *, confirms: bool = True
) -> Iterator[RelayReceiver]:
    """Have such a relay daemon."""
    made = RelayReceiver(minor, refused, confirms=confirms)
    try:
        yield made
    finally:
        made.close()
