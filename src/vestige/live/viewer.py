"""A connection to a relay daemon: one question, one answer."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from struct import Struct

from .._suppress import suppress
from .._typing import TYPE_CHECKING
from ..errors import TraceFormatError
from . import messages
from .messages import (
    AttachStatus,
    Command,
    Flag,
    Index,
    MetadataStatus,
    PacketStatus,
    RemoteSession,
    RemoteStream,
    StreamsStatus,
    checked,
    status_of,
)
from .url import LiveUrl

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    _T = TypeVar("_T")

__all__ = ["Viewer"]

LONGEST_SILENCE = 30.0
"""How long an answer may take, seconds: the relay daemon never waits for anything."""
PIECE_BYTES = 256 * 1024
"""How much of a packet is asked for at once."""
LARGEST_METADATA = 256 * 1024 * 1024
"""Most bytes of metadata in one answer."""

COMMANDS_CONNECTION = 1
SEEK_LAST = 2

_NUMBER = Struct(">I")
_LONG = Struct(">Q")
_PAIR = Struct(">II")
_TRIPLE = Struct(">III")
_METADATA = Struct(">QI")


class Viewer:
    """Reads sessions of a relay daemon.

    Args:
        url: Where it is.

    Raises:
        TraceFormatError: Nobody answers there, or not in this protocol.
    """

    def __init__(self, url: LiveUrl) -> None:
        self.url = url
        self._socket = socket.socket(url.family, socket.SOCK_STREAM)
        try:
            self._connect()
            self._shake_hands()
        except TraceFormatError:
            self._socket.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def sessions(self) -> Iterator[RemoteSession]:
        """Ask for the sessions that there are.

        Yields:
            The sessions.

        Raises:
            TraceFormatError: The answer makes no sense, or there is none.
        """
        self._ask(Command.LIST_SESSIONS)
        [count] = self._numbers(_NUMBER)
        self._read(checked, count, messages.MOST_STREAMS, "sessions")
        yield from [
            RemoteSession.parse(self._receive(messages.SESSION_BYTES))
            for _ in range(count)
        ]

    def begin(self) -> None:
        """Say that sessions will be read.

        Raises:
            TraceFormatError: They cannot be.
        """
        self._ask(Command.CREATE_SESSION)
        [status] = self._numbers(_NUMBER)
        if status != 1:
            raise self._error("the relay daemon lets nobody read")

    def attach(self, session: int) -> list[RemoteStream] | None:
        """Begin to read a session, from now on.

        Args:
            session: Its number.

        Returns:
            Its data streams; ``None`` when it is gone.

        Raises:
            TraceFormatError: It cannot be read.
        """
        body = messages.ATTACH.pack(session, 0, SEEK_LAST)
        self._ask(Command.ATTACH_SESSION, body)
        number, count = self._numbers(_PAIR)
        status = self._read(status_of, AttachStatus, number)
        if status is AttachStatus.UNKNOWN_SESSION:
            return None
        if status is not AttachStatus.OK:
            reasons = {
                AttachStatus.ALREADY_ATTACHED: "somebody else reads the session",
                AttachStatus.NOT_LIVE: "the session is not live",
            }
            raise self._error(reasons.get(status, "the session cannot be read"))
        return self._streams(count)

    def new_streams(self, session: int) -> list[RemoteStream] | None:
        """Ask for data streams that were not there before.

        Args:
            session: The number of the session.

        Returns:
            The data streams; ``None`` when the session has ended.

        Raises:
            TraceFormatError: The answer makes no sense, or there is none.
        """
        self._ask(Command.GET_NEW_STREAMS, _LONG.pack(session))
        number, count = self._numbers(_PAIR)
        status = self._read(status_of, StreamsStatus, number)
        if status is StreamsStatus.ERROR:
            raise self._error("the relay daemon cannot tell which streams are new")
        if status is StreamsStatus.HUNG_UP:
            return None
        return self._streams(count) if status is StreamsStatus.OK else []

    def next_index(self, stream: int) -> Index:
        """Ask for the next packet of a data stream.

        Args:
            stream: The number of the data stream.

        Raises:
            TraceFormatError: The answer makes no sense, or there is none.
        """
        self._ask(Command.GET_NEXT_INDEX, _LONG.pack(stream))
        return self._read(Index.parse, self._receive(messages.INDEX_BYTES))

    def packet(self, stream: int, offset: int, size: int) -> bytes | Flag | None:
        """Ask for a packet.

        Args:
            stream: The number of the data stream.
            offset: Where it begins.
            size: Its size, bytes.

        Returns:
            Its bytes; what is to be asked for before it; ``None`` when it is not there.

        Raises:
            TraceFormatError: The answer makes no sense, or there is none.
        """
        data = bytearray()
        while len(data) < size:
            wanted = min(PIECE_BYTES, size - len(data))
            body = messages.PACKET.pack(stream, offset + len(data), wanted)
            self._ask(Command.GET_PACKET, body)
            number, length, flags = self._numbers(_TRIPLE)
            status = self._read(status_of, PacketStatus, number)
            if status is PacketStatus.OK:
                if not 0 < length <= wanted:
                    raise self._error(
                        f"{length} bytes of a packet, where {wanted} were asked for"
                    )
                data += self._receive(length)
                continue
            first = Flag(flags & 3)
            if status is PacketStatus.ERROR and not first:
                raise self._error("the relay daemon cannot read a packet")
            return first if status is PacketStatus.ERROR else None
        return bytes(data)

    def metadata(self, stream: int) -> bytes | None:
        """Ask for metadata that were not there before.

        Args:
            stream: The number of the stream of metadata.

        Returns:
            The next part of them, empty for nothing new; ``None`` when there will be
            no more.

        Raises:
            TraceFormatError: The answer makes no sense, or there is none.
        """
        self._ask(Command.GET_METADATA, _LONG.pack(stream))
        length, number = self._numbers(_METADATA)
        status = self._read(status_of, MetadataStatus, number)
        if status is MetadataStatus.ERROR:
            return None
        if status is MetadataStatus.NOTHING_NEW:
            return b""
        return self._receive(
            self._read(checked, length, LARGEST_METADATA, "bytes of metadata")
        )

    def detach(self, session: int) -> None:
        """Say that a session is not read any more, if anybody listens.

        Args:
            session: Its number.
        """
        with suppress(TraceFormatError):
            self._ask(Command.DETACH_SESSION, _LONG.pack(session))
            self._numbers(_NUMBER)

    def _connect(self) -> None:
        kind = socket.SOCK_STREAM
        try:
            found = socket.getaddrinfo(
                self.url.host, self.url.port, self.url.family, kind
            )
            self._socket.settimeout(LONGEST_SILENCE)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.connect(found[0][4])
        except OSError as error:
            raise self._error(f"cannot connect: {_reason(error)}") from None

    def _shake_hands(self) -> None:
        body = messages.CONNECT.pack(
            0, messages.MAJOR, messages.MINOR, COMMANDS_CONNECTION
        )
        self._ask(Command.CONNECT, body)
        _, major, minor, _ = self._numbers(messages.CONNECT)
        if major != messages.MAJOR:
            raise self._error(f"it speaks version {major}.{minor} of the protocol")

    def _streams(self, count: int) -> list[RemoteStream]:
        self._read(checked, count, messages.MOST_STREAMS, "data streams")
        return [
            RemoteStream.parse(self._receive(messages.STREAM_BYTES))
            for _ in range(count)
        ]

    def _ask(self, command: Command, body: bytes = b"") -> None:
        try:
            self._socket.sendall(messages.REQUEST.pack(len(body), command, 0) + body)
        except OSError as error:
            raise self._error(f"the connection is lost: {_reason(error)}") from None

    def _numbers(self, form: Struct) -> tuple[int, ...]:
        return form.unpack(self._receive(form.size))

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            try:
                # What comes counts, not what was promised.
                piece = self._socket.recv(min(size - len(data), PIECE_BYTES))
            except OSError as error:
                raise self._error(f"the connection is lost: {_reason(error)}") from None
            if not piece:
                raise self._error("the relay daemon has closed the connection")
            data += piece
        return bytes(data)

    def _read(self, read: Callable[..., _T], *arguments: object) -> _T:
        """Read a part of an answer; whose it is is told if it makes no sense."""
        try:
            return read(*arguments)
        except TraceFormatError as error:
            raise self._error(str(error)) from None

    def _error(self, message: str) -> TraceFormatError:
        return TraceFormatError(f"{self.url.text}: {message}")


def _reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer for {LONGEST_SILENCE:.0f} s"
    return error.strerror or str(error)
