"""What a sender sees of its spool."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

from support.relay_receiver import relay_receiver
from support.relay_senders import SECONDS, sending
from support.spooled_traces import Trace
from support.waiting import wait_until


def test_a_spool_that_is_full_is_told(tmp_path: Path):
    """And that it has room again; what is given up at the end is counted."""
    told: list[bool] = []
    with (
        relay_receiver(confirms=False) as relay,
        sending(relay, tmp_path, room=10_000, on_full=told.append) as sender,
    ):
        trace = Trace(tmp_path)
        for _ in range(3):
            trace.add("c_0", b"x" * 4096)
        wait_until(lambda: told == [True], "it is full", SECONDS)
        relay.confirms = True
        wait_until(lambda: told == [True, False], "it has room", SECONDS)
        relay.close()
        trace.add("c_0", b"x" * 4096)
        assert sender.end(0.3, end=2000.0) is None
        assert (sender.lost_packets, sender.lost_bytes) == (1, 4096)


def test_links_in_a_spool_are_not_followed(tmp_path: Path):
    """Whoever owns the spool cannot make root's daemon send what only root can read."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"s" * 4096)
    spool = tmp_path / "spool"
    with relay_receiver() as relay, sending(relay, spool) as sender:
        trace = Trace(spool)
        trace.add("c_0", b"1" * 4096)
        trace.add("c_1", b"1" * 4096)
        (trace.folder / "c_0").unlink()
        (trace.folder / "c_0").symlink_to(secret)
        assert sender.flush(SECONDS)
        names = {one.name for one in relay.sessions[0].streams.values()}
        assert "c_0" not in names
        assert "c_1" in names


def test_a_relay_that_takes_nothing_leaves_the_spool_bounded(tmp_path: Path):
    """While the thread waits for it, it sees what comes, also in new streams."""
    told: list[bool] = []
    with relay_receiver() as relay:
        relay.is_stopped = True
        with sending(relay, tmp_path, on_full=told.append) as sender:
            trace = Trace(tmp_path)
            # More than the system keeps of a connection.
            for number in range(16):
                trace.add(f"c_{number}", b"x" * (1 << 20))
            wait_until(lambda: told == [True], "it is full", SECONDS)
            relay.is_stopped = False
            assert sender.flush(SECONDS)
            assert told == [True, False]


def test_a_lack_of_descriptors_loses_nothing(tmp_path: Path):
    """What cannot be opened now is sent later."""
    with relay_receiver() as relay, sending(relay, tmp_path) as sender:
        trace = Trace(tmp_path)
        trace.add("c_0", b"1" * 4096)
        assert sender.flush(SECONDS)
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        taken: list[int] = []
        with sender.paused():
            trace.describe(b"second ")
            trace.add("c_1", b"2" * 4096)
            resource.setrlimit(resource.RLIMIT_NOFILE, (200, before[1]))
            with suppress(OSError):
                while True:
                    taken.append(os.dup(0))
        try:
            assert not sender.flush(0.5)
        finally:
            for one in taken:
                os.close(one)
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        wait_until(lambda: sender.flush(SECONDS), "all is sent", SECONDS)
        found = [session.files() for session in relay.sessions]
        assert found[-1][f"{trace.path}/metadata"] == b"first second "
        assert any(one.get(f"{trace.path}/c_1") == b"2" * 4096 for one in found)
