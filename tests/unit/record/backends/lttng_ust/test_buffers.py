"""Buffers of a channel are made for all CPUs, or not at all."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
from pathlib import Path

import pytest

from support.ring_writer import Writer
from vestige.record.backends.lttng_ust import buffers, trace_files
from vestige.record.backends.lttng_ust.buffers import TraceBuffers
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.plan import ChannelPlan, SessionPlan
from vestige.record.backends.lttng_ust.ring import HEADER_SIZE
from vestige.record.backends.lttng_ust.trace_files import INDEX_ENTRY

EVERYBODY = (None, None, None)


def content(folder, name):
    """Return what is in a file."""
    return Path(folder, name).read_bytes()


def test_a_channel_without_memory_leaves_no_rings(tmp_path, monkeypatch):
    """The next program finds the place free, and is recorded if there is memory."""
    channel = ChannelPlan("c", 4096, 4)
    ids = (os.getuid(), os.getgid())
    where = (None, str(tmp_path / "rings"))
    plan = SessionPlan(
        "s", *ids, 0.0, *where, False, True, False, (channel,), EVERYBODY
    )
    allocate, calls = os.posix_fallocate, []

    def is_full_once(file, at, size):
        calls.append(file)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "full")
        allocate(file, at, size)

    monkeypatch.setattr(os, "posix_fallocate", is_full_once)
    monkeypatch.setattr(buffers, "possible_cpus", lambda: 3)

    async def main():
        traces = TraceBuffers(plan, ("ust", "uid", "0"), {}, Clock())
        try:
            with pytest.raises(OSError, match="no room for "):
                traces.channel(channel)
            left = list(tmp_path.rglob("c_*"))
            return left, len(traces.channel(channel).rings)
        finally:
            traces.close()

    assert asyncio.run(main()) == ([], 3)


def test_a_trace_that_was_removed_is_made_anew(tmp_path):
    """With all metadata; what is recorded later can be read, and it is said once."""
    channel = ChannelPlan("c", 4096, 4)
    ids = (os.getuid(), os.getgid())
    where = (str(tmp_path / "out"), str(tmp_path / "rings"))
    plan = SessionPlan(
        "s", *ids, 0.0, *where, False, True, False, (channel,), EVERYBODY
    )

    async def main():
        traces = TraceBuffers(plan, ("ust", "uid", "0"), {}, Clock())
        try:
            [ring, *_] = traces.channel(channel).rings
            before = content(traces.folder, "metadata")
            told = []
            for _ in range(2):
                Writer(ring).write(100)
                await traces.complete()
                told.append(traces.take_failure())
                shutil.rmtree(tmp_path / "out")
            await traces.complete()
            told.append(traces.take_failure())
            Writer(ring).write(100)
            await traces.complete()
            told.append(traces.take_failure())
            size = len(content(traces.folder, "c_0"))
            return told, size, content(traces.folder, "metadata") == before
        finally:
            traces.close()

    told, size, is_whole = asyncio.run(main())
    text = "was removed while it was written"
    assert [one and one.strerror for one in told] == [None, text, text, None]
    assert (size, is_whole) == (4096, True)


def test_all_streams_of_a_live_session_are_there_before_events(tmp_path, monkeypatch):
    """A viewer takes none that begins before what it has seen of others."""
    channel = ChannelPlan("c", 4096, 4)
    ids = (os.getuid(), os.getgid())
    where = (str(tmp_path / "out"), str(tmp_path / "rings"))
    plan = SessionPlan(
        "s", *ids, 0.0, *where, False, True, False, (channel,), EVERYBODY
    )._replace(live_timer=1_000_000)
    monkeypatch.setattr(buffers, "possible_cpus", lambda: 2)

    async def main():
        traces = TraceBuffers(plan, ("ust", "uid", "0"), {}, Clock())
        try:
            made = traces.channel(channel)
            made.declare([])
            there = [name for name in ("c_0", "c_1") if content(traces.folder, name)]
            # The next packet begins with this.
            Writer(made.rings[1]).write(100)
            await traces.complete()
            folder = f"{traces.folder}/index"
            return there, [content(folder, f"{one}.idx")[16:] for one in there]
        finally:
            traces.close()

    there, indexes = asyncio.run(main())
    assert there == ["c_0", "c_1"]
    [_], [empty, first] = [[*INDEX_ENTRY.iter_unpack(one)] for one in indexes]
    assert (empty[2], empty[8], first[8]) == (HEADER_SIZE * 8, 0, 1)
    # Rings are older than that.
    assert empty[3] == empty[4]


def test_events_are_declared_after_their_channel(tmp_path):
    """A program that ends in between leaves metadata that can be read."""
    channel = ChannelPlan("c", 4096, 4)
    ids = (os.getuid(), os.getgid())
    where = (str(tmp_path / "out"), str(tmp_path / "rings"))
    plan = SessionPlan(
        "s", *ids, 0.0, *where, False, True, False, (channel,), EVERYBODY
    )

    async def main():
        traces = TraceBuffers(plan, ("ust", "uid", "0"), {}, Clock())
        try:
            declared = traces.channel(channel)
            assert declared.event_class("a:b", 13, b"", {}, "") == 0
            traces.metadata.write()
            early = content(traces.folder, "metadata")
            declared.declare([])
            assert declared.event_class("a:c", 13, b"", {}, "") == 1
            traces.metadata.write()
            late = content(traces.folder, "metadata")
            return [
                re.findall(rb"(stream|a:.)(?: \{|\")", one) for one in (early, late)
            ]
        finally:
            traces.close()

    assert asyncio.run(main()) == [[], [b"stream", b"a:b", b"a:c"]]


def test_a_chunk_that_was_not_moved_goes_on(tmp_path):
    """What is in its files stays; one that was moved has all of its packets."""
    channel = ChannelPlan("c", 4096, 4)
    ids = (os.getuid(), os.getgid())
    out = tmp_path / "out"
    where = (str(out), str(tmp_path / "rings"))
    plan = SessionPlan(
        "s", *ids, 0.0, *where, False, True, False, (channel,), EVERYBODY
    )

    async def main():
        traces = TraceBuffers(plan, ("ust", "uid", "0"), {}, Clock())
        try:
            [ring, *_] = traces.channel(channel).rings
            Writer(ring).write(100)
            traces.channels["c"].end_open()
            traces.end_chunk()
            # It could not be moved.
            Writer(ring).write(100)
            traces.channels["c"].end_open()
            traces.end_chunk()
            (out / "ust").rename(tmp_path / "moved")
            traces.begin_chunk()
            Writer(ring).write(100)
            await traces.complete()
            return traces.take_failure()
        finally:
            traces.close()

    assert asyncio.run(main()) is None
    assert len(content(tmp_path / "moved/uid/0", "c_0")) == 2 * 4096
    assert len(content(out / "ust/uid/0", "c_0")) == 4096


def test_a_chunk_without_all_metadata_is_not_ended(tmp_path, monkeypatch):
    """Nobody could read it; when there is room it is."""
    channel = ChannelPlan("c", 4096, 4)
    ids = (os.getuid(), os.getgid())
    where = (str(tmp_path / "out"), str(tmp_path / "rings"))
    plan = SessionPlan(
        "s", *ids, 0.0, *where, False, True, False, (channel,), EVERYBODY
    )
    write_all = trace_files.write_all

    def is_full(_file, _raw):
        raise OSError(errno.ENOSPC, "full")

    async def main():
        traces = TraceBuffers(plan, ("ust", "uid", "0"), {}, Clock())
        try:
            monkeypatch.setattr(trace_files, "write_all", is_full)
            traces.begin_chunk()
            with pytest.raises(OSError, match="full"):
                traces.end_chunk()
            monkeypatch.setattr(trace_files, "write_all", write_all)
            traces.end_chunk()
            return traces.take_failure()
        finally:
            traces.close()

    assert asyncio.run(main()) is None
    assert content(tmp_path / "out/ust/uid/0", "metadata")


@pytest.mark.parametrize("is_early", [False, True])
def test_packets_of_a_program_that_ends_meanwhile_are_not_waited_for(
    tmp_path, monkeypatch, is_early
):
    """Whoever let its buffers go has written all that was in them."""
    channel = ChannelPlan("c", 4096, 4)
    ids = (os.getuid(), os.getgid())
    where = (str(tmp_path / "out"), str(tmp_path / "rings"))
    plan = SessionPlan(
        "s", *ids, 0.0, *where, False, True, False, (channel,), EVERYBODY
    )
    waits = asyncio.Event()

    def is_in_a_record(ring, end):
        del ring, end
        waits.set()
        return False

    monkeypatch.setattr(buffers.Ring, "has_taken_up_to", is_in_a_record)
    monkeypatch.setattr(buffers, "QUIET_SECONDS", 60.0)

    async def main():
        traces = TraceBuffers(plan, ("ust", "pid", "p"), {}, Clock())
        found = traces.channel(channel)
        ending = asyncio.ensure_future(found.end_packets())
        if not is_early:
            await waits.wait()
        traces.close()
        await ending
        found.consume()
        return found.failure

    assert asyncio.run(main()) is None
