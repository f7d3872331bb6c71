"""Whatever viewers send, the server goes on for others, in bounded memory."""

from __future__ import annotations

import random
import socket
import struct
import tracemalloc
from contextlib import suppress

import pytest

from support.fuzzing import protocol_seeds
from support.viewed_sessions import Served, Session
from support.waiting import wait_until
from vestige.live import LiveUrl, Viewer
from vestige.live.answers import BODY_BYTES
from vestige.live.messages import ATTACH, CONNECT, PACKET, REQUEST, Command

CONNECTIONS = 20
REQUESTS = 30
MOST_MEMORY = 16 << 20
SECONDS = 60
NUMBERS = [0, 1, 2, 7, 700, 701, 1 << 16, 1 << 31, (1 << 32) - 1, (1 << 64) - 1]


def body(chance, command):
    """Return what may follow the head of a request."""
    number = chance.choice(NUMBERS)
    if command == Command.CONNECT:
        return CONNECT.pack(number, 2, 4, 1)
    if command == Command.ATTACH_SESSION:
        return ATTACH.pack(7, 0, chance.choice([1, 2, 3]))
    if command == Command.GET_PACKET:
        size = chance.choice(NUMBERS) & 0xFFFFFFFF
        return PACKET.pack(number, chance.choice(NUMBERS), size)
    return struct.pack(">Q", number)[: BODY_BYTES[command]]


def requests(chance):
    """Return requests, some of which make no sense."""
    found = [Command.CONNECT, Command.CREATE_SESSION]
    found += [chance.choice([*BODY_BYTES]) for _ in range(REQUESTS)]
    data = bytearray()
    for command in found:
        behind = body(chance, command)
        size = len(behind) if chance.random() < 0.95 else chance.choice(NUMBERS)
        data += REQUEST.pack(size, command, 0) + behind
    for _ in range(chance.randrange(4)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


@pytest.mark.parametrize("seed", protocol_seeds())
def test_hostile_viewers(tmp_path, seed):
    """Each is answered or sent away."""
    chance = random.Random(seed)  # noqa: S311 - repeatable
    session = Session(tmp_path)
    session.add(is_metadata=True).describe(b"metadata")
    data = session.add()
    for number in range(5):
        data.add(chance.randbytes(1000), number)
    tracemalloc.start()
    try:
        with Served(session) as served:
            for _ in range(CONNECTIONS):
                with (
                    socket.create_connection(("127.0.0.1", served.port), 5) as one,
                    suppress(OSError),
                ):
                    one.sendall(requests(chance))
                    one.shutdown(socket.SHUT_WR)
                    while one.recv(1 << 16):
                        pass
            wait_until(lambda: not served.server.viewers, "nobody there", SECONDS)
            viewer = Viewer(LiveUrl.parse(served.url))
            assert [one.clients for one in viewer.sessions()] == [0]
            viewer.close()
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()
