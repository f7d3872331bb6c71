"""Live sessions, of a relay daemon that follows a script."""

from __future__ import annotations

import random
import struct
from collections import Counter

import pytest

from support.ctf_writer import Packet, Trace, numbered, packetised_metadata
from support.relay import INDEX, METADATA, PACKET, Served, relay
from support.waiting import wait_until
from vestige.components.registry import Registry
from vestige.components.sources import lttng_live
from vestige.components.sources.lttng_live import LttngLiveSource
from vestige.errors import TraceFormatError
from vestige.graph import Selection
from vestige.graph.mux import merges
from vestige.live import LiveUrl

METADATA_BYTES = packetised_metadata(Trace().metadata())


def served(start, count=2, padding=0, **facts):
    """Return a data stream of packets with three events each."""
    packets = [
        Packet(numbered(3, start=start + 10 * number), sequence=number, padding=padding)
        for number in range(count)
    ]
    ends = [packet.events[-1].timestamp for packet in packets]
    return Served(steps=[one.encode() for one in packets], ends=ends, **facts)


def read(other, action="end", found=None):
    """Return the values of all events that a source gets."""
    source = LttngLiveSource(LiveUrl.parse(other.url), action)
    found = [] if found is None else found
    try:
        for merge in merges(
            [], feeds={source: Selection()}, retry_duration=0, tell=found.append
        ):
            found += [one["value"] for one in merge.events()]
    finally:
        source.close()
    return found


@pytest.mark.parametrize("most", [1 << 20, 100])
def test_data_streams_are_merged(most):
    """In time order, whatever part of a packet comes at once."""
    with relay([served(0), served(5)], [METADATA_BYTES], most) as other:
        found = read(other)
    assert found == [0, 1, 2, 5, 6, 7, 10, 11, 12, 15, 16, 17]


def test_what_is_known_of_traces_and_data_streams():
    """Names are those of Babeltrace 2, and traces have none."""
    with relay([served(0), served(5)], [METADATA_BYTES]) as other:
        source = LttngLiveSource(LiveUrl.parse(other.url), "end")
        while not source.streams:
            source.poll(())
        trace = source.streams[0].trace
        assert (trace.has_name, trace.grown) == (False, source.streams)
        assert [one.name for one in source.streams] == ["stream-0", "stream-1"]
        source.close()


def test_who_is_inactive_lets_the_others_go_on():
    """And data streams that appear later are in their place."""
    quiet = Served(steps=[1_002_000, "retry", 1_030_000, "retry"])
    later = served(1, is_announced_later=True)
    with relay([served(0), quiet, later], [METADATA_BYTES]) as other:
        found = read(other)
    assert found == [0, 1, 1, 2, 2, 3, 10, 11, 11, 12, 12, 13]


def test_who_is_only_inactive_holds_nothing_back():
    """Times of data streams without a packet count, too."""
    quiet = Served(steps=[*range(1_002_000, 1_200_000, 1_000)])
    with relay([served(0), quiet], [METADATA_BYTES]) as other:
        source = LttngLiveSource(LiveUrl.parse(other.url), "end")
        found = []
        for merge in merges(
            [], feeds={source: Selection()}, retry_duration=0, tell=found.append
        ):
            found += [one["value"] for one in merge.events()]
            if len(found) == 6:
                break
        assert len(quiet.steps) > 100
        source.close()
    assert found == [0, 1, 2, 10, 11, 12]


def test_packets_that_wait_for_an_unknown_data_stream_stay():
    """However often one that is new is asked for before it tells when it begins."""
    later = served(1, is_announced_later=True)
    later.steps[:0] = ["retry"] * 9
    counts: Counter[str] = Counter()
    with relay([served(0, 5, padding=300_000)], [METADATA_BYTES]) as other:
        source = LttngLiveSource(LiveUrl.parse(other.url), "end")
        for _ in range(30):
            for stream, part in source.poll(source.streams[:1]).parts:
                counts[stream.name] += part.packet_count
            if counts and later not in other.streams:
                other.streams.append(later)
        source.close()
    assert counts == {"stream-0": 5, "stream-1": 2}


def test_small_packets_are_read_together():
    """As packets of one part."""
    with relay([served(0, 5)], [METADATA_BYTES]) as other:
        source = LttngLiveSource(LiveUrl.parse(other.url), "end")
        parts = []
        while not parts:
            parts = source.poll(source.streams).parts
        assert [part.packet_count for _, part in parts] == [5]
        source.close()


def test_the_next_packet_comes_while_one_is_read():
    """One, however long nobody needs it."""
    with relay([served(0, 3, padding=300_000)], [METADATA_BYTES]) as other:
        source = LttngLiveSource(LiveUrl.parse(other.url), "end")
        while not source.poll(source.streams).parts:
            pass
        wait_until(
            lambda: other.commands.count(INDEX) == 3, "the index behind it", 30.0
        )
        assert other.commands.count(PACKET) == 4
        assert not source.poll(()).parts
        assert other.commands.count(PACKET) == 4
        assert len(source.poll(source.streams).parts) == 1
        source.close()


def test_metadata_come_in_parts():
    """Until they say enough, nothing is read; a part may end anywhere."""
    text = Trace().metadata().encode()
    parts = [b"", text[:300], b"", text[300:]]
    with relay([served(0)], parts) as other:
        assert read(other) == [0, 1, 2, 10, 11, 12]


@pytest.mark.parametrize("command", [INDEX, METADATA, PACKET])
def test_a_relay_daemon_that_goes_away(command):
    """One error, at once."""
    with (
        relay(
            [served(0)],
            [METADATA_BYTES],
            answer=lambda c: b"" if c == command else None,
        ) as other,
        pytest.raises(TraceFormatError, match=r"closed the connection|reset by peer"),
    ):
        read(other)


def test_what_has_come_of_a_relay_daemon_that_goes_away():
    """It is shown before the error, whether something older could have come or not."""
    indexes = iter([None, None, None, b""])
    found = []
    with (
        relay(
            [served(0), served(5)],
            [METADATA_BYTES],
            answer=lambda command: next(indexes) if command == INDEX else None,
        ) as other,
        pytest.raises(TraceFormatError, match=r"closed the connection|reset by peer"),
    ):
        read(other, found=found)
    assert found == [0, 1, 2, 5, 6, 7]


@pytest.mark.parametrize("seed", range(30))
def test_rubbish_is_an_error(seed):
    """Whatever is sent in place of an answer, and in place of a packet."""
    chance = random.Random(seed)  # noqa: S311 - repeatable
    command = chance.choice([2, 3, 4, 5, 6, 7])
    instead = chance.randbytes(chance.randrange(64))
    stream = served(0)
    if seed % 3 == 0:
        stream.steps = [chance.randbytes(200)]
        instead, command = None, 0
    with (
        relay(
            [stream],
            [METADATA_BYTES],
            answer=lambda c: instead if c == command else None,
        ) as other,
        pytest.raises(TraceFormatError),
    ):
        read(other)


def test_data_streams_without_end_are_an_error(monkeypatch):
    """Whoever tells of new ones again and again fills no memory."""
    monkeypatch.setattr(lttng_live, "MOST_STREAMS", 100)
    quiet = Served(steps=["retry"] * 1000)
    with relay([quiet], [METADATA_BYTES]) as other:
        more = struct.pack(">II", 1, 30) + 30 * other._listed(0)
        monkeypatch.setattr(other, "_new_streams", lambda: more)
        with pytest.raises(TraceFormatError, match="more than 100 data streams"):
            read(other)


def test_no_such_session():
    """What is done then is a parameter."""
    with relay([served(0)], [METADATA_BYTES]) as other:
        url = LiveUrl.parse(other.url.replace("session", "another"))
        with pytest.raises(TraceFormatError, match="no such session"):
            LttngLiveSource(url, "fail")
        source = LttngLiveSource(url, "end")
        assert source.poll(()).is_end
        waiting = LttngLiveSource(url, "continue")
        assert not waiting.poll(()).has_news
        waiting.close()


def test_queries():
    """Those of Babeltrace 2."""
    registry, name = Registry(), "source.ctf.lttng-live"
    with relay([served(0)], []) as other:
        base = other.url.partition("/host")[0]
        assert registry.query(name, "sessions", {"url": base}) == [
            {
                "url": other.url,
                "target-hostname": "machine",
                "session-name": "session",
                "timer-us": 1000,
                "stream-count": 1,
                "client-count": 0,
            }
        ]
    for text, kind, weight in (
        ("net://h/host/m/s", "string", 0.75),
        ("net://h", "string", 0.0),
        ("net://h/host/m/s", "file", 0.0),
    ):
        params = {"input": text, "type": kind}
        assert registry.query(name, "babeltrace.support-info", params) == weight
