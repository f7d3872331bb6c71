"""The sender against a relay daemon that keeps what it gets."""

from __future__ import annotations

import os
import resource
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from shutil import rmtree

import pytest

from support.relay_receiver import (
    ADD_STREAM,
    INDEX,
    PENDING,
    SENT,
    RelayReceiver,
    relay_receiver,
)
from support.spooled_traces import Trace
from support.waiting import wait_until
from vestige.record.backends.lttng_ust.trace_files import OwnerFiles, tell_live
from vestige.record.relay import connection
from vestige.record.relay import sender as sender_module
from vestige.record.relay.connection import (
    RelayAddress,
    RelayConnection,
    RelayRefusedError,
)
from vestige.record.relay.messages import DELETE, MOVE, NOTHING, SessionFacts
from vestige.record.relay.sender import RelaySender, SenderPlan

SECONDS = 10.0


def plan(relay: RelayReceiver, spool: Path, **changes: object) -> SenderPlan:
    """Return what is sent, and where to."""
    session = SessionFacts("s", "machine", "", bytes(range(16)), 1, 1000)
    address = RelayAddress("127.0.0.1", relay.control_port, relay.data_port)
    made = SenderPlan(address, session, str(spool), os.getuid(), os.getgid(), 1 << 20)
    return made._replace(**changes)


@contextmanager
def sending(
    relay: RelayReceiver, spool: Path, **changes: object
) -> Iterator[RelaySender]:
    """Have a sender that runs."""
    callbacks = {
        one: changes.pop(one)
        for one in ("on_full", "on_again", "is_resumed")
        if one in changes
    }
    sender = RelaySender(plan(relay, spool, **changes), **callbacks)  # type: ignore[arg-type]
    if "is_resumed" not in callbacks:
        sender.connect()
    sender.start(0, 1000.0)
    try:
        yield sender
    finally:
        relay.close()
        sender.end(0.0, end=2000.0)


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


def test_memory_is_given_back_once_a_file_has_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The one here keeps its size, without its blocks but those of its ends."""
    monkeypatch.setattr(sender_module, "LARGEST_FILES", 300_000)
    with relay_receiver() as relay, sending(relay, tmp_path) as sender:
        trace = Trace(tmp_path)
        trace.add("c_0", b"x" * 399_000)
        trace.add("c_0", b"x" * 1000)
        assert sender.flush(SECONDS)
        found = (trace.folder / "c_0").stat()
        assert found.st_size == 400_000
        assert found.st_blocks * 512 <= 3 * 4096


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


def test_a_flush_waits_for_metadata(tmp_path: Path):
    """Also where no packet comes after them."""
    with relay_receiver() as relay, sending(relay, tmp_path) as sender:
        trace = Trace(tmp_path)
        trace.add("c_0", b"x" * 4096)
        assert sender.flush(SECONDS)
        relay.takes_metadata.clear()
        trace.describe(b"other", is_new=True)
        assert not sender.flush(0.5)
        relay.takes_metadata.set()
        assert sender.flush(SECONDS)
        stream = next(iter(relay.sessions[0].streams.values()))
        assert (stream.raw, stream.resets) == (b"other", 1)


def test_what_the_kernel_has_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A slow network takes long for what was sent already."""
    left = [*range(20)]

    def queued(_: RelayConnection) -> int:
        return left.pop() if left else 0

    with relay_receiver(confirms=False) as relay, sending(relay, tmp_path) as sender:
        Trace(tmp_path).add("c_0", b"x" * 4096)
        monkeypatch.setattr(RelayConnection, "queued", property(queued))
        assert not sender.flush(0.3)
        assert not left


def test_an_end_closes_streams_and_the_chunk(tmp_path: Path):
    """It says where the chunk is."""
    with relay_receiver() as relay, sending(relay, tmp_path) as sender:
        Trace(tmp_path).add("c_0", b"x" * 4096)
        assert sender.end(SECONDS, end=2000.0) == "machine/s/0"
        [session] = relay.sessions
        assert all(one.is_closed for one in session.streams.values())
        assert session.closed == [(0, NOTHING)]
        assert sender.lost_packets == 0


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


def test_a_spool_stays_bounded_while_a_chunk_is_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A relay daemon may take its time for that."""
    monkeypatch.setattr(sender_module, "CLOSED_SECONDS", 60.0)
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


def kept_files(relay: RelayReceiver) -> dict[str, bytes]:
    """Return what a relay daemon has: what it is sent again is written anew."""
    there: dict[str, bytes] = {}
    for session in relay.sessions:
        there |= session.files()
    return there


def wait_for_break(relay: RelayReceiver) -> None:
    """Break a connection, and wait for the next one."""
    count = len(relay.sessions)
    relay.break_off()
    wait_until(lambda: len(relay.sessions) > count, "it is back", SECONDS)


def break_off_twice(relay: RelayReceiver, sender: RelaySender, trace: Trace) -> None:
    """Send packets of which some come, but are not confirmed."""
    trace.add("c_0", b"0" * 4096)
    assert sender.flush(SECONDS)
    relay.confirms = False
    for number in range(2):
        for digit in b"123"[number:]:
            trace.add("c_0", bytes([digit]) * 4096)
        wait_until(
            lambda: sum(map(len, relay.sessions[-1].files().values())) > 8192,
            "packets come",
            SECONDS,
        )
        wait_for_break(relay)
    relay.confirms = True
    assert sender.flush(SECONDS)


@pytest.mark.parametrize("largest", [4096, 12288, 1 << 20])
def test_each_packet_is_there_once_after_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, largest: int
):
    """Files that have not come as a whole are sent again from their beginnings."""
    monkeypatch.setattr(sender_module, "LARGEST_FILES", largest)
    monkeypatch.setattr(sender_module, "SMALLEST_FILE", 1)
    again: list[int] = []
    with (
        relay_receiver() as relay,
        sending(relay, tmp_path, on_again=lambda: again.append(1)) as sender,
    ):
        trace = Trace(tmp_path)
        break_off_twice(relay, sender, trace)
        facts = {(one.created, one.number) for one in relay.sessions}
        assert len(facts) == 1
        assert sender.end(SECONDS, end=2000.0) is not None
        there = kept_files(relay)
        files = [there[name] for name in sorted(there) if "/c_0" in name]
        assert b"".join(files)[::4096] == b"012323"
        assert len(files) == max(1, -(-6 * 4096 // largest))
        assert there[f"{trace.path}/metadata"] == b"first "
        assert not again
        assert sender.lost_packets == 0


def test_what_still_has_the_lost_connection_gets_another_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """It may write what it had got at any time: so it is not written there again."""
    monkeypatch.setattr(sender_module, "GONE_SECONDS", 0.3)
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


@pytest.mark.parametrize("largest", [6000, 1 << 20])
def test_a_sender_goes_on_where_another_one_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, largest: int
):
    """Where that has noted; without its note, with what has not been given back."""
    monkeypatch.setattr(sender_module, "LARGEST_FILES", largest)
    monkeypatch.setattr(sender_module, "SMALLEST_FILE", 1)
    trace = Trace(tmp_path)
    for number in range(1, 4):
        trace.add("c_0", bytes([number]) * 6000)
    with relay_receiver() as first, sending(first, tmp_path) as sender:
        assert sender.flush(SECONDS)
        note = (tmp_path / ".sent").read_bytes()
        before = kept_files(first)
    trace.add("c_0", b"4" * 6000)
    for is_noted in (True, False):
        (tmp_path / ".sent").write_bytes(note if is_noted else b"")
        again: list[int] = []
        with relay_receiver() as relay:
            options = {"on_again": partial(again.append, 1), "is_resumed": True}
            with sending(relay, tmp_path, **options) as sender:
                assert sender.flush(SECONDS)
                there = (before if is_noted else {}) | kept_files(relay)
        files = [there[name] for name in sorted(there) if "/c_0" in name]
        if is_noted:
            assert b"".join(files)[::6000] == b"\x01\x02\x034"
        else:
            assert b"".join(files)[-6000:] == b"4" * 6000
        # Programs describe their state once more if this is another trace.
        assert again == ([] if is_noted else [1])


def test_a_relay_that_refuses_all_is_asked_now_and_then(tmp_path: Path):
    """Also while somebody waits for it; streams that it does not take are told."""
    with relay_receiver(refused=1) as relay, sending(relay, tmp_path) as sender:
        Trace(tmp_path).add("c_0", b"x" * 4096)
        assert not sender.flush(1.0)
        wait_until(lambda: len(relay.sessions) > 1, "it is asked again", SECONDS)
        assert "does not add the stream" in str(sender.failure)
        assert len(relay.sessions) < 10


def test_snapshots_have_no_index(tmp_path: Path):
    """Relay daemons take none."""
    with relay_receiver() as relay:
        session = plan(relay, tmp_path).session._replace(is_snapshot=True)
        with sending(relay, tmp_path, session=session) as sender:
            Trace(tmp_path).add("c_0", b"x" * 4096)
            assert sender.flush(SECONDS)
            [kept] = relay.sessions
            assert not any(one.indexes for one in kept.streams.values())


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


def test_an_answer_that_comes_byte_by_byte_has_an_end(monkeypatch: pytest.MonkeyPatch):
    """However often there is another byte."""
    monkeypatch.setattr(connection, "SILENT_SECONDS", 0.3)
    control, data = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
    address = RelayAddress("127.0.0.1", *(s.getsockname()[1] for s in (control, data)))
    has_ended = threading.Event()

    def drip() -> None:
        peer, _ = control.accept()
        with peer, suppress(OSError):
            peer.sendall(struct.pack(">IIQII", 2, 13, 1, 10, 60000))
            while not has_ended.wait(0.05):
                peer.sendall(b"a")

    thread = threading.Thread(target=drip)
    thread.start()
    session = SessionFacts("s", "machine", "", bytes(range(16)), 1, 1000)
    with control, data, pytest.raises(TimeoutError, match="does not answer"):
        connection.RelayConnection(address, session)
    has_ended.set()
    thread.join()


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
        nothing = sender_module.NUMBERS_OF_NONE + 1
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


@pytest.mark.parametrize("largest", [8192, 1 << 20])
def test_a_live_session_goes_on_as_long_as_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, largest: int
):
    """Its streams are one file each, also after a clear: all of it is sent again."""
    monkeypatch.setattr(sender_module, "LARGEST_FILES", largest)
    with relay_receiver() as relay:
        session = plan(relay, tmp_path).session._replace(live_timer=1000)
        with sending(relay, tmp_path, session=session) as sender:
            trace = Trace(tmp_path)
            trace.add("c_0", b"0" * 4096)
            assert sender.flush(SECONDS)
            with sender.paused():
                trace.clear()
                chunk = sender.end_chunk(None, 1500.0, is_removed=True)
            assert sender.wait_for(chunk, SECONDS)
            for digit in b"123":
                trace.add("c_0", bytes([digit]) * 4096)
            assert sender.flush(SECONDS)
            is_noted = (tmp_path / ".sent").exists()
            relay.break_off()
            trace.add("c_0", b"4" * 4096)
            wait_until(lambda: len(relay.sessions) > 1, "it is back", SECONDS)
            assert sender.flush(SECONDS)
            first, second = relay.sessions
            raw = second.files()[f"{trace.path}/c_0"][::4096]
            is_kept = largest > 3 * 4096
            assert raw == (b"1234" if is_kept else b"4")
            assert (first.created == second.created) == is_kept
            assert is_noted == is_kept
            assert len(second.streams) == 2
