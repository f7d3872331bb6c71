"""Both connections to a relay daemon: commands with their answers, and packets."""

from __future__ import annotations

import fcntl
import os
import select
import socket
import sys
import termios
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from ..._typing import NamedTuple
from . import messages
from .messages import RelayStream, SessionFacts

__all__ = ["RelayAddress", "RelayConnection", "RelayRefusedError", "has_session"]

CONNECT_SECONDS = 5.0
"""How long a relay daemon may take to be there."""
SILENT_SECONDS = 30.0
"""How long it may take nothing, or answer nothing, before it counts as gone."""
IDLE_MILLISECONDS = 20
MOST_OPEN = 512
"""Commands whose answers are awaited at the same time."""
FIRST_WITH_CONFIGURATION = 12
"""Of the minor versions."""
LONGEST_PATH = 1 << 16
PIECE = 1 << 20
"""Bytes that are sent at once."""
ZEROS = bytes(4096)
NOTHING = 8
"""Bytes of a packet with nothing in it."""


class RelayAddress(NamedTuple):
    """Where a relay daemon is."""

    host: str
    control_port: int
    data_port: int
    family: int = socket.AF_INET


class RelayRefusedError(Exception):
    """A relay daemon does not do what it was asked for."""


Answer = Callable[[bytes], None]


class RelayConnection:
    """A session on a relay daemon.

    Args:
        address: Where it is.
        session: What it is told.
        idle: Called now and then while it takes nothing.
        chunk: A chunk that another connection has begun.

    Raises:
        OSError: It is not there, or goes away.
        RelayRefusedError: It refuses the session, or has not that chunk.
    """

    def __init__(
        self,
        address: RelayAddress,
        session: SessionFacts,
        idle: Callable[[], None] | None = None,
        chunk: int | None = None,
    ) -> None:
        self._idle = idle
        self._awaited: deque[tuple[int, Answer]] = deque()
        self._left = b""
        """What came of the next answer."""
        self.minor = 0
        self.may_clear = False
        """Whether chunks may be removed."""
        self.path = ""
        """Where the session is, below the output of the relay daemon."""
        self._control = _connected(address, address.control_port)
        try:
            self._data = _connected(address, address.data_port)
        except BaseException:
            self._control.close()
            raise
        try:
            self._begin(session, chunk)
        except BaseException:
            self.close()
            raise

    def _begin(self, session: SessionFacts, chunk: int | None) -> None:
        major, minor = messages.VERSION_REPLY.unpack(
            self._ask(messages.version(), messages.VERSION_REPLY.size)
        )
        if major != messages.MAJOR or minor < messages.OLDEST_MINOR:
            raise RelayRefusedError(
                f"the relay daemon speaks version {major}.{minor}: expected "
                f"{messages.MAJOR}.{messages.OLDEST_MINOR} or newer"
            )
        self.minor = min(minor, messages.MINOR)
        raw = self._ask(messages.create_session(session, chunk), messages.CREATED.size)
        _, code, size = messages.CREATED.unpack(raw)
        path = self._read(_limited(size))
        self._check(code, "create a session")
        self.path = _path(path)
        if self.minor >= FIRST_WITH_CONFIGURATION:
            raw = self._ask(messages.configuration(), messages.CONFIGURATION.size)
            code, flags = messages.CONFIGURATION.unpack(raw)
            self._check(code, "tell its configuration")
            self.may_clear = bool(flags & messages.CLEAR_ALLOWED)

    def fileno(self) -> int:
        """Return the descriptor of the control connection."""
        return self._control.fileno()

    # Commands.

    def create_chunk(self, number: int, begin: int, name: str | None = None) -> None:
        """Begin a chunk; see :func:`.messages.create_chunk`."""
        raw = messages.create_chunk(number, begin, name)
        self._check(self._code(raw), "begin a chunk")

    def close_chunk(self, number: int, end: int, what: int) -> str:
        """End a chunk, and return where it will be.

        See :func:`.messages.close_chunk`.
        """
        raw = self._ask(messages.close_chunk(number, end, what), messages.PATH.size)
        code, size = messages.PATH.unpack(raw)
        path = self._read(_limited(size))
        self._check(code, "end a chunk")
        return _path(path)

    def has_chunk(self, number: int) -> bool:
        """Tell whether a chunk is still written to.

        Args:
            number: Its number.
        """
        raw = self._ask(messages.chunk_exists(number), messages.EXISTS.size)
        code, exists = messages.EXISTS.unpack(raw)
        self._check(code, "tell of a chunk")
        return bool(exists)

    def add_stream(self, stream: RelayStream) -> int:
        """Add a data stream, and return its handle.

        Args:
            stream: The stream.
        """
        raw = self._ask(messages.add_stream(stream), messages.HANDLE.size)
        handle, code = messages.HANDLE.unpack(raw)
        self._check(code, f"add the stream '{stream.path}/{stream.channel}'")
        return int(handle)

    def streams_sent(self) -> None:
        """Let viewers see the streams that were added."""
        self._check(self._code(messages.streams_sent()), "publish streams")

    def rotate_streams(self, chunk: int, places: Sequence[tuple[int, int]]) -> None:
        """Go on with streams in another chunk; see :func:`.messages.rotate_streams`."""
        if places:
            raw = messages.rotate_streams(chunk, places)
            self._check(self._code(raw), "go on with streams in another chunk")

    def close_stream(self, handle: int, last: int) -> None:
        """End a stream; see :func:`.messages.close_stream`."""
        self._later(messages.close_stream(handle, last), "end a stream")

    def send_metadata(self, handle: int, raw: bytes) -> None:
        """Send more metadata; see :func:`.messages.metadata`.

        They have no answer of their own: one is asked for that comes when they are
        written.
        """
        for at in range(0, len(raw), PIECE):
            self._put(messages.metadata(handle, raw[at : at + PIECE]))
        self._later(messages.quiescent(handle), "write metadata")

    def reset_metadata(self, handle: int, number: int) -> None:
        """Begin metadata anew; see :func:`.messages.reset_metadata`.

        What follows is sent without waiting: a relay daemon that is killed before that
        has none for packets that it has confirmed.
        """
        self._later(messages.reset_metadata(handle, number), "begin the metadata anew")

    def send_index(self, handle: int, number: int, facts: messages.PacketFacts) -> None:
        """Tell of a packet; see :func:`.messages.index`."""
        self._later(messages.index(handle, number, facts), "take an index")

    def send_beacon(self, handle: int, stream_class: int, time: int) -> None:
        """Tell that a data stream has no packet up to a time.

        Args:
            handle: The stream.
            stream_class: Its class, as packets have it.
            time: By the clock of the trace.
        """
        facts = messages.PacketFacts(0, 0, 0, time, 0, stream_class, 0, 0)
        self._later(messages.index(handle, 0, facts), "take a beacon")

    def ask_pending(
        self, handle: int, number: int, then: Callable[[bool], None]
    ) -> None:
        """Ask whether a packet has not been written yet.

        Args:
            handle: Its stream.
            number: Its number.
            then: Called with the answer, by :meth:`take_answers`.
        """

        def answered(raw: bytes) -> None:
            then(messages.CODE.unpack(raw)[0] != 0)

        self._send(messages.data_pending(handle, number), messages.CODE.size, answered)

    # Packets.

    def send_packet(self, file: int, at: int, size: int, header: bytes) -> int:
        """Send a packet.

        Args:
            file: Where it is.
            at: From which byte on.
            size: Its bytes.
            header: What comes before it.

        Returns:
            Bytes that were not there, and are zeros.
        """
        self._put(header, self._data, socket.MSG_MORE if size else 0)
        to, left = self._data.fileno(), size
        while left:
            try:
                done = os.sendfile(to, file, at, left)
            except BlockingIOError:
                self._wait(self._data)
                continue
            if not done:
                break
            at += done
            left -= done
        missing = left
        while left:
            self._put(ZEROS[:left], self._data)
            left -= min(left, len(ZEROS))
        return missing

    @property
    def queued(self) -> int:
        """Bytes that wait to be sent, or to be taken by the other machine."""
        found = 0
        for one in (self._control, self._data):
            # It may be closed at any time.
            with suppress(OSError, ValueError):
                raw = fcntl.ioctl(one.fileno(), termios.TIOCOUTQ, bytes(4))
                found += int.from_bytes(raw, sys.byteorder)
        return found

    def send_nothing(self, handle: int) -> None:
        """Send a packet of some zeros, so that a stream has its files.

        Args:
            handle: The stream.
        """
        self._put(messages.data_header(handle, 0, NOTHING, 0), self._data)
        self._put(ZEROS[:NOTHING], self._data)
        facts = messages.PacketFacts(8 * NOTHING, 8 * NOTHING, 0, 0, 0, 0, 0, 0)
        self.send_index(handle, 0, facts)

    def take_answers(self, *, waits: bool = False) -> None:
        """Take the answers that have come.

        Args:
            waits: Whether all that are awaited are waited for.
        """
        while self._awaited:
            if not waits and len(self._awaited) < MOST_OPEN and not self._is_readable():
                return
            self._take_one()

    def _is_readable(self) -> bool:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        return bool(self._left) or bool(poll.poll(0))

    def _take_one(self) -> None:
        size, then = self._awaited.popleft()
        then(self._read(size))

    def _later(self, raw: bytes, what: str) -> None:
        def answered(answer: bytes) -> None:
            self._check(messages.CODE.unpack(answer)[0], what)

        self._send(raw, messages.CODE.size, answered)

    def _send(self, raw: bytes, size: int, then: Answer) -> None:
        self._put(raw)
        self._awaited.append((size, then))
        if len(self._awaited) >= MOST_OPEN:
            self._take_one()

    def _code(self, raw: bytes) -> int:
        return int(messages.CODE.unpack(self._ask(raw, messages.CODE.size))[0])

    def _ask(self, raw: bytes, size: int) -> bytes:
        self._put(raw)
        self.take_answers(waits=True)
        return self._read(size)

    def _put(self, raw: bytes, to: socket.socket | None = None, flags: int = 0) -> None:
        to = self._control if to is None else to
        view = memoryview(raw)
        while view:
            try:
                view = view[to.send(view, flags | socket.MSG_NOSIGNAL) :]
            except BlockingIOError:
                self._wait(to)

    def _wait(
        self,
        to: socket.socket,
        event: int = select.POLLOUT,
        until: float | None = None,
    ) -> None:
        """Wait until a connection takes more, or has something to read.

        Where the network is slow, what the kernel has takes minutes to be sent.
        """
        poll = select.poll()
        poll.register(to, event)
        until = time.monotonic() + SILENT_SECONDS if until is None else until
        queued = self.queued
        while not poll.poll(IDLE_MILLISECONDS):
            if self._idle is not None:
                self._idle()
            if (now := self.queued) < queued:
                queued, until = now, time.monotonic() + SILENT_SECONDS
            elif time.monotonic() > until:
                what = "takes nothing" if event == select.POLLOUT else "does not answer"
                raise TimeoutError(f"the relay daemon {what}")

    def _read(self, size: int) -> bytes:
        """Read bytes of answers."""
        raw = self._left
        # For the whole: one that comes byte by byte never ends.
        until = time.monotonic() + SILENT_SECONDS
        while len(raw) < size:
            try:
                part = self._control.recv(1 << 16)
            except BlockingIOError:
                self._wait(self._control, select.POLLIN, until)
                continue
            if not part:
                raise ConnectionResetError("the relay daemon has closed the connection")
            raw += part
        self._left = raw[size:]
        return raw[:size]

    @staticmethod
    def _check(code: int, what: str) -> None:
        if code != messages.OK:
            raise RelayRefusedError(f"the relay daemon does not {what}: code {code}")

    def close(self) -> None:
        """Close both connections; what waits for them ends."""
        for one in (self._control, self._data):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


def has_session(address: RelayAddress, session: SessionFacts, chunk: int) -> bool:
    """Tell whether a relay daemon still has what an earlier connection has begun.

    Args:
        address: Where it is.
        session: The session.
        chunk: A chunk of it.

    Raises:
        OSError: It is not there, or goes away.
    """
    try:
        RelayConnection(address, session, chunk=chunk).close()
    except RelayRefusedError:
        return False
    return True


def _connected(address: RelayAddress, port: int) -> socket.socket:
    found = socket.getaddrinfo(address.host, port, address.family, socket.SOCK_STREAM)
    error: OSError = ConnectionRefusedError(address.host)
    for family, kind, protocol, _, place in found:
        made = socket.socket(family, kind, protocol)
        try:
            made.settimeout(CONNECT_SECONDS)
            made.connect(place)
            made.setblocking(False)  # noqa: FBT003 - the name of the method says it
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as failure:
            made.close()
            error = failure
        else:
            return made
    raise error


def _limited(size: int) -> int:
    if size > LONGEST_PATH:
        raise RelayRefusedError(f"the relay daemon tells a path of {size} bytes")
    return size


def _path(raw: bytes) -> str:
    return raw.rstrip(b"\0").decode("utf-8", "surrogateescape")
