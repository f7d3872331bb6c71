"""How chunks end on a relay daemon."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import rmtree

import pytest

from support.relay_receiver import relay_receiver
from support.relay_senders import SECONDS, plan, sending
from support.spooled_traces import Trace
from support.waiting import wait_until
from vestige.record.backends.lttng_ust.trace_files import OwnerFiles, tell_live
from vestige.record.relay import chunk_end
from vestige.record.relay.messages import DELETE, MOVE, NOTHING


def test_chunks_follow_each_other(tmp_path: Path):
    """What was recorded before a rotation is in the chunk that has ended."""
    with relay_receiver() as relay, sending(relay, tmp_path) as sender:
        Trace(tmp_path).add("c_0", b"1" * 4096)
        with sender.paused():
            (tmp_path / "archives").mkdir()
            (tmp_path / "ust").rename(tmp_path / "archives" / "first")
            chunk = sender.end_chunk(str(tmp_path / "archives" / "first"), 1500.0)
        # It is found where it is now, as what it has below that.
        Trace(tmp_path).add("c_0", b"2" * 4096)
        assert sender.wait_for(chunk, SECONDS)
        assert sender.end(SECONDS, end=2000.0, what=MOVE) == "machine/s/1"
        [session] = relay.sessions
        assert session.chunks == [0, 1]
        assert session.closed == [(0, MOVE), (1, MOVE)]
        raw = {(one.chunk, one.name): one.raw for one in session.streams.values()}
        assert raw[1, "c_0"] == b"2" * 4096
        assert raw[0, "c_0"] == b"1" * 4096


def test_streams_of_a_live_session_go_on_after_a_clear(tmp_path: Path):
    """Also after two, with nothing between them: viewers keep what they have.

    Those of a trace that is not there any more are closed.
    """
    with relay_receiver() as relay:
        session = plan(relay, tmp_path).session._replace(live_timer=1000)
        with sending(relay, tmp_path, session=session) as sender:
            trace, ended = Trace(tmp_path), Trace(tmp_path, "ust/pid/ended")
            for name in ("c_0", "c_0", "c_0", "c_1"):
                trace.add(name, b"1" * 4096)
            ended.add("c_0", b"0" * 4096)
            assert sender.flush(SECONDS)
            chunks = []
            for _ in range(2):
                with sender.paused():
                    trace.clear()
                    rmtree(ended.folder, ignore_errors=True)
                    chunks.append(sender.end_chunk(None, 1500.0, is_removed=True))
            assert all(sender.wait_for(one, SECONDS) for one in chunks)
            [kept] = relay.sessions
            streams = {(one.path, one.name): one for one in kept.streams.values()}
            assert len(streams) == len(kept.streams) == 5
            assert {path for (path, _), one in streams.items() if one.is_closed} == {
                ended.path
            }
            numbers = {
                one.name: number
                for number, one in kept.streams.items()
                if one.path == trace.path
            }
            places = {numbers["c_0"]: 3, numbers["c_1"]: 1, numbers["metadata"]: 0}
            assert kept.rotated == [(1, places), (2, places)]
            assert kept.closed == [(0, DELETE), (1, DELETE)]
            # Nothing of the other stream has come yet.
            trace.add("c_0", b"2" * 4096)
            files = OwnerFiles(str(tmp_path), os.getuid(), os.getgid())
            tell_live(files, str(trace.folder), 77)
            quiet = streams[trace.path, "c_1"]
            wait_until(lambda: len(quiet.indexes) == 2, "the beacon comes", SECONDS)
            assert sender.end(SECONDS, end=2000.0) is not None
            assert streams[trace.path, "c_0"].raw == b"1" * 3 * 4096 + b"2" * 4096
            # Metadata are sent again, as LTTng does.
            assert streams[trace.path, "metadata"].raw == b"first first "
            assert all(one.is_closed for one in streams.values())
            assert kept.closed[2:] == [(2, NOTHING)]


def test_a_chunk_that_is_removed_is_not_sent(tmp_path: Path):
    """The relay daemon removes what it has of it."""
    with relay_receiver() as relay, sending(relay, tmp_path) as sender:
        trace = Trace(tmp_path)
        assert sender.flush(SECONDS)
        with sender.paused():
            for one in (trace.folder / "index").iterdir():
                one.unlink()
            chunk = sender.end_chunk(None, 1500.0, is_removed=True)
        assert sender.wait_for(chunk, SECONDS)
        trace.add("c_0", b"2" * 4096)
        assert sender.flush(SECONDS)
        [session] = relay.sessions
        assert session.closed == [(0, DELETE)]
        assert [one.chunk for one in session.streams.values() if one.name == "c_0"] == [
            1
        ]


def test_a_spool_stays_bounded_while_a_chunk_is_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A relay daemon may take its time for that."""
    monkeypatch.setattr(chunk_end, "CLOSED_SECONDS", 60.0)
    told: list[bool] = []
    with relay_receiver() as relay, sending(relay, tmp_path, on_full=told.append) as it:
        Trace(tmp_path).add("c_0", b"1" * 4096)
        relay.still_has = 1 << 30
        with it.paused():
            (tmp_path / "ust").rename(tmp_path / "first")
            chunk = it.end_chunk(str(tmp_path / "first"), 1500.0)
        wait_until(lambda: bool(relay.asked_for), "it is waited for", SECONDS)
        Trace(tmp_path).add("c_0", b"2" * (1 << 21))
        wait_until(lambda: told == [True], "it is full", SECONDS)
        assert not chunk.is_done
        relay.still_has = 0
        assert it.wait_for(chunk, SECONDS)
        assert it.flush(SECONDS)
        assert told == [True, False]
