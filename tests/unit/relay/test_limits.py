"""Peers of a relay daemon that take what they can get."""

from __future__ import annotations

import re
import select
import socket
import struct
import sys
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path

import pytest

from support.relay_daemon import RunningRelay
from support.relay_peer import NO_STREAM, OK, SECONDS
from support.waiting import wait_until
from vestige.live.messages import CONNECT, REQUEST, Command

LIMIT = 4 << 20
PACKET = bytes(16)
COUNT = 15_000
REPORT = (
    "import resource, sys; from vestige.cli.relayd import main;"
    "resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200)); sys.exit(main(sys.argv[1:]))"
)


@pytest.fixture
def relay(tmp_path):
    """A relay daemon that has little memory for its peers."""
    running = RunningRelay(tmp_path, f"--memory-limit={LIMIT >> 20}M")
    yield running
    running.disconnect()
    status, said = running.end()
    assert (status, "Traceback" in said) == (0, False), said


def most_memory(relay):
    """Return the most memory that the process ever had, bytes."""
    status = Path(f"/proc/{relay.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) << 10


def is_gone(connection):
    """Tell whether a connection was closed, on which the other side says nothing."""
    return bool(select.select([connection], [], [], 0)[0])


def begun(relay, name):
    """Return the connections of a session with a stream, and its number."""
    control, data = relay.connect()
    assert control.create_session(name)[1] == OK
    assert control.create_chunk() == OK
    stream, status = control.add_stream()
    assert status == OK
    return control, data, stream


def test_packets_may_be_far_ahead_of_their_indexes(relay):
    """Small ones: as many as the buffers of a connection hold."""
    control, data, stream = begun(relay, "ahead")
    heads = [struct.pack(">QQQII", 0, stream, one, 16, 0) for one in range(COUNT)]
    data.socket.sendall(b"".join(head + PACKET for head in heads))
    [file] = relay.output.rglob("channel0_0")
    wait_until(lambda: file.stat().st_size == 16 * COUNT, "the packets", SECONDS)
    for sequence in range(COUNT):
        words = (128, 128, sequence, sequence, 0, 0, 0, sequence)
        control.send(13, struct.pack(">10Q", stream, sequence, *words))
        if sequence % 256 == 255:
            control.receive(f">{256}I")
    control.receive(f">{COUNT % 256}I")
    assert control.is_pending(stream, COUNT - 1) == 0


def waiting_packets(relay, name):
    """Packets that are never told of."""
    _, data, stream = begun(relay, name)
    for sequence in range(0, 1 << 20, 1 << 10):
        numbers = range(sequence, sequence + (1 << 10))
        heads = [struct.pack(">QQQII", 0, stream, one, 16, 0) for one in numbers]
        data.socket.sendall(b"".join(head + PACKET for head in heads))


def waiting_indexes(relay, name):
    """What is to be known of packets that never come."""
    control, _, stream = begun(relay, name)
    for sequence in range(1 << 20):
        control.add_index(stream, sequence)


def many_streams(relay, name):
    """Streams, and each has a directory of its own."""
    control, _, _ = begun(relay, name)
    for number in range(1 << 20):
        _, status = control.add_stream(path=f"ust/pid/p{number}")
        if status != OK:
            raise OSError


def long_commands(relay, name):
    """Commands that never end."""
    for number in range(4):
        control, _, _ = begun(relay, f"{name}-{number}")
        control.socket.sendall(struct.pack(">QQII", 0, 15 << 20, 6, 0))
        for _ in range(14):
            control.socket.sendall(bytes(1 << 20))


def unread_replies(relay, name):
    """Commands whose replies nobody takes."""
    control, _, _ = begun(relay, name)
    control.socket.settimeout(0.2)
    command = struct.pack(">QQII", 0, 0, 99, 0) * (1 << 15)
    with suppress(TimeoutError):
        while True:
            control.socket.sendall(command)


HOSTILE = [
    waiting_packets,
    waiting_indexes,
    many_streams,
    long_commands,
    unread_replies,
]


def is_served(relay, name):
    """Tell whether a peer that does as it should is served."""
    try:
        control, data, stream = begun(relay, name)
        data.send(stream, 0, bytes(4096))
        assert control.add_index(stream, 0) == OK
        while control.is_pending(stream, 0):
            if is_gone(data.socket):
                return False
        assert control.close_stream(stream, NO_STREAM) == OK
    except (OSError, EOFError, AssertionError):
        return False
    finally:
        relay.disconnect()
    return True


def test_memory_is_bounded(relay):
    """Whatever peers do, and however often; others are served then."""
    names = (f"s{number}" for number in count())
    for turn in range(3):
        for hostile in HOSTILE:
            with suppress(OSError, EOFError):
                hostile(relay, next(names))
            relay.disconnect()
            wait_until(lambda: is_served(relay, next(names)), "memory", SECONDS)
        if turn == 0:
            before = most_memory(relay)
    assert before < (40 << 20) + LIMIT
    # Pieces of memory that are free between others are not the limit's.
    assert most_memory(relay) < before + 2 * LIMIT


def test_peers_without_a_session_make_room(tmp_path):
    """And viewers; the daemon goes on when it has no descriptors left."""
    limited = [sys.executable, "-c", REPORT]
    relay = RunningRelay(tmp_path, command=limited)
    with ExitStack() as close:
        for port in (relay.control, relay.data, relay.live):
            for _ in range(60):
                one = socket.create_connection(("127.0.0.1", port), SECONDS)
                close.callback(one.close)

        # They may give way a second after they have come.
        wait_until(lambda: is_served(relay, "good"), "a session", SECONDS)
        body = CONNECT.pack(0, 2, 4, 1)
        with socket.create_connection(("127.0.0.1", relay.live), SECONDS) as viewer:
            viewer.sendall(REQUEST.pack(len(body), Command.CONNECT, 0) + body)
            assert viewer.recv(CONNECT.size)
    relay.disconnect()
    status, said = relay.end()
    assert (status, "Traceback" in said) == (0, False), said
    # It does not say the same again and again.
    assert len(said.splitlines()) < 30
