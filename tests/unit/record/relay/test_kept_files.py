"""What is kept of what was sent, for connections that are lost."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from support.relay_receiver import RelayReceiver, relay_receiver
from support.relay_senders import SECONDS, kept_files, plan, sending, wait_for_break
from support.spooled_traces import Trace
from support.waiting import wait_until
from vestige.record.relay import kept_files as kept_files_module
from vestige.record.relay.sender import RelaySender


def test_memory_is_given_back_once_a_file_has_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The one here keeps its size, without its blocks but those of its ends."""
    monkeypatch.setattr(kept_files_module, "LARGEST_FILES", 300_000)
    with relay_receiver() as relay, sending(relay, tmp_path) as sender:
        trace = Trace(tmp_path)
        trace.add("c_0", b"x" * 399_000)
        trace.add("c_0", b"x" * 1000)
        assert sender.flush(SECONDS)
        found = (trace.folder / "c_0").stat()
        assert found.st_size == 400_000
        assert found.st_blocks * 512 <= 3 * 4096


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
    monkeypatch.setattr(kept_files_module, "LARGEST_FILES", largest)
    monkeypatch.setattr(kept_files_module, "SMALLEST_FILE", 1)
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


@pytest.mark.parametrize("largest", [6000, 1 << 20])
def test_a_sender_goes_on_where_another_one_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, largest: int
):
    """Where that has noted; without its note, with what has not been given back."""
    monkeypatch.setattr(kept_files_module, "LARGEST_FILES", largest)
    monkeypatch.setattr(kept_files_module, "SMALLEST_FILE", 1)
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


@pytest.mark.parametrize("largest", [8192, 1 << 20])
def test_a_live_session_goes_on_as_long_as_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, largest: int
):
    """Its streams are one file each, also after a clear: all of it is sent again."""
    monkeypatch.setattr(kept_files_module, "LARGEST_FILES", largest)
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
