"""The sender against a relay daemon that keeps what it gets."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from support.relay_receiver import PENDING, relay_receiver
from support.relay_senders import SECONDS, plan, sending
from support.spooled_traces import Trace
from support.waiting import wait_until
from vestige.record.relay import connection
from vestige.record.relay.messages import NOTHING
from vestige.record.relay.sender import RelaySender


def test_all_is_on_the_relay_after_a_flush(tmp_path: Path):
    """Packets, what indexes say, metadata; the order of a stream is that of its file."""
    with relay_receiver() as relay, sending(relay, tmp_path) as sender:
        trace = Trace(tmp_path)
        for number in range(3):
            trace.add("c_0", bytes([number]) * 5000)
            trace.add("c_1", bytes([100 + number]) * 4096, content=10)
        assert sender.flush(SECONDS)
        [session] = relay.sessions
        assert session.files() == {
            f"{trace.path}/metadata": b"first ",
            f"{trace.path}/c_0": b"".join(bytes([one]) * 5000 for one in range(3)),
            # What is behind the content of a packet is not sent.
            f"{trace.path}/c_1": b"".join(
                bytes([100 + one]) * 10 + bytes(4086) for one in range(3)
            ),
        }
        streams = {one.name: one for one in session.streams.values()}
        assert streams["c_0"].indexes == [
            (one, 40000, 40000, 10 * one, 10 * one + 9, 0, 0, 7, one)
            for one in range(3)
        ]
        assert session.chunks == [0]


def test_an_end_closes_streams_and_the_chunk(tmp_path: Path):
    """It says where the chunk is."""
    with relay_receiver() as relay, sending(relay, tmp_path) as sender:
        Trace(tmp_path).add("c_0", b"x" * 4096)
        assert sender.end(SECONDS, end=2000.0) == "machine/s/0"
        [session] = relay.sessions
        assert all(one.is_closed for one in session.streams.values())
        assert session.closed == [(0, NOTHING)]
        assert sender.lost_packets == 0


def test_a_relay_that_answers_late_is_waited_for_while_a_chunk_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The spool is looked at meanwhile: nobody may hold its lock."""
    monkeypatch.setattr(connection, "MOST_OPEN", 1)

    def late(command: int, answer: bytes) -> list[bytes | None]:
        if command == PENDING:
            # Longer than until the sender looks at its spool.
            time.sleep(0.1)
        return [answer]

    with (
        relay_receiver(confirms=False) as relay,
        sending(relay, tmp_path, on_full=lambda _: None) as sender,
    ):
        commands = relay.sessions[0].commands
        trace = Trace(tmp_path)
        trace.add("c_0", b"1" * 4096)
        wait_until(lambda: PENDING in commands, "it is asked", SECONDS)
        relay.spoil = late
        with sender.paused():
            trace.clear()
            chunk = sender.end_chunk(None, 1500.0, is_removed=True)
        many = commands.count(PENDING)
        wait_until(
            lambda: commands.count(PENDING) > many + 2, "it is asked again", SECONDS
        )
        relay.confirms = True
        assert sender.wait_for(chunk, SECONDS)


def test_a_relay_that_refuses_all_is_asked_now_and_then(tmp_path: Path):
    """Also while somebody waits for it; streams that it does not take are told."""
    with relay_receiver(refused=1) as relay, sending(relay, tmp_path) as sender:
        Trace(tmp_path).add("c_0", b"x" * 4096)
        assert not sender.flush(1.0)
        wait_until(lambda: len(relay.sessions) > 1, "it is asked again", SECONDS)
        assert "does not add the stream" in str(sender.failure)
        assert len(relay.sessions) < 10


def test_what_a_relay_without_a_chunk_never_got_is_counted(tmp_path: Path):
    """Nothing of the spool was looked at by then."""
    with relay_receiver(refused=19) as relay:
        trace = Trace(tmp_path)
        trace.add("c_0", b"x" * 4096)
        sender = RelaySender(plan(relay, tmp_path))
        sender.connect()
        sender.start(0, 1000.0)
        assert sender.end(0.2, end=2000.0) is None
        assert (sender.lost_packets, sender.lost_bytes) == (1, 4096)
        assert "does not begin a chunk" in str(sender.failure)


def test_a_relay_that_confirms_nothing_is_why_it_has_failed(tmp_path: Path):
    """Its connection is closed by the sender: that is not the reason."""
    with relay_receiver(confirms=False) as relay:
        Trace(tmp_path).add("c_0", b"x" * 4096)
        sender = RelaySender(plan(relay, tmp_path))
        sender.connect()
        sender.start(0, 1000.0)
        assert sender.end(0.2, end=2000.0) is None
        assert "confirms nothing" in str(sender.failure)
