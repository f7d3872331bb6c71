"""What is asked of a relay daemon, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from struct import Struct

from .._suppress import suppress
from ..errors import TraceFormatError
from . import messages
from .connection import Connection, request
from .fetch import Fetch
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

__all__ = ["Viewer"]

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
        self._link = Connection(url)
        try:
            self._shake_hands()
        except TraceFormatError:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

    def sessions(self) -> Iterator[RemoteSession]:
        """Ask for the sessions that there are.

        Yields:
            The sessions.

        Raises:
            TraceFormatError: The answer makes no sense, or there is none.
        """
        self._link.ask(Command.LIST_SESSIONS)
        [count] = self._link.numbers(_NUMBER)
        self._link.read(checked, count, messages.MOST_STREAMS, "sessions")
        yield from [
            RemoteSession.parse(self._link.receive(messages.SESSION_BYTES))
            for _ in range(count)
        ]

    def begin(self) -> None:
        """Say that sessions will be read.

        Raises:
            TraceFormatError: They cannot be.
        """
        self._link.ask(Command.CREATE_SESSION)
        [status] = self._link.numbers(_NUMBER)
        if status != 1:
            raise self._link.error("the relay daemon lets nobody read")

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
        self._link.ask(Command.ATTACH_SESSION, body)
        number, count = self._link.numbers(_PAIR)
        status = self._link.read(status_of, AttachStatus, number)
        if status is AttachStatus.UNKNOWN_SESSION:
            return None
        if status is not AttachStatus.OK:
            reasons = {
                AttachStatus.ALREADY_ATTACHED: "somebody else reads the session",
                AttachStatus.NOT_LIVE: "the session is not live",
            }
            raise self._link.error(reasons.get(status, "the session cannot be read"))
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
        self._link.ask(Command.GET_NEW_STREAMS, _LONG.pack(session))
        number, count = self._link.numbers(_PAIR)
        status = self._link.read(status_of, StreamsStatus, number)
        if status is StreamsStatus.ERROR:
            raise self._link.error("the relay daemon cannot tell which streams are new")
        if status is StreamsStatus.HUNG_UP:
            return None
        return self._streams(count) if status is StreamsStatus.OK else []

    def next_indexes(self, streams: Sequence[int]) -> list[Index]:
        """Ask for the next packets of data streams, all at once.

        Args:
            streams: The numbers of the data streams.

        Returns:
            What is known of the next packet of each.

        Raises:
            TraceFormatError: An answer makes no sense, or there is none.
        """
        found: list[Index] = []
        for stream in streams:
            self._ask_index(stream, found.append)
        self._link.take_all()
        return found

    def ask_packet(self, stream: int, index: Index) -> Fetch:
        """Ask for a packet and for the next one, without waiting for an answer.

        Args:
            stream: The number of the data stream.
            index: What is known of the packet.

        Returns:
            What :meth:`packet` takes.

        Raises:
            TraceFormatError: There is no connection any more.
        """
        fetch = Fetch(stream, index.offset, index.size)
        self._ask_pieces(fetch)
        if fetch.size <= fetch.asked:
            self._ask_following(fetch)
        return fetch

    def ask_again(self, fetch: Fetch) -> None:
        """Ask for a packet that was not given.

        Args:
            fetch: The packet.

        Raises:
            TraceFormatError: There is no connection any more.
        """
        fetch.refusal = None
        self._ask_pieces(fetch)

    def packet(self, fetch: Fetch) -> bytearray | Flag | None:
        """Wait for a packet.

        Args:
            fetch: What :meth:`ask_packet` has returned.

        Returns:
            Its bytes; what is to be asked for before it; ``None`` when it is not there.

        Raises:
            TraceFormatError: The answer makes no sense, or there is none.
        """
        while not fetch.is_done:
            if not self._link.is_owed:
                self._ask_pieces(fetch)
            self._link.take_next()
        return fetch.result

    def following(self, fetch: Fetch) -> Index:
        """Wait for what is known of the packet behind one that has come.

        Args:
            fetch: What :meth:`ask_packet` has returned.

        Raises:
            TraceFormatError: The answer makes no sense, or there is none.
        """
        while fetch.following is None:
            if not self._link.is_owed:
                self._ask_following(fetch)
            self._link.take_next()
        return fetch.following

    def metadata(self, stream: int) -> bytes | bytearray | None:
        """Ask for metadata that were not there before.

        Args:
            stream: The number of the stream of metadata.

        Returns:
            The next part of them, empty for nothing new; ``None`` when there will be
            no more.

        Raises:
            TraceFormatError: The answer makes no sense, or there is none.
        """
        self._link.ask(Command.GET_METADATA, _LONG.pack(stream))
        length, number = self._link.numbers(_METADATA)
        status = self._link.read(status_of, MetadataStatus, number)
        if status is MetadataStatus.ERROR:
            return None
        if status is MetadataStatus.NOTHING_NEW:
            return b""
        return self._link.receive(
            self._link.read(checked, length, LARGEST_METADATA, "bytes of metadata")
        )

    def detach(self, session: int) -> None:
        """Say that a session is not read any more, if anybody listens.

        Args:
            session: Its number.
        """
        with suppress(TraceFormatError):
            self._link.ask(Command.DETACH_SESSION, _LONG.pack(session))
            self._link.numbers(_NUMBER)

    def _shake_hands(self) -> None:
        body = messages.CONNECT.pack(
            0, messages.MAJOR, messages.MINOR, COMMANDS_CONNECTION
        )
        self._link.ask(Command.CONNECT, body)
        _, major, minor, _ = self._link.numbers(messages.CONNECT)
        if major != messages.MAJOR:
            raise self._link.error(f"it speaks version {major}.{minor} of the protocol")

    def _streams(self, count: int) -> list[RemoteStream]:
        self._link.read(checked, count, messages.MOST_STREAMS, "data streams")
        return [
            RemoteStream.parse(self._link.receive(messages.STREAM_BYTES))
            for _ in range(count)
        ]

    def _ask_index(self, stream: int, take: Callable[[Index], object]) -> None:
        def read() -> None:
            take(self._link.read(Index.parse, self._link.receive(messages.INDEX_BYTES)))

        self._link.ask_ahead(
            [(request(Command.GET_NEXT_INDEX, _LONG.pack(stream)), read)]
        )

    def _ask_following(self, fetch: Fetch) -> None:
        self._ask_index(fetch.stream, partial(setattr, fetch, "following"))

    def _ask_pieces(self, fetch: Fetch) -> None:
        self._link.ask_ahead(
            (fetch.request(at, size), partial(self._take_piece, fetch, at, size))
            for at, size in fetch.pieces()
        )

    def _take_piece(self, fetch: Fetch, at: int, wanted: int) -> None:
        number, length, flags = self._link.numbers(_TRIPLE)
        status = self._link.read(status_of, PacketStatus, number)
        if status is PacketStatus.OK:
            if not 0 < length <= wanted:
                raise self._link.error(
                    f"{length} bytes of a packet, where {wanted} were asked for"
                )
            self._link.receive(length, fetch.place(at))
        elif not fetch.refuse(status, flags):
            raise self._link.error("the relay daemon cannot read a packet")
