"""Connections that are refused, lost and made anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.relay_receiver import relay_receiver
from support.relay_senders import SECONDS, plan, sending
from support.spooled_traces import Trace
from support.waiting import wait_until
from vestige.record.relay import link
from vestige.record.relay.connection import RelayRefusedError
from vestige.record.relay.messages import MOVE
from vestige.record.relay.sender import RelaySender


def test_what_still_has_the_lost_connection_gets_another_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """It may write what it had got at any time: so it is not written there again."""
    monkeypatch.setattr(link, "GONE_SECONDS", 0.3)
    again: list[int] = []
    with (
        relay_receiver() as relay,
        sending(relay, tmp_path, on_again=lambda: again.append(1)) as sender,
    ):
        trace = Trace(tmp_path)
        trace.add("c_0", b"1" * 4096)
        assert sender.flush(SECONDS)
        relay.has_lost = True
        relay.break_off()
        trace.add("c_0", b"2" * 4096)
        wait_until(lambda: len(relay.sessions) > 1, "it connects again", SECONDS)
        assert sender.flush(SECONDS)
        first, second = relay.sessions
        assert second.files() == {
            f"{trace.path}/metadata": b"first ",
            f"{trace.path}/c_0": b"2" * 4096,
        }
        assert second.created > first.created
        assert again == [1]


@pytest.mark.parametrize(("minor", "refused"), [(10, 0), (13, 2)])
def test_a_relay_that_refuses_is_told(tmp_path: Path, minor: int, refused: int):
    """One that is too old, or takes no session."""
    with (
        relay_receiver(minor, refused) as relay,
        pytest.raises(RelayRefusedError, match="the relay daemon"),
    ):
        RelaySender(plan(relay, tmp_path)).connect()


def test_nobody_there_is_an_error(tmp_path: Path):
    """It is told at once."""
    with relay_receiver() as relay:
        made = plan(relay, tmp_path)
        relay.close()
        with pytest.raises(OSError, match="refused"):
            RelaySender(made).connect()


def test_after_a_rotation_a_chunk_goes_on_where_it_was(tmp_path: Path):
    """The relay daemon is told that there were archives: then it has its own directory."""
    again: list[int] = []
    with (
        relay_receiver() as relay,
        sending(relay, tmp_path, on_again=lambda: again.append(1)) as sender,
    ):
        Trace(tmp_path).add("c_0", b"1" * 4096)
        with sender.paused():
            (tmp_path / "ust").rename(tmp_path / "first")
            chunk = sender.end_chunk(str(tmp_path / "first"), 1500.0)
        relay.still_has = 2
        assert sender.wait_for(chunk, SECONDS)
        # It is asked until it has moved it.
        assert relay.asked_for == [0, 0, 0]
        trace = Trace(tmp_path)
        trace.add("c_0", b"2" * 4096)
        assert sender.flush(SECONDS)
        relay.break_off()
        trace.add("c_0", b"3" * 4096)
        wait_until(lambda: len(relay.sessions) > 1, "it is back", SECONDS)
        assert sender.flush(SECONDS)
        first, second = relay.sessions
        assert first.created == second.created
        nothing = link.NUMBERS_OF_NONE + 1
        assert second.chunks == [nothing, 1]
        assert second.closed == [(nothing, MOVE)]
        assert not again
        files = {
            one.name: one.raw
            for session in relay.sessions
            for one in session.streams.values()
            if one.chunk == 1 and one.name != "metadata"
        }
        assert b"".join(files.values())[::4096] == b"23"
