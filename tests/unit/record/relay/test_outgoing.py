"""What goes on the wire of traces."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from support.relay_receiver import ADD_STREAM, INDEX, SENT, relay_receiver
from support.relay_senders import SECONDS, plan, sending
from support.spooled_traces import Trace
from support.waiting import wait_until
from vestige.record.backends.lttng_ust.trace_files import OwnerFiles, tell_live


def test_metadata_grow_and_begin_anew(tmp_path: Path):
    """What was sent is not sent again; another beginning is."""
    with relay_receiver() as relay, sending(relay, tmp_path) as sender:
        trace = Trace(tmp_path)
        assert sender.flush(SECONDS)
        trace.describe(b"second")
        assert sender.flush(SECONDS)
        [stream] = relay.sessions[0].streams.values()
        assert (stream.raw, stream.resets) == (b"first second", 0)
        trace.describe(b"other", is_new=True)
        assert sender.flush(SECONDS)
        assert (stream.raw, stream.resets) == (b"other", 1)
        # As after 'regenerate metadata', where the clock has not changed.
        os.utime(trace.folder / "metadata", ns=(0, 0))
        assert sender.flush(SECONDS)
        assert (stream.raw, stream.resets) == (b"other", 2)


def test_files_without_an_index_are_sent_at_the_end(tmp_path: Path):
    """By what their packets say; files of others are no streams."""
    with relay_receiver() as relay, sending(relay, tmp_path) as sender:
        trace = Trace(tmp_path)
        head = struct.pack(
            "=I16sIQQQQQQQ", 0xC1FC1FC1, b"", 3, 4, 5, 6, 800, 1024, 7, 8
        )
        (trace.folder / "lost").write_bytes(head.ljust(128, b"\0") * 2)
        (trace.folder / "other").write_bytes(b"x" * 4096)
        assert sender.flush(SECONDS)
        assert [one.name for one in relay.sessions[0].streams.values()] == ["metadata"]
        assert sender.end(SECONDS, end=2000.0) is not None
        [_, stream] = relay.sessions[0].streams.values()
        assert stream.name == "lost"
        assert [one[1:] for one in stream.indexes] == [
            (1024, 800, 5, 6, 8, 3, 4, 7)
        ] * 2
        assert len(stream.raw) == 256


def test_viewers_are_told_that_nothing_comes(tmp_path: Path):
    """Of streams that have packets, up to the time that the recorder tells."""
    with relay_receiver() as relay:
        session = plan(relay, tmp_path).session._replace(live_timer=1000)
        with sending(relay, tmp_path, session=session) as sender:
            trace = Trace(tmp_path)
            trace.add("c_0", b"x" * 4096)
            assert sender.flush(SECONDS)
            files = OwnerFiles(str(tmp_path), os.getuid(), os.getgid())
            tell_live(files, str(trace.folder), 77)
            streams = [*relay.sessions[0].streams.values()]
            [stream] = [one for one in streams if one.name == "c_0"]
            wait_until(lambda: len(stream.indexes) == 2, "the beacon comes", SECONDS)
            assert stream.indexes[1] == (0, 0, 0, 0, 77, 0, 0, 0, 0)
            # Once, and none that is older than a packet.
            trace.add("c_0", b"x" * 4096)
            assert sender.flush(SECONDS)
            assert len(stream.indexes) == 3


def test_a_live_trace_without_packets_is_there_after_a_flush(tmp_path: Path):
    """Viewers see it as soon as it has a packet."""
    with relay_receiver() as relay:
        session = plan(relay, tmp_path).session._replace(live_timer=1000)
        with sending(relay, tmp_path, session=session) as sender:
            trace = Trace(tmp_path)
            assert sender.flush(SECONDS)
            [session] = relay.sessions
            assert session.files() == {f"{trace.path}/metadata": b"first "}
            assert SENT not in session.commands
            trace.add("c_0", b"x" * 4096)
            assert sender.flush(SECONDS)
            assert session.commands.count(SENT) == 1
            assert len(session.files()) == 2


def test_metadata_of_live_sessions_are_not_sent_anew(tmp_path: Path):
    """LTTng's relay daemon refuses that: what is longer is sent, as viewers go on."""
    with relay_receiver(refused=17) as relay:
        session = plan(relay, tmp_path).session._replace(live_timer=1000)
        with sending(relay, tmp_path, session=session) as sender:
            trace = Trace(tmp_path)
            trace.add("c_0", b"x" * 4096)
            assert sender.flush(SECONDS)
            trace.describe(b"other", is_new=True)
            assert sender.flush(SECONDS)
            trace.describe(b"+second", is_new=False)
            assert sender.flush(SECONDS)
            [kept] = relay.sessions
            assert kept.files()[f"{trace.path}/metadata"] == b"first second"


def test_all_new_streams_are_published_before_packets(tmp_path: Path):
    """Also those of other traces: a viewer has seen nothing that is younger."""
    with relay_receiver() as relay:
        session = plan(relay, tmp_path).session._replace(live_timer=1000)
        with sending(relay, tmp_path, session=session) as sender:
            with sender.paused():
                for path in ("ust/a", "ust/b"):
                    Trace(tmp_path, path).add("c_0", b"x" * 4096)
            assert sender.flush(SECONDS)
            [kept] = relay.sessions
            commands = [
                one for one in kept.commands if one in {ADD_STREAM, SENT, INDEX}
            ]
            assert commands == [ADD_STREAM] * 4 + [SENT] + [INDEX] * 2


def test_snapshots_have_no_index(tmp_path: Path):
    """Relay daemons take none."""
    with relay_receiver() as relay:
        session = plan(relay, tmp_path).session._replace(is_snapshot=True)
        with sending(relay, tmp_path, session=session) as sender:
            Trace(tmp_path).add("c_0", b"x" * 4096)
            assert sender.flush(SECONDS)
            [kept] = relay.sessions
            assert not any(one.indexes for one in kept.streams.values())
