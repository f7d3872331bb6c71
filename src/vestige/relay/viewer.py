"""One viewer of a relay: what it reads, how far it is, and what it is answered.

There is no socket here: a request goes in, and an answer comes out, at once, whatever
the request says. What is asked for and is not there is answered so, as LTTng 2.13 does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from struct import Struct
from typing import NamedTuple

from ..live import answers
from ..live.answers import PacketFacts
from ..live.messages import (
    ATTACH,
    CONNECT,
    MAJOR,
    PACKET,
    AttachStatus,
    Command,
    Flag,
    IndexStatus,
    MetadataStatus,
    PacketStatus,
    StreamsStatus,
)
from .viewed import PacketReader, ViewedSession, ViewedStream

__all__ = ["PIECE_BYTES", "Answer", "RelayViewer"]

OK, NOT_KNOWN, REFUSED = 1, 2, 3
"""Answers to: let me go."""
SEEK_BEGINNING, SEEK_LAST = 1, 2
COMMANDS, NOTIFICATIONS = 1, 2
"""Kinds of connections."""
NO_FLAGS = Flag(0)
PIECE_BYTES = 1 << 18
"""How much is read at once."""
MOST_ATTACHED = 1024
"""Sessions that a viewer reads at a time."""

_LONG = Struct(">Q")


class Answer(NamedTuple):
    """What is sent to a viewer: what it begins with, and what is read for it then."""

    head: bytes
    read: Callable[[int, int], bytes] = lambda _at, _size: b""
    """Reads bytes from an offset on."""
    offset: int = 0
    """Where the rest begins."""
    size: int = 0
    """Bytes of it."""
    is_last: bool = False
    """Whether the connection is closed then."""


class _Position:
    """How far a viewer is in a data stream."""

    def __init__(self, session: ViewedSession, stream: ViewedStream) -> None:
        self.session = session
        self.stream = stream
        self.sent = 0
        """Bytes of metadata that were sent."""
        self.packet: PacketFacts | None = None
        """The one that was told of last."""
        self.has_ended = False
        """Whether the viewer was told so."""
        self._reader: PacketReader | None = None

    @property
    def reader(self) -> PacketReader:
        """What reads its packets."""
        if self._reader is None:
            self._reader = self.stream.follow()
        return self._reader

    def pass_all(self) -> None:
        """Leave out all packets that are there."""
        while self.reader.take() is not None:
            pass


class RelayViewer:
    """A viewer.

    Args:
        number: Its number among all.
        sessions: Returns the sessions that there are.
        clients: Returns how many viewers read a session.
    """

    def __init__(
        self,
        number: int,
        sessions: Callable[[], Iterable[ViewedSession]],
        clients: Callable[[int], int] = lambda _: 0,
    ) -> None:
        self._number = number
        self._sessions = sessions
        self._clients = clients
        self._is_connected = False
        self._may_read = False
        self._attached: dict[int, ViewedSession] = {}
        self._positions: dict[int, _Position] = {}

    @property
    def attached(self) -> Iterable[int]:
        """The numbers of the sessions that it reads."""
        return self._attached.keys()

    def answer(self, command: int, body: bytes) -> Answer:
        """Answer a request.

        Args:
            command: What is asked.
            body: What follows the head of it, as long as :data:`answers.BODY_BYTES`.
        """
        is_known = command in answers.BODY_BYTES
        if is_known and not self._is_connected and command != Command.CONNECT:
            return Answer(b"", is_last=True)
        if not is_known:
            return Answer(answers.UNKNOWN_COMMAND, is_last=True)
        asked: dict[int, Callable[[bytes], Answer]] = {
            Command.CONNECT: self._connect,
            Command.LIST_SESSIONS: self._list,
            Command.ATTACH_SESSION: self._attach,
            Command.GET_NEXT_INDEX: self._next_index,
            Command.GET_PACKET: self._packet,
            Command.GET_METADATA: self._metadata,
            Command.GET_NEW_STREAMS: self._new_streams,
            Command.CREATE_SESSION: self._begin,
            Command.DETACH_SESSION: self._detach,
        }
        return asked[command](body)

    def _connect(self, body: bytes) -> Answer:
        _, major, _, kind = CONNECT.unpack(body)
        if major != MAJOR or kind not in {COMMANDS, NOTIFICATIONS}:
            return Answer(b"", is_last=True)
        self._is_connected = True
        return Answer(answers.connected(self._number))

    def _begin(self, _body: bytes) -> Answer:
        self._may_read = True
        return Answer(answers.status(OK))

    def _list(self, _body: bytes) -> Answer:
        found = [
            (
                one.id,
                one.live_timer,
                self._clients(one.id),
                len([*_shown(one)]),
                one.hostname,
                one.name,
            )
            for one in self._sessions()
            if not one.has_ended
        ]
        return Answer(answers.sessions(found))

    def _attach(self, body: bytes) -> Answer:
        number, _, seek = ATTACH.unpack(body)
        session = next((one for one in self._sessions() if one.id == number), None)
        refusal = self._why_not(session, seek)
        if session is None or refusal is not None:
            refused = refusal or AttachStatus.UNKNOWN_SESSION
            return Answer(answers.attached(refused, []))
        self._attached[number] = session
        streams = self._show(session, is_last=seek == SEEK_LAST)
        return Answer(answers.attached(AttachStatus.OK, streams))

    def _why_not(self, session: ViewedSession | None, seek: int) -> AttachStatus | None:
        if not self._may_read:
            return AttachStatus.NO_VIEWER_SESSION
        if session is None or session.has_ended:
            return AttachStatus.UNKNOWN_SESSION
        if session.live_timer == 0:
            return AttachStatus.NOT_LIVE
        if session.id in self._attached or len(self._attached) >= MOST_ATTACHED:
            return AttachStatus.ALREADY_ATTACHED
        if seek not in {SEEK_BEGINNING, SEEK_LAST}:
            return AttachStatus.CANNOT_SEEK
        return None

    def _show(self, session: ViewedSession, *, is_last: bool = False) -> list[bytes]:
        """Return what stands for the data streams that the viewer does not know yet."""
        shown = []
        for one in _shown(session):
            if one.id in self._positions:
                continue
            if is_last and one.is_closed:
                # There is nothing to come.
                continue
            position = self._positions[one.id] = _Position(session, one)
            if is_last and not one.is_metadata:
                position.pass_all()
            shown.append(
                answers.stream(
                    one.id,
                    one.trace_id,
                    one.path,
                    one.channel,
                    is_metadata=one.is_metadata,
                )
            )
        return shown

    def _new_streams(self, body: bytes) -> Answer:
        [number] = _LONG.unpack(body)
        session = self._attached.get(number)
        if session is None:
            return Answer(answers.new_streams(StreamsStatus.ERROR, []))
        # In this order: what came before the end is seen.
        has_ended = session.has_ended
        shown = self._show(session)
        if shown:
            return Answer(answers.new_streams(StreamsStatus.OK, shown))
        found = StreamsStatus.NOTHING_NEW
        if has_ended and all(one.has_ended for one in self._of(session)):
            found = StreamsStatus.HUNG_UP
        return Answer(answers.new_streams(found, []))

    def _of(self, session: ViewedSession) -> Iterator[_Position]:
        """Yield the positions in the data streams of a session, without metadata."""
        for one in self._positions.values():
            if one.session is session and not one.stream.is_metadata:
                yield one

    def _next_index(self, body: bytes) -> Answer:
        [number] = _LONG.unpack(body)
        position = self._positions.get(number)
        if position is None or position.stream.is_metadata:
            status = IndexStatus.ERROR if position is None else IndexStatus.HUNG_UP
            return _without(status)
        if self._comes_anew(position):
            return _without(IndexStatus.RETRY)
        flags = self._flags(position)
        # In this order: what came before the end is seen.
        is_closed = position.stream.is_closed
        try:
            position.packet = facts = position.reader.take()
        except OSError:
            return _without(IndexStatus.ERROR, flags)
        if facts is not None:
            return Answer(answers.index(facts, flags))
        position.has_ended = is_closed
        if is_closed or position.stream.beacon is None:
            status = IndexStatus.HUNG_UP if is_closed else IndexStatus.RETRY
            return _without(status, flags)
        end, class_id = position.stream.beacon
        return Answer(
            answers.index_without_packet(IndexStatus.INACTIVE, flags, end, class_id)
        )

    def _flags(self, position: _Position) -> Flag:
        """Return what the viewer is to ask for before it reads a packet."""
        flags = Flag(0)
        if any(one.id not in self._positions for one in _shown(position.session)):
            flags |= Flag.NEW_STREAM
        for one in self._metadata_of(position):
            # A viewer asks until there is more than it has.
            if one.sent == 0 or one.stream.metadata_size > one.sent:
                flags |= Flag.NEW_METADATA
        return flags

    def _metadata_of(self, position: _Position) -> Iterator[_Position]:
        """Yield the positions in the metadata of the trace of a data stream."""
        for one in self._positions.values():
            if (
                one.stream.is_metadata
                and one.session is position.session
                and one.stream.trace_id == position.stream.trace_id
            ):
                yield one

    def _comes_anew(self, position: _Position) -> bool:
        """Tell whether metadata that the viewer has is on its way once more.

        So it is for a moment in each new trace chunk. What is new in it describes the
        packets there: none of these is given before.
        """
        return any(
            one.sent > 0
            and one.stream.metadata_size == 0
            and not (one.stream.is_closed or one.session.has_ended)
            for one in self._metadata_of(position)
        )

    def _packet(self, body: bytes) -> Answer:
        number, offset, size = PACKET.unpack(body)
        position = self._positions.get(number)
        packet = None if position is None else position.packet
        if position is None or packet is None:
            return Answer(answers.packet(PacketStatus.ERROR))
        end = packet.offset + packet.packet_size // 8
        if not (packet.offset <= offset and 0 < size <= end - offset):
            return Answer(answers.packet(PacketStatus.ERROR))
        first = min(size, PIECE_BYTES)
        try:
            piece = position.reader.read(offset, first)
        except OSError:
            return Answer(answers.packet(PacketStatus.ERROR))
        head = answers.packet(PacketStatus.OK, size) + piece
        return Answer(head, position.reader.read, offset + first, size - first)

    def _metadata(self, body: bytes) -> Answer:
        [number] = _LONG.unpack(body)
        position = self._positions.get(number)
        if position is None or not position.stream.is_metadata:
            return Answer(answers.metadata(MetadataStatus.ERROR))
        sent, there = position.sent, position.stream.metadata_size
        if there <= sent:
            return Answer(answers.metadata(MetadataStatus.NOTHING_NEW))
        position.sent = there
        # In one answer: a viewer may parse what it has got.
        head = answers.metadata(MetadataStatus.OK, there - sent)
        return Answer(head, position.stream.read_metadata, sent, there - sent)

    def _detach(self, body: bytes) -> Answer:
        [number] = _LONG.unpack(body)
        if not self._may_read:
            return Answer(answers.status(REFUSED))
        if number not in self._attached:
            is_there = any(one.id == number for one in self._sessions())
            return Answer(answers.status(REFUSED if is_there else NOT_KNOWN))
        self._let_go(number)
        return Answer(answers.status(OK))

    def _let_go(self, number: int) -> None:
        session = self._attached.pop(number)
        for key, one in [*self._positions.items()]:
            if one.session is session:
                del self._positions[key]


def _without(status: IndexStatus, flags: Flag = NO_FLAGS) -> Answer:
    return Answer(answers.index_without_packet(status, flags))


def _shown(session: ViewedSession) -> Iterator[ViewedStream]:
    """Yield the data streams that viewers may know of: of traces with metadata.

    Babeltrace 2 waits for ever for data of a trace that has only these at first, and
    Babeltrace 1 for metadata that do not come.
    """
    streams = [*session.streams]
    described = {
        one.trace_id for one in streams if one.is_metadata and one.metadata_size
    }
    described &= {one.trace_id for one in streams if not one.is_metadata}
    return (one for one in streams if one.trace_id in described)
