"""Which dumps a trace has, and for how long the daemon keeps them."""

from __future__ import annotations

import asyncio
import os
import warnings
from contextlib import contextmanager

import pytest

import vestige
from vestige.record.backends.lttng_ust import trace_dumps
from vestige.record.backends.lttng_ust.buffers import TraceBuffers
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.plan import ChannelPlan, SessionPlan
from vestige.record.backends.lttng_ust.state_dump import ProgramState
from vestige.record.backends.lttng_ust.trace_files import OwnerFiles

ALL = frozenset(["start", "bin_info", "end"])
OWNER = (os.getuid(), os.getgid())
CHANNEL = ChannelPlan("c", 4096, 4)


def state(vpid, *bases, path=b"/o"):
    """Return a program with an object of a page at each place."""
    objects = tuple((base, 4096, path, True, b"", None) for base in bases)
    return ProgramState(vpid, "p", objects)


@contextmanager
def dumps(tmp_path, *, has_files):
    """Have the dumps of a trace without programs."""
    output = str(tmp_path / "out") if has_files else None
    where = (output, str(tmp_path / "rings"))
    everybody = (None, None, None)
    plan = SessionPlan(
        "s", *OWNER, 0.0, *where, False, True, False, (CHANNEL,), everybody
    )
    with asyncio.Runner() as runner:

        async def make():
            made = TraceBuffers(plan, ("ust", "uid", "0"), {}, Clock())
            made.channel(CHANNEL)
            return made

        traces = runner.run(make())
        yield traces.dumps
        traces.close()


def told(folder):
    """Return the objects of a trace: time, process and base of each."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace = vestige.open(folder, debug_info=False)
        events = [one for one in trace.events() if one.name.endswith("bin_info")]
    return [(one.timestamp, one["vpid"], one["baddr"]) for one in events]


def snapshot(dumps, folder):
    """Return what a snapshot has."""
    folder.mkdir()
    files = OwnerFiles(str(folder), *OWNER)
    dumps.snapshot(files, str(folder))
    text = "".join(packet[37:].decode() for packet in dumps._trace.metadata._packets)
    (folder / "metadata").write_text(text)
    return [(vpid, base) for _, vpid, base in told(folder)]


def test_a_file_has_who_came_and_a_new_one_who_is_there(tmp_path):
    """Its times never go back, whatever the clock says."""
    with dumps(tmp_path, has_files=True) as found:
        folder = tmp_path / "out" / "ust" / "uid" / "0"
        found.join(1, state(10, 0x1000), 500, ALL)
        found.join(2, state(11, 0x2000), 400, ALL)
        times, *rest = zip(*told(folder), strict=True)
        assert rest == [(10, 11), (0x1000, 0x2000)]
        assert times[0] == times[1]
        found.clear()
        found.forget(1, 600)
        found.begin({2: state(11, 0x2000, 0x3000)}, 700, ALL)
        (time, *_), _ = first = told(folder)
        assert [one[1:] for one in first] == [(11, 0x2000), (11, 0x3000)]
        # Of another chunk it is later: one time in two files has no order.
        found.begin_chunk()
        found.clear()
        found.begin({2: state(11, 0x2000)}, 600, ALL)
        assert told(folder) == [(time + 1, 11, 0x2000)]
        assert found.failure is None


@pytest.mark.parametrize("has_files", [True, False])
def test_a_child_had_all_that_its_parent_has(tmp_path, monkeypatch, has_files):
    """It recorded before it was known; one that executes had something else before."""
    with dumps(tmp_path, has_files=has_files) as found:
        monkeypatch.setattr(found, "_waiting_since", lambda _: 100)
        found.join(1, state(10, 0x1000, 0x2000), 500, ALL)
        found.join(2, state(11, 0x1000, 0x2000), 600, ALL)
        found.join(3, state(12, 0x1000), 700, ALL)
        found.forget(2, 800)
        found.join(4, state(11, 0x1000, 0x2000), 900, ALL)
        if not has_files:
            snapshot(found, tmp_path / "a")
        folder = tmp_path / "out" / "ust" / "uid" / "0" if has_files else tmp_path / "a"
        times = dict.fromkeys((vpid, time) for time, vpid, _ in told(folder))
        begin = min(time for _, time in times)
        later = sorted((time - begin, vpid) for vpid, time in times)
        assert later == [(0, 10), (0, 11), (200, 12), (400, 11)]


def test_a_dump_that_cannot_be_written_is_told(tmp_path):
    """There is nothing of it then."""
    with dumps(tmp_path, has_files=True) as found:
        folder = tmp_path / "out" / "ust" / "uid" / "0"
        (folder / "vestige-state").mkdir()
        found.join(1, state(10, 0x1000), 500, ALL)
        assert isinstance(found._trace.take_failure(), IsADirectoryError)
        assert found._trace.take_failure() is None


def test_snapshots_that_are_read_together_miss_no_packets(tmp_path, monkeypatch):
    """Each has numbers of its own: a program that has gone is not in the second."""
    since = 1000
    with dumps(tmp_path, has_files=False) as found:
        monkeypatch.setattr(found, "_waiting_since", lambda _: since)
        for key in range(3):
            found.join(key, state(10 + key, 0x1000 << key), 1000 * (key + 1), ALL)
        (tmp_path / "both").mkdir()
        assert len(snapshot(found, tmp_path / "both" / "a")) == 3
        found.forget(0, 3500)
        since = 4000
        assert len(snapshot(found, tmp_path / "both" / "b")) == 2
    trace = vestige.open(tmp_path / "both", debug_info=False)
    assert sum(one.name.endswith("bin_info") for one in trace.events()) == 5
    for _ in trace.merges():
        pass
    assert (trace.losses, trace.damage) == ([], [])


def test_a_snapshot_has_what_was_ever_loaded(tmp_path):
    """What comes later belongs to the first dump, unless something else was there."""
    with dumps(tmp_path, has_files=False) as found:
        found.join(1, state(10, 0x1000), 500, ALL)
        found.refresh(1, state(10, 0x1000, 0x5000), 600)
        found.refresh(1, state(10, 0x5000), 700)
        found.refresh(3, state(12, 0x5000), 700)
        assert snapshot(found, tmp_path / "a") == [(10, 0x1000), (10, 0x5000)]
        found.refresh(1, state(10, 0x1800, path=b"/other"), 800)
        assert snapshot(found, tmp_path / "b") == [
            *((10, 0x1000), (10, 0x5000), (10, 0x1800))
        ]
        for number in range(20):
            found.refresh(1, state(10, 0x1000, path=b"/%d" % number), 900 + number)
        assert len(snapshot(found, tmp_path / "c")) == trace_dumps.MOST_DUMPS
        found.begin({1: state(10, 0x9000)}, 2000, ALL)
        assert snapshot(found, tmp_path / "d") == [(10, 0x9000)]


def test_programs_that_are_gone_are_forgotten_in_time(tmp_path, monkeypatch):
    """When buffers have nothing of their time, or there are too many."""
    monkeypatch.setattr(trace_dumps, "MOST_GONE_BYTES", 1000)
    with dumps(tmp_path, has_files=False) as found:
        oldest = 10**9
        monkeypatch.setattr(found, "_waiting_since", lambda time: min(time, oldest))
        for number in range(100):
            found.join(number, state(number, 0x1000), 500, ALL)
            found.forget(number, oldest + number)
        kept = snapshot(found, tmp_path / "a")
        assert kept[-1] == (99, 0x1000)
        assert len(kept) == 6
        oldest += 98
        assert snapshot(found, tmp_path / "b") == [(98, 0x1000), (99, 0x1000)]
        found.begin({}, oldest + 99, ALL)
        assert [one for one, _ in found._gone] == [oldest, oldest + 1]
        oldest += 200
        found.begin({}, oldest - 10, ALL)
        assert not found._gone


@pytest.mark.parametrize("has_files", [True, False])
def test_who_went_after_the_cut_is_told(tmp_path, monkeypatch, has_files):
    """Its last event records are in the next chunk; those of others are not."""
    with dumps(tmp_path, has_files=has_files) as found:
        monkeypatch.setattr(found, "_waiting_since", lambda time: min(time, 700))
        for number in (1, 2, 3):
            found.join(number, state(number, 0x1000 * number), 500, ALL)
        found.forget(1, 600)
        found.forget(2, 800)
        found.clear()
        found.begin({3: state(3, 0x3000)}, 700, ALL)
        expected = {(2, 0x2000), (3, 0x3000)}
        if has_files:
            folder = tmp_path / "out" / "ust" / "uid" / "0"
            assert {one[1:] for one in told(folder)} == expected
        else:
            assert {*snapshot(found, tmp_path / "a")} == expected


@pytest.mark.parametrize("has_files", [True, False])
def test_who_was_never_described_is_not_missed(tmp_path, has_files):
    """Programs of sessions without addresses end, and chunks begin."""
    with dumps(tmp_path, has_files=has_files) as found:
        found.forget(1, 100)
        found.begin({}, 200, ALL)
        found.clear()
        assert not [*tmp_path.rglob("vestige-state")]
