"""One viewer of a relay: what it reads, how far it is, and what it is answered.

There is no socket here: a request goes in, and an answer comes out, at once, whatever
the request says. What is asked for and is not there is answered so, as LTTng 2.13 does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable
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
    parts: Iterable[bytes] = ()
    """What follows, made as it is sent: lists may be very long."""
    read: Callable[[int, int], bytes] = lambda _at, _size: b""
    """Reads bytes from an offset on."""
    offset: int = 0
    """Where the rest begins."""
    size: int = 0
    """Bytes of it."""
    is_last: bool = False
    """Whether the connection is closed then."""


_NO_ROOM = Answer(b"", is_last=True)
"""To who reads more than there is room for."""


class _Position:
    """How far a viewer is in a data stream."""

    __slots__ = ("_reader", "packet", "sent", "session", "stream")

    def __init__(self, session: ViewedSession, stream: ViewedStream) -> None:
        self.session = session
        self.stream = stream
        self.sent = 0
        """Bytes of metadata that were sent."""
        self.packet: PacketFacts | None = None
        """The one that was told of last."""
        self._reader: PacketReader | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the viewer has all metadata that there will be."""
        return self.stream.is_closed and self.sent >= self.stream.metadata_size

    @property
    def reader(self) -> PacketReader:
        """What reads its packets."""
        if self._reader is None:
            self._reader = self.stream.follow()
        return self._reader


class _Attached:
    """A session that a viewer reads."""

    def __init__(self, session: ViewedSession) -> None:
        self.session = session
        self.metadata: dict[int, list[_Position]] = {}
        """Of each trace."""

        self.data: dict[int, _Position] = {}
        """Of data streams whose end the viewer was not told, by their numbers."""

        self.ended: set[int] = set()
        """The numbers of data streams whose end it was told."""

        self._showings = -1
        """How often the streams had changed when all were known to the viewer."""

    def new(self, known: Container[int]) -> list[ViewedStream]:
        """Return the data streams that the viewer does not know yet."""
        showings = self.session.showings
        if showings == self._showings:
            return []
        streams = [*self.session.streams]
        self.ended &= {one.id for one in streams}
        unknown = [one for one in streams if one.id not in known]
        unknown = [one for one in unknown if one.id not in self.ended]
        if not unknown:
            self._showings = showings
            return []
        # Metadata alone is of no use to anybody.
        wanted = _described(streams) & {
            one.trace_id
            for one in streams
            if not (one.is_metadata or one.id in self.ended)
        }
        return [one for one in unknown if one.trace_id in wanted]

    def comes_anew(self, trace: int) -> bool:
        """Tell whether metadata that the viewer has is on its way once more.

        So it is for a moment in each new trace chunk. What is new in it describes the
        packets there: none of these is given before.
        """
        return any(
            one.sent > 0
            and one.stream.metadata_size == 0
            and not (one.stream.is_closed or self.session.has_ended)
            for one in self.metadata.get(trace, ())
        )

    def flags(self, trace: int, known: Container[int]) -> Flag:
        """Return what the viewer is to ask for before it reads a packet of a trace."""
        flags = Flag.NEW_STREAM if self.new(known) else NO_FLAGS
        for one in self.metadata.get(trace, ()):
            # A viewer asks until there is more than it has.
            if one.sent == 0 or one.stream.metadata_size > one.sent:
                flags |= Flag.NEW_METADATA
        return flags


class RelayViewer:
    """A viewer.

    Args:
        number: Its number among all.
        sessions: Returns the sessions that there are.
        clients: Returns how many viewers read a session.
        take: Takes room for so many streams, if there is.
        give: Gives it back.
    """

    def __init__(
        self,
        number: int,
        sessions: Callable[[], Iterable[ViewedSession]],
        clients: Callable[[int], int] = lambda _: 0,
        take: Callable[[int], bool] = lambda _: True,
        give: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._number = number
        self._sessions = sessions
        self._clients = clients
        self._take, self._give = take, give
        self._is_connected = False
        self._may_read = False
        self._attached: dict[int, _Attached] = {}
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

    def is_early(self, command: int, body: bytes) -> bool:
        """Tell whether a session is asked for that has no data streams for viewers yet.

        A moment later it may: they know of those for which there is metadata.

        Args:
            command: What is asked.
            body: What follows the head of it.
        """
        if command != Command.ATTACH_SESSION or not self._may_read:
            return False
        number, *_ = ATTACH.unpack(body)
        session = next((one for one in self._sessions() if one.id == number), None)
        if session is None or session.has_ended:
            return False
        return not _described(session.streams)

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
        found = [one for one in self._sessions() if not one.has_ended]
        return Answer(answers.number_of(len(found)), map(self._listed, found))

    def _listed(self, session: ViewedSession) -> bytes:
        return answers.session(
            session.id,
            session.live_timer,
            self._clients(session.id),
            len(session.streams),
            session.hostname,
            session.name,
        )

    def _attach(self, body: bytes) -> Answer:
        number, _, seek = ATTACH.unpack(body)
        session = next((one for one in self._sessions() if one.id == number), None)
        refusal = self._why_not(session, seek)
        if session is None or refusal is not None:
            return Answer(answers.attached(refusal or AttachStatus.UNKNOWN_SESSION, 0))
        attached = self._attached[number] = _Attached(session)
        if seek == SEEK_LAST:
            # Of these there is nothing to come.
            attached.ended |= {
                one.id
                for one in session.streams
                if one.is_closed and not one.is_metadata
            }
        new = attached.new(self._positions)
        if not self._add(attached, new):
            return _NO_ROOM
        if seek == SEEK_LAST:
            for one in new:
                if not one.is_metadata:
                    self._positions[one.id].reader.pass_all()
        return Answer(answers.attached(AttachStatus.OK, len(new)), map(_told, new))

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

    def _add(self, attached: _Attached, new: list[ViewedStream]) -> bool:
        """Begin to read data streams; whether there is room for them."""
        if not self._take(len(new)):
            return False
        for one in new:
            position = _Position(attached.session, one)
            self._positions[one.id] = position
            if one.is_metadata:
                attached.metadata.setdefault(one.trace_id, []).append(position)
            else:
                attached.data[one.id] = position
        return True

    def _new_streams(self, body: bytes) -> Answer:
        [number] = _LONG.unpack(body)
        attached = self._attached.get(number)
        if attached is None:
            return Answer(answers.new_streams(StreamsStatus.ERROR, 0))
        # In this order: what came before the end is seen.
        has_ended = attached.session.has_ended
        new = attached.new(self._positions)
        if new and not self._add(attached, new):
            return _NO_ROOM
        if new:
            head = answers.new_streams(StreamsStatus.OK, len(new))
            return Answer(head, map(_told, new))
        found = StreamsStatus.NOTHING_NEW
        if has_ended and not attached.data:
            found = StreamsStatus.HUNG_UP
        return Answer(answers.new_streams(found, 0))

    def _next_index(self, body: bytes) -> Answer:
        [number] = _LONG.unpack(body)
        position = self._positions.get(number)
        if position is None:
            is_ended = self._has_ended(number)
            return _without(IndexStatus.HUNG_UP if is_ended else IndexStatus.ERROR)
        if position.stream.is_metadata:
            return _without(IndexStatus.HUNG_UP)
        return self._index_of(position)

    def _index_of(self, position: _Position) -> Answer:
        """Return what is known of the next packet of a data stream."""
        attached, trace = self._attached[position.session.id], position.stream.trace_id
        if attached.comes_anew(trace):
            return _without(IndexStatus.RETRY)
        flags = attached.flags(trace, self._positions)
        # In this order: what came before the end is seen.
        is_closed = position.stream.is_closed
        try:
            position.packet = facts = position.reader.take()
        except OSError:
            return _without(IndexStatus.ERROR, flags)
        if facts is not None:
            return Answer(answers.index(facts, flags))
        if is_closed:
            self._end(attached, position)
            return _without(IndexStatus.HUNG_UP, flags)
        if position.stream.beacon is None or flags & Flag.NEW_STREAM:
            # What has begun may be older than the time is; and Babeltrace 2.0 looks at
            # the flag with a packet only.
            return _without(IndexStatus.RETRY, flags)
        end, class_id = position.stream.beacon
        return Answer(
            answers.index_without_packet(IndexStatus.INACTIVE, flags, end, class_id)
        )

    def _has_ended(self, number: int) -> bool:
        """Tell whether a data stream is one whose end the viewer was told."""
        return any(number in one.ended for one in self._attached.values())

    def _end(self, attached: _Attached, position: _Position) -> None:
        """Forget a data stream that has ended: programs come and go."""
        ended, trace = [position], position.stream.trace_id
        del attached.data[position.stream.id]
        metadata = attached.metadata.get(trace, [])
        is_used = any(one.stream.trace_id == trace for one in attached.data.values())
        if not is_used and all(one.is_complete for one in metadata):
            ended += attached.metadata.pop(trace, [])
        for one in ended:
            del self._positions[one.stream.id]
            attached.ended.add(one.stream.id)
        self._give(len(ended))

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
        return Answer(head, (), position.reader.read, offset + first, size - first)

    def _metadata(self, body: bytes) -> Answer:
        [number] = _LONG.unpack(body)
        position = self._positions.get(number)
        if position is None and self._has_ended(number):
            return Answer(answers.metadata(MetadataStatus.NOTHING_NEW))
        if position is None or not position.stream.is_metadata:
            return Answer(answers.metadata(MetadataStatus.ERROR))
        sent, there = position.sent, position.stream.metadata_size
        if there <= sent:
            return Answer(answers.metadata(MetadataStatus.NOTHING_NEW))
        position.sent = there
        # In one answer: a viewer may parse what it has got.
        head = answers.metadata(MetadataStatus.OK, there - sent)
        return Answer(head, (), position.stream.read_metadata, sent, there - sent)

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
        attached = self._attached.pop(number)
        metadata = [one for group in attached.metadata.values() for one in group]
        for one in [*attached.data.values(), *metadata]:
            del self._positions[one.stream.id]
        self._give(len(attached.data) + len(metadata))

    def close(self) -> None:
        """Forget all that it reads."""
        for number in [*self._attached]:
            self._let_go(number)


def _without(status: IndexStatus, flags: Flag = NO_FLAGS) -> Answer:
    return Answer(answers.index_without_packet(status, flags))


def _told(stream: ViewedStream) -> bytes:
    """Return what stands for a data stream in a list."""
    return answers.stream(
        stream.id,
        stream.trace_id,
        stream.path,
        stream.channel,
        is_metadata=stream.is_metadata,
    )


def _described(streams: Collection[ViewedStream]) -> set[int]:
    """Return the traces that viewers may know of: those with data and metadata.

    Babeltrace 2 waits for ever for data of a trace that has only these at first, and
    Babeltrace 1 for metadata that do not come.
    """
    described = {
        one.trace_id for one in streams if one.is_metadata and one.metadata_size
    }
    return described & {one.trace_id for one in streams if not one.is_metadata}
