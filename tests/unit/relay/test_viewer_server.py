"""Viewers of a relay, over sockets."""

from __future__ import annotations

import gc
import socket
import struct
import tracemalloc
import weakref
from contextlib import ExitStack

import pytest

from support.ctf_writer import Packet, Trace, numbered, packetised_metadata
from support.relay import receive
from support.viewed_sessions import Follower, Served, Session
from support.waiting import wait_until
from vestige.components.sources.lttng_live import LttngLiveSource
from vestige.graph import Selection
from vestige.graph.mux import merges
from vestige.live import LiveUrl, Viewer
from vestige.live.messages import (
    ATTACH,
    CONNECT,
    INDEX_BYTES,
    PACKET,
    REQUEST,
    STREAM_BYTES,
    Command,
)
from vestige.relay import viewer_server

SECONDS = 60
METADATA = packetised_metadata(Trace().metadata())


def packet(start, count=3):
    """Return the bytes of a packet, and its end."""
    made = Packet(numbered(count, start=start))
    return made.encode(), made.events[-1].timestamp


class Reading:
    """A viewer that reads a session, a look at a time."""

    def __init__(self, url):
        self.source = LttngLiveSource(LiveUrl.parse(url), "end")
        self.merges = merges(
            [], feeds={self.source: Selection()}, retry_duration=None, tell=print
        )
        self.values = []
        self.has_ended = False

    def look(self):
        """Read what is there."""
        for merge in self.merges:
            self.values += [one["value"] for one in merge.events()]
            if not len(merge):
                return
        self.has_ended = True

    def read_until(self, values):
        """Read until so many are there."""

        def is_there():
            self.look()
            return len(self.values) >= len(values)

        wait_until(is_there, f"{values}, not {self.values}", SECONDS)
        assert self.values == values

    def read_to_the_end(self):
        """Read until the session has ended."""

        def is_there():
            self.look()
            return self.has_ended

        wait_until(is_there, "the end of the session", SECONDS)

    def close(self):
        """End it."""
        self.source.close()


@pytest.fixture
def session(tmp_path):
    """A session with metadata and two data streams."""
    made = Session(tmp_path)
    made.add(is_metadata=True).describe(METADATA)
    made.add()
    made.add()
    return made


def test_several_viewers_and_one_that_comes_late(session):
    """Each has all from when it attached on, in order; all are told of the end."""
    _, one, two = session.streams
    with Served(session) as served, ExitStack() as close:
        early = [Reading(served.url) for _ in range(2)]
        for each in early:
            close.callback(each.close)
        served.do(lambda: (one.add(*packet(0)), two.add(*packet(1))))
        for each in early:
            # The last one may not be next: the other data stream may go on before it.
            each.read_until([0, 1, 1, 2])
        late = Reading(served.url)
        close.callback(late.close)
        assert served.server.clients(7) == 3
        # The one that is quiet lets the other go on.
        served.do(lambda: setattr(two, "beacon", (packet(20)[1], 0)))
        served.do(lambda: one.add(*packet(10)))
        served.do(lambda: setattr(two, "beacon", (packet(30)[1], 0)))
        for each in early:
            each.read_until([0, 1, 1, 2, 2, 3, 10, 11, 12])
        late.read_until([10, 11, 12])
        served.do(session.end)
        for each in (*early, late):
            each.read_to_the_end()
    assert served.server.viewers == 0


def asks_for_all(served, stream, size):
    """A viewer that asks for a packet, which is large, and takes none of it."""
    slow = socket.create_connection(("127.0.0.1", served.port), SECONDS)

    def ask(command, body=b"", size=0):
        slow.sendall(REQUEST.pack(len(body), command, 0) + body)
        return receive(slow, size)

    ask(Command.CONNECT, CONNECT.pack(0, 2, 4, 1), CONNECT.size)
    ask(Command.CREATE_SESSION, b"", 4)
    ask(Command.ATTACH_SESSION, ATTACH.pack(7, 0, 1), 8 + 3 * STREAM_BYTES)
    ask(Command.GET_NEXT_INDEX, struct.pack(">Q", stream.id), INDEX_BYTES)
    ask(Command.GET_PACKET, PACKET.pack(stream.id, 0, size))
    return slow


def test_who_reads_nothing_holds_nobody_up(session):
    """One asks for a packet of many megabytes, and takes none of it."""
    _, one, _two = session.streams
    one.add(bytes(64 << 20), 5)
    with Served(session) as served:
        slow = asks_for_all(served, one, 64 << 20)
        other = Viewer(LiveUrl.parse(served.url))
        assert [found.clients for found in other.sessions()] == [1]
        other.close()
        # And it gets the rest when it wants it.
        assert receive(slow, 12 + (1 << 20))[12:] == bytes(1 << 20)
        slow.close()
        wait_until(lambda: served.server.viewers == 0, "nobody to be there", SECONDS)


def test_nothing_is_kept_for_a_viewer_whose_connection_was_reset(session, monkeypatch):
    """What it has read is let go at once, not when garbage is collected."""
    _, one, _two = session.streams
    one.add(bytes(64 << 20), 5)
    followers = weakref.WeakSet()

    def follow():
        made = Follower(one)
        followers.add(made)
        return made

    monkeypatch.setattr(one, "follow", follow)
    gc.disable()
    try:
        with Served(session) as served:
            slow = asks_for_all(served, one, 64 << 20)
            assert len(followers) == 1
            slow.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            slow.close()
            wait_until(lambda: not followers, "its reader to go", SECONDS)
    finally:
        gc.enable()


def connected(served):
    """A viewer that has said which protocol it speaks, and nothing since."""
    one = socket.create_connection(("127.0.0.1", served.port), SECONDS)
    body = CONNECT.pack(0, 2, 4, 1)
    one.sendall(REQUEST.pack(len(body), Command.CONNECT, 0) + body)
    receive(one, CONNECT.size)
    return one


def test_too_many_viewers_are_sent_away(session, monkeypatch):
    """Those that are there stay, as long as they have just asked for something."""
    monkeypatch.setattr(viewer_server, "SHORTEST_IDLE", 3600.0)
    said = []
    with Served(session, most=1, warn=said.append) as served, ExitStack() as close:
        first = Viewer(LiveUrl.parse(served.url))
        close.callback(first.close)
        second = socket.create_connection(("127.0.0.1", served.port), SECONDS)
        with second:
            assert second.recv(1) == b""
        assert len([*first.sessions()]) == 1
    assert said == ["127.0.0.1: there are as many viewers as are allowed"]


def test_silent_viewers_make_room(session, monkeypatch):
    """The one that has been silent for longest."""
    monkeypatch.setattr(viewer_server, "SHORTEST_IDLE", 0.0)
    said = []
    with Served(session, most=4, warn=said.append) as served, ExitStack() as close:
        silent = [close.enter_context(connected(served)) for _ in range(3)]
        first = Viewer(LiveUrl.parse(served.url))
        close.callback(first.close)
        assert silent[0].recv(1) == b""
        # It asks, and is no longer the one.
        body = REQUEST.pack(0, Command.LIST_SESSIONS, 0)
        silent[1].sendall(body)
        assert receive(silent[1], 4) == struct.pack(">I", 1)
        second = Viewer(LiveUrl.parse(served.url))
        close.callback(second.close)
        assert silent[2].recv(1) == b""
        assert len([*second.sessions()]) == len([*first.sessions()]) == 1
        assert served.server.viewers == 3
    assert said == ["127.0.0.1: a silent viewer has made room for others"] * 2


def test_there_is_room_for_so_many_data_streams(session):
    """Of all viewers; who has gone has none."""
    with Served(session, most_streams=4) as served, ExitStack() as close:

        def attach():
            one = close.enter_context(connected(served))
            one.sendall(REQUEST.pack(0, Command.CREATE_SESSION, 0))
            receive(one, 4)
            body = ATTACH.pack(7, 0, 1)
            one.sendall(REQUEST.pack(len(body), Command.ATTACH_SESSION, 0) + body)
            return one

        first = attach()
        receive(first, 8 + 3 * STREAM_BYTES)
        assert attach().recv(1) == b""
        first.close()
        wait_until(lambda: served.server.streams == 0, "room for others", SECONDS)
        receive(attach(), 8 + 3 * STREAM_BYTES)


def test_long_lists_are_made_while_they_are_sent(tmp_path):
    """Whoever takes none of it does not have them in memory, and holds nobody up."""
    session = Session(tmp_path)
    session.add(is_metadata=True).describe(METADATA)
    for _ in range(10_000):
        session.add()
    tracemalloc.start()
    try:
        with Served(session) as served, ExitStack() as close:
            for _ in range(10):
                one = close.enter_context(connected(served))
                body = ATTACH.pack(7, 0, 1)
                one.sendall(REQUEST.pack(0, Command.CREATE_SESSION, 0))
                one.sendall(REQUEST.pack(len(body), Command.ATTACH_SESSION, 0) + body)
                receive(one, 4 + 8)
            other = Viewer(LiveUrl.parse(served.url))
            close.callback(other.close)
            assert [found.clients for found in other.sessions()] == [10]
            # 40 MB for each, if all were there.
            assert tracemalloc.get_traced_memory()[1] < 80 << 20
    finally:
        tracemalloc.stop()


def test_rubbish_ends_a_connection(session):
    """And no other one."""
    with Served(session) as served:
        for request in (
            b"\xff" * 16,
            REQUEST.pack(5000, Command.CONNECT, 0),
            REQUEST.pack(0, Command.LIST_SESSIONS, 0),
        ):
            with socket.create_connection(("127.0.0.1", served.port), SECONDS) as one:
                one.sendall(request)
                assert one.recv(1) == b""
        viewer = Viewer(LiveUrl.parse(served.url))
        assert len([*viewer.sessions()]) == 1
        viewer.close()
