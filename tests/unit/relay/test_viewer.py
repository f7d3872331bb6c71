"""What viewers of a relay are answered."""

from __future__ import annotations

import random
import struct
from collections import Counter

import pytest

from support.viewed_sessions import Session
from vestige.live.answers import BODY_BYTES
from vestige.live.messages import (
    ATTACH,
    CONNECT,
    INDEX_BYTES,
    PACKET,
    Command,
    Flag,
    Index,
    IndexStatus,
    RemoteSession,
    RemoteStream,
)
from vestige.relay.viewer import RelayViewer

OK, NOTHING_NEW, ERROR, HUNG_UP = 1, 2, 3, 4


class Asking:
    """A viewer that asks, and reads what it is answered."""

    def __init__(self, *sessions):
        self.viewer = RelayViewer(1, lambda: sessions, lambda _: 3)
        self.ask(Command.CONNECT, CONNECT.pack(0, 2, 4, 1))

    def ask(self, command, body=b""):
        """Return all bytes of the answer."""
        answer = self.viewer.answer(command, body)
        data = answer.head + b"".join(answer.parts)
        if answer.size:
            data += answer.read(answer.offset, answer.size)
        return data

    def ask_of(self, command, number):
        """Ask something of a session or a data stream."""
        return self.ask(command, struct.pack(">Q", number))

    def attach(self, session, seek=2):
        """Return the status, and the data streams."""
        self.ask(Command.CREATE_SESSION)
        return streams(self.ask(Command.ATTACH_SESSION, ATTACH.pack(session, 0, seek)))

    def new(self, session):
        """Return the status, and new data streams."""
        return streams(self.ask_of(Command.GET_NEW_STREAMS, session))

    def index(self, stream):
        """Return the next index."""
        data = self.ask_of(Command.GET_NEXT_INDEX, stream.id)
        assert len(data) == INDEX_BYTES
        return Index.parse(data)

    def packet(self, stream, offset, size):
        """Return the status, and the bytes."""
        body = PACKET.pack(stream.id, offset, size)
        data = self.ask(Command.GET_PACKET, body)
        status, length, _ = struct.unpack(">III", data[:12])
        assert length == len(data) - 12
        return status, data[12:]

    def metadata(self, stream):
        """Return the status, and the bytes."""
        data = self.ask_of(Command.GET_METADATA, stream.id)
        length, status = struct.unpack(">QI", data[:12])
        assert length == len(data) - 12
        return status, data[12:]


def streams(data):
    """Return a status, and the data streams behind it."""
    status, count = struct.unpack(">II", data[:8])
    size = (len(data) - 8) // max(count, 1)
    parts = [data[8 + size * n : 8 + size * (n + 1)] for n in range(count)]
    return status, [RemoteStream.parse(part) for part in parts]


@pytest.fixture
def session(tmp_path):
    """A live session with metadata and a data stream."""
    made = Session(tmp_path)
    made.add(is_metadata=True).describe(b"/* CTF 1.8 */")
    made.add()
    return made


def test_sessions_are_listed(session, tmp_path):
    """Those that have not ended, live or not."""
    ended = Session(tmp_path, id=8, has_ended=True)
    other = Session(tmp_path, id=9, name="x" * 300, hostname="h" * 80, live_timer=0)
    data = Asking(session, ended, other).ask(Command.LIST_SESSIONS)
    assert struct.unpack(">I", data[:4]) == (2,)
    size = (len(data) - 4) // 2
    first, second = (RemoteSession.parse(data[4 + size * n :][:size]) for n in (0, 1))
    assert first == (7, 1000, 3, 2, "machine", "session")
    assert second == (9, 0, 3, 0, "h" * 63, "x" * 254)


def test_who_may_attach(session, tmp_path):
    """As LTTng answers; only several viewers may read what one may there."""
    ended = Session(tmp_path, id=8, has_ended=True)
    other = Session(tmp_path, id=9, live_timer=0)
    viewer = Asking(session, ended, other)
    early = ATTACH.pack(session.id, 0, 2)
    assert streams(viewer.ask(Command.ATTACH_SESSION, early)) == (6, [])
    answers = [viewer.attach(number)[0] for number in (8, 9, 1234)]
    assert answers == [3, 4, 3]
    assert viewer.attach(7, seek=3)[0] == 5
    status, found = viewer.attach(7)
    assert (status, [(one.id, one.is_metadata) for one in found]) == (
        (OK, [(700, True), (701, False)])
    )
    assert viewer.attach(7)[0] == 2
    assert Asking(session).attach(7)[0] == OK


def test_packets_from_the_beginning_and_from_now_on(session):
    """Whoever attaches says which."""
    meta, data = session.streams
    data.add(b"first", 10)
    early, late = Asking(session), Asking(session)
    early.attach(7, seek=1)
    late.attach(7, seek=2)
    index = early.index(data)
    assert (index.status, index.offset, index.size, index.end) == (1, 0, 5, 10)
    assert index.flags == Flag.NEW_METADATA
    assert early.metadata(meta) == (OK, b"/* CTF 1.8 */")
    assert early.metadata(meta) == (NOTHING_NEW, b"")
    assert early.packet(data, 0, 5) == (OK, b"first")
    assert late.index(data).status is IndexStatus.RETRY
    data.add(b"second", 20)
    assert late.index(data).offset == 5
    assert late.packet(data, 6, 3) == (OK, b"eco")
    index = early.index(data)
    assert (index.offset, index.flags) == (5, Flag(0))


def test_only_the_packet_that_was_told_of_is_given(session):
    """No other part of a file, whatever is asked for."""
    _, data = session.streams
    for part in (b"first", b"second", b"third"):
        data.add(part, 10)
    viewer = Asking(session)
    viewer.attach(7, seek=1)
    assert viewer.packet(data, 0, 5)[0] == ERROR
    viewer.index(data)
    viewer.index(data)
    for offset, size in ((0, 5), (5, 7), (11, 1), (1 << 63, 6), (5, 0), (5, 1 << 31)):
        assert viewer.packet(data, offset, size) == (ERROR, b"")
    assert viewer.packet(data, 5, 6) == (OK, b"second")


def test_quiet_streams_tell_until_when(session):
    """A beacon that arrived counts, until a packet does; then the end."""
    _, data = session.streams
    viewer = Asking(session)
    viewer.attach(7)
    data.beacon = (50, 3)
    index = viewer.index(data)
    assert (index.status, index.end, index.class_id) == (IndexStatus.INACTIVE, 50, 3)
    data.add(b"packet", 60)
    assert viewer.index(data).status is IndexStatus.OK
    assert viewer.index(data).status is IndexStatus.RETRY
    data.is_closed = True
    assert viewer.index(data).status is IndexStatus.HUNG_UP


def test_no_time_is_told_before_a_stream_that_has_begun(session):
    """It may be older; Babeltrace 2.0 looks for it with a packet only."""
    meta, data = session.streams
    viewer = Asking(session)
    viewer.attach(7)
    viewer.metadata(meta)
    session.add()
    data.beacon = (50, 3)
    index = viewer.index(data)
    assert (index.status, index.flags) == (IndexStatus.RETRY, Flag.NEW_STREAM)
    viewer.new(7)
    index = viewer.index(data)
    assert (index.status, index.end, index.flags) == (IndexStatus.INACTIVE, 50, 0)


def test_streams_and_metadata_that_come_later(session):
    """They are announced with the next packet."""
    meta, data = session.streams
    viewer = Asking(session)
    viewer.attach(7)
    viewer.metadata(meta)
    later = session.add()
    later.add(b"x", 5)
    data.add(b"y", 6)
    meta.describe(b"event {};")
    assert viewer.index(data).flags == Flag.NEW_STREAM | Flag.NEW_METADATA
    assert viewer.index(later).status is IndexStatus.ERROR
    status, found = viewer.new(7)
    assert (status, [one.id for one in found]) == (OK, [later.id])
    assert viewer.metadata(meta) == (OK, b"event {};")
    index = viewer.index(later)
    assert (index.status, index.flags) == (IndexStatus.OK, Flag(0))
    assert viewer.new(7) == (NOTHING_NEW, [])


def test_a_trace_with_metadata_alone_or_without_is_not_shown(session):
    """It is as soon as it has both."""
    hidden = session.add(trace=2)
    session.add(trace=3, is_metadata=True)
    viewer = Asking(session)
    assert len(viewer.attach(7)[1]) == 2
    empty = session.add(trace=2, is_metadata=True)
    assert viewer.new(7) == (NOTHING_NEW, [])
    empty.describe(b"/* CTF 1.8 */")
    assert [one.trace_id for one in viewer.new(7)[1]] == [2, 2]
    hidden.add(b"x", 1)
    index = viewer.index(hidden)
    assert index.flags == Flag.NEW_METADATA


def test_metadata_that_comes_anew(session):
    """No packet is given meanwhile, and no viewer asks for what it has already."""
    meta, data = session.streams
    viewer = Asking(session)
    viewer.attach(7)
    assert viewer.metadata(meta) == (OK, b"/* CTF 1.8 */")
    meta.begin_anew()
    data.add(b"packet", 10)
    index = viewer.index(data)
    assert (index.status, index.flags) == (IndexStatus.RETRY, Flag(0))
    meta.describe(b"/* CTF 1.8 */")
    index = viewer.index(data)
    assert (index.status, index.flags) == (IndexStatus.OK, Flag(0))
    # It does not come any more.
    meta.begin_anew()
    meta.is_closed = True
    data.add(b"last", 20)
    index = viewer.index(data)
    assert (index.status, index.flags) == (IndexStatus.OK, Flag(0))


def test_a_session_that_ends(session):
    """Its viewers get all of it, and are told."""
    _, data = session.streams
    viewer = Asking(session)
    viewer.attach(7)
    data.add(b"last", 5)
    session.has_ended = data.is_closed = True
    assert viewer.new(7) == (NOTHING_NEW, [])
    assert viewer.index(data).status is IndexStatus.OK
    assert viewer.packet(data, 0, 4) == (OK, b"last")
    assert viewer.index(data).status is IndexStatus.HUNG_UP
    assert viewer.new(7) == (HUNG_UP, [])


def test_what_is_cleared_or_moved_while_it_is_read(session):
    """What was told of is given; what is gone is passed over."""
    _, data = session.streams
    viewer = Asking(session)
    viewer.attach(7, seek=1)
    for part in (b"first", b"second", b"third"):
        data.add(part, 10)
    viewer.index(data)
    data.file.unlink()
    assert viewer.packet(data, 0, 5) == (OK, b"first")
    data.first = 3
    assert viewer.index(data).status is IndexStatus.RETRY
    assert viewer.packet(data, 0, 5) == (ERROR, b"")
    data.add(b"fourth", 20)
    assert viewer.index(data).offset == 0
    assert viewer.packet(data, 0, 6) == (OK, b"fourth")
    data.is_closed = True
    assert viewer.index(data).status is IndexStatus.HUNG_UP


def test_detaching(session):
    """The session is as unknown as before."""
    viewer = Asking(session)
    assert viewer.ask_of(Command.DETACH_SESSION, 7) == b"\0\0\0\3"
    viewer.attach(7)
    assert viewer.ask_of(Command.DETACH_SESSION, 7) == b"\0\0\0\1"
    assert viewer.ask_of(Command.DETACH_SESSION, 7) == b"\0\0\0\3"
    assert viewer.ask_of(Command.DETACH_SESSION, 8) == b"\0\0\0\2"
    assert viewer.new(7) == (ERROR, [])
    assert viewer.index(session.streams[1]).status is IndexStatus.ERROR
    assert viewer.attach(7)[0] == OK


def test_who_does_not_connect_first_is_left(session):
    """Or in another version, or asks for what there is not."""
    for command, body in (
        (Command.LIST_SESSIONS, b""),
        (Command.CONNECT, CONNECT.pack(0, 3, 4, 1)),
        (Command.CONNECT, CONNECT.pack(0, 2, 4, 9)),
    ):
        answer = RelayViewer(1, lambda: [session]).answer(command, body)
        assert (answer.head, answer.is_last) == (b"", True)
    answer = RelayViewer(1, lambda: [session]).answer(99, b"")
    assert (answer.head, answer.is_last) == (b"\0\0\0\n", True)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_asked_is_answered(session, seed):
    """No request is an error here."""
    chance = random.Random(seed)  # noqa: S311 - repeatable
    viewer = Asking(session)
    numbers = [7, 700, 701, 702, 0, 1, 2, (1 << 64) - 1]
    for _ in range(300):
        command = chance.choice([*BODY_BYTES])
        form = {8: ">Q", 20: ">QQI"}.get(BODY_BYTES[command])
        body = bytes(BODY_BYTES[command])
        if form is not None and command != Command.CONNECT:
            words = [chance.choice(numbers) for _ in form[1:]]
            words[-1] &= 0xFFFFFFFF if len(words) > 1 else (1 << 64) - 1
            body = struct.pack(form, *words)
        if chance.random() < 0.1:
            session.streams[-1].add(b"more", 9)
        answer = viewer.viewer.answer(command, body)
        assert answer.size <= 1 << 12


def test_data_streams_that_have_ended_are_forgotten(tmp_path):
    """Programs come and go while a viewer stays."""
    room = Counter()
    session = Session(tmp_path)
    viewer = RelayViewer(
        1,
        lambda: [session],
        take=lambda count: room.update(taken=count) or True,
        give=lambda count: room.update(given=count),
    )
    asking = Asking(session)
    asking.viewer = viewer
    asking.ask(Command.CONNECT, CONNECT.pack(0, 2, 4, 1))
    assert asking.attach(7)[0] == OK
    for trace in range(1, 20):
        metadata = session.add(is_metadata=True, trace=trace)
        metadata.describe(b"metadata")
        data = session.add(trace=trace)
        data.add(b"packet", trace)
        status, new = asking.new(7)
        assert (status, [one.id for one in new]) == (OK, [metadata.id, data.id])
        asking.ask_of(Command.GET_METADATA, metadata.id)
        assert asking.index(data).status == IndexStatus.OK
        metadata.is_closed = data.is_closed = True
        assert asking.index(data).status == IndexStatus.HUNG_UP
        assert room["taken"] == room["given"] == 2 * trace
        # It may ask once more, and they are not new.
        assert asking.index(data).status == IndexStatus.HUNG_UP
        said = asking.ask_of(Command.GET_METADATA, metadata.id)
        assert struct.unpack(">QI", said) == (0, NOTHING_NEW)
        assert asking.new(7) == (NOTHING_NEW, [])
    session.end()
    assert asking.new(7) == (HUNG_UP, [])


def test_who_begins_at_the_end_is_not_told_of_what_has_ended(tmp_path):
    """Nor of metadata of nothing, until there is something again."""
    session = Session(tmp_path)
    metadata = session.add(is_metadata=True)
    metadata.describe(b"metadata")
    session.add().is_closed = True
    asking = Asking(session)
    assert asking.attach(7, seek=2) == (OK, [])
    assert asking.new(7) == (NOTHING_NEW, [])
    later = session.add()
    status, new = asking.new(7)
    assert (status, [one.id for one in new]) == (OK, [metadata.id, later.id])
