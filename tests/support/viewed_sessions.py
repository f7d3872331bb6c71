"""Sessions for viewers of a relay, whose packets tests put there."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from vestige.live.answers import PacketFacts
from vestige.relay.viewer_server import ViewerServer


class Follower:
    """Reads the packets of a data stream.

    Args:
        stream: The stream.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._next = 0
        self._data = b""

    def take(self) -> PacketFacts | None:
        """The next packet that is there."""
        self._next = max(self._next, self._stream.first)
        if self._next == len(self._stream.facts):
            return None
        self._next += 1
        self._data = self._stream.file.read_bytes()
        return self._stream.facts[self._next - 1]

    def pass_all(self) -> None:
        """Pass over those that are there."""
        self._next = len(self._stream.facts)

    def read(self, at: int, size: int) -> bytes:
        """A part of the file as it was then."""
        if at + size > len(self._data):
            raise OSError
        return self._data[at : at + size]


@dataclass
class Stream:
    """A data stream in a file, or metadata."""

    id: int
    file: Path
    trace_id: int = 1
    is_metadata: bool = False
    is_closed: bool = False
    beacon: tuple[int, int] | None = None
    facts: list[PacketFacts] = field(default_factory=list)
    first: int = 0
    path: str = "ust"
    metadata_size: int = 0

    @property
    def channel(self) -> str:
        """How its files are called."""
        return "metadata" if self.is_metadata else f"channel0_{self.id}"

    def follow(self) -> Follower:
        """Return what reads the packets that are there."""
        return Follower(self)

    def read_metadata(self, at: int, size: int) -> bytes:
        """Return a part of the file."""
        return self.file.read_bytes()[at : at + size]

    def add(self, data: bytes, end: int, class_id: int = 0) -> None:
        """Let a packet arrive."""
        offset = self.file.stat().st_size if self.file.exists() else 0
        with self.file.open("ab") as file:
            file.write(data)
        bits = len(data) * 8
        self.beacon = None
        self.facts.append(PacketFacts(offset, bits, bits, 0, end, 0, class_id))

    def describe(self, data: bytes) -> None:
        """Let metadata arrive."""
        with self.file.open("ab") as file:
            file.write(data)
        self.metadata_size += len(data)

    def begin_anew(self) -> None:
        """Forget the metadata: it is to come once more."""
        self.file.write_bytes(b"")
        self.metadata_size = 0


@dataclass
class Session:
    """A session."""

    directory: Path
    id: int = 7
    hostname: str = "machine"
    name: str = "session"
    live_timer: int = 1000
    has_ended: bool = False
    streams: list[Stream] = field(default_factory=list)

    def add(self, *, is_metadata: bool = False, trace: int = 1) -> Stream:
        """Give it another data stream."""
        number = self.id * 100 + len(self.streams)
        file = self.directory / f"{number}"
        made = Stream(number, file, trace, is_metadata=is_metadata)
        self.streams.append(made)
        return made

    @property
    def showings(self) -> int:
        """Another number for other data streams."""
        return len(self.streams)

    def end(self) -> None:
        """Let it end."""
        self.has_ended = True
        for one in self.streams:
            one.is_closed = True


class Served:
    """A server of viewers that runs in a thread.

    Args:
        sessions: What it serves.
        options: Of the server.
    """

    def __init__(self, *sessions: Session, **options: Any) -> None:
        self.sessions = sessions
        self.server = ViewerServer(lambda: self.sessions, **options)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run)

    @property
    def url(self) -> str:
        """The URL of the first session."""
        first = self.sessions[0]
        return f"net://127.0.0.1:{self.port}/host/{first.hostname}/{first.name}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        assert not self._thread.is_alive()

    def do(self, work: Callable[[], object]) -> None:
        """Do something where the server runs, so that it sees all of it."""

        async def done() -> None:
            work()

        asyncio.run_coroutine_threadsafe(done(), self._loop).result(10)

    def _run(self) -> None:
        listening = self._loop.run_until_complete(self.server.listen(self._socket))
        self._loop.run_forever()
        listening.close()
        self._loop.run_until_complete(self.server.close())
        self._loop.close()
