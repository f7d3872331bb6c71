"""Whatever a relay daemon says, it is read or refused, in bounded time and memory."""

from __future__ import annotations

import random
import tracemalloc
from contextlib import suppress

import pytest

from support.ctf_writer import Packet, Trace, numbered, packetised_metadata
from support.fuzzing import protocol_seeds
from support.relay import Relay, Served, relay
from vestige.components.sources.lttng_live import LttngLiveSource
from vestige.errors import TraceFormatError
from vestige.graph import Selection
from vestige.graph.growing import GrowingMuxer
from vestige.graph.mux import mux
from vestige.live import LiveUrl, connection

METADATA = packetised_metadata(Trace().metadata())
ROUNDS = 12
MOST_POLLS = 60
MOST_MEMORY = 64 << 20
NUMBERS = [0, 1, 2, 5, 8, 255, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]


def streams(chance):
    """Return two data streams, of a few packets and of times without events."""
    found = []
    for start in (0, 5):
        packets = [
            Packet(numbered(3, start=start + 10 * one), sequence=one)
            for one in range(3)
        ]
        ends = [packet.events[-1].timestamp for packet in packets]
        steps = [packet.encode() for packet in packets]
        steps.insert(chance.randrange(3), "retry")
        is_later = chance.random() < 0.3
        found.append(Served(steps=steps, ends=ends, is_announced_later=is_later))
    return found


def mangled(chance, answer):
    """Return an answer with some of its numbers, bits or bytes changed."""
    data = bytearray(answer)
    how = chance.randrange(5)
    if how == 0 and data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif how == 1 and len(data) >= 4:
        at = chance.randrange(len(data) // 4) * 4
        data[at : at + 4] = chance.choice(NUMBERS).to_bytes(4, "big")
    elif how == 2:
        del data[chance.randrange(len(data) + 1) :]
    elif how == 3:
        data += chance.randbytes(chance.randrange(40))
    else:
        at = chance.randrange(len(data) + 1)
        data[at : at + 8] = chance.randbytes(8)
    return bytes(data)


def read(url):
    """Read a session, for so many answers at most."""
    source = LttngLiveSource(LiveUrl.parse(url), "end")
    try:
        muxer = GrowingMuxer(mux([]), [], {source: Selection()}, ())
        for _ in range(MOST_POLLS):
            merge = muxer.next_merge()
            for event in merge.events() if merge is not None else ():
                assert isinstance(event["value"], int)
            if not muxer.can_grow and merge is None:
                return
            if muxer.can_grow:
                muxer.poll()
    finally:
        source.close()


@pytest.mark.parametrize("seed", protocol_seeds())
def test_answers_are_read_or_refused(seed, monkeypatch):
    """Those of a sound relay daemon, some of them changed on their way."""
    monkeypatch.setattr(connection, "LONGEST_SILENCE", 0.05)
    chance = random.Random(seed)  # noqa: S311 - repeatable
    rate = chance.choice([0.02, 0.1, 0.4])
    sound = Relay._answered

    def answered(self, command, body):
        answer = sound(self, command, body)
        return mangled(chance, answer) if chance.random() < rate else answer

    monkeypatch.setattr(Relay, "_answered", answered)
    tracemalloc.start()
    try:
        for _ in range(ROUNDS):
            with (
                relay(streams(chance), [METADATA], 4096) as other,
                suppress(TraceFormatError),
            ):
                read(other.url)
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()
