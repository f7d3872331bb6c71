"""The clock of programs is described in the metadata, also one that a plugin brings."""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
import time
from pathlib import Path

import pytest

from support.compilers import run_tool
from support.waiting import wait_until
from vestige.errors import RecordError
from vestige.record.backends.lttng_ust import clock as clocks
from vestige.record.backends.lttng_ust.buffers import TraceBuffers
from vestige.record.backends.lttng_ust.clock import Clock, PluginClock, chosen_clock
from vestige.record.backends.lttng_ust.clock_plugin import LIBRARY
from vestige.record.backends.lttng_ust.plan import SessionPlan
from vestige.record.backends.lttng_ust.trace_files import METADATA_HEADER

SOURCE = Path(__file__).parents[4] / "programs" / "clock_plugin.c"


@pytest.fixture(scope="module", autouse=True)
def _library() -> None:
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        pytest.skip(f"plugins call {LIBRARY}, of LTTng-UST, which is not there")


def build(folder: Path, *flags: str) -> str:
    """Compile the plugin, and return its path."""
    path = folder / "plugin.so"
    run_tool(["gcc", "-shared", "-fPIC", *flags, SOURCE, "-o", path])
    return str(path)


def test_a_plugin_is_asked_what_its_clock_is(tmp_path, monkeypatch):
    """Its offset makes times of day of its ticks."""
    for name in ("LONGEST_START", "LONGEST_ANSWER"):
        monkeypatch.setattr(clocks, name, 60.0)
    clock = PluginClock(build(tmp_path))
    try:
        assert (clock.name, clock.frequency) == ("coarse", 1000)
        assert clock.description == 'It says "thousandths"'
        assert clock.uuid == "0f4b5d1e-5b1c-4f0a-9f7e-1d2c3b4a5968"
        before = time.time()
        now = (clock.read() + clock.offset()) / clock.frequency
        # It is another process, which says its ticks when it has a processor.
        assert before - 1 <= now <= time.time() + 1
    finally:
        clock.close()
    # Its process is gone; nobody waits for it.
    assert clock.read() > 0


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["-DSILENT"], "the plugin has set no clock"),
        (
            ["-DODD"],
            "the clock's name is 'two words': expected letters, digits and '_'",
        ),
        (["-DSLOW"], "expected a plugin that can be loaded"),
        (["-Dlttng_ust_clock_plugin_init=other"], "lttng_ust_clock_plugin_init"),
    ],
)
def test_a_plugin_that_brings_no_clock_is_told(tmp_path, monkeypatch, flags, said):
    """The monotonic clock is described then, and the daemon goes on."""
    monkeypatch.setattr(clocks, "LONGEST_START", 0.5 if "-DSLOW" in flags else 60.0)
    path = build(tmp_path, *flags)
    with pytest.raises(RecordError) as caught:
        PluginClock(path)
    assert said in str(caught.value)
    warned: list[str] = []
    chosen = chosen_clock({"LTTNG_UST_CLOCK_PLUGIN": path}, warned.append)
    assert chosen.name == "monotonic"
    assert len(warned) == 1
    assert said in warned[0]
    assert "the metadata describes the monotonic clock" in warned[0]


@pytest.mark.parametrize(
    ("is_runnable", "running", "looks"),
    [
        # It sleeps, it computes, or others have the processors.
        (False, 0.0, 4),
        (True, clocks.LOOK, 4),
        (True, 0.0, 4 * clocks.MOST_TIMES),
    ],
)
def test_time_without_a_processor_is_no_time_of_a_plugin(
    tmp_path, monkeypatch, is_runnable, running, looks
):
    """A busy machine is not taken for a plugin that is stuck; but not for ever."""
    asked = []

    def activity(process: int) -> tuple[bool, float]:
        asked.append(process)
        return is_runnable, running * (len(asked) - 1)

    monkeypatch.setattr(clocks, "activity_of", activity)
    monkeypatch.setattr(clocks, "LONGEST_START", 4 * clocks.LOOK)
    with pytest.raises(RecordError, match="expected a plugin that can be loaded"):
        PluginClock(build(tmp_path, "-DSLOW"))
    assert len(asked) == 1 + looks


def test_what_a_process_does_is_seen():
    """Whether it runs, and for how long it has."""
    with subprocess.Popen(["sleep", "600"]) as idle:
        wait_until(lambda: not clocks.activity_of(idle.pid)[0], "it sleeps", 60)
        idle.kill()
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy:
        wait_until(lambda: clocks.activity_of(busy.pid)[1] > 0.1, "it runs", 60)
        assert clocks.activity_of(busy.pid)[0]
        busy.kill()
    assert clocks.activity_of(busy.pid) == (False, 0.0)


def test_without_a_plugin_it_is_the_monotonic_clock():
    """As programs have it."""
    chosen = chosen_clock({}, None)
    assert type(chosen) is Clock
    now = (chosen.read() + chosen.offset()) / chosen.frequency
    assert abs(now - time.time()) < 60


class SetClock(Clock):
    """A clock whose offset changes, as when somebody sets the time."""

    offsets = iter([7, 11])

    def offset(self) -> int:
        """Return the next offset."""
        return next(self.offsets)


def test_metadata_that_is_written_again_has_the_offset_of_now(tmp_path):
    """And all that it had before; so has the copy beside the rings."""
    ids = (os.getuid(), os.getgid())
    where = (str(tmp_path / "out"), str(tmp_path / "rings"))
    everybody = (None, None, None)
    plan = SessionPlan("s", *ids, 0.0, *where, True, True, False, (), everybody)

    async def main() -> tuple[list[bytes], list[bytes]]:
        traces = TraceBuffers(plan, ("ust", "uid", "0"), {}, SetClock())
        files = sorted(tmp_path.rglob("metadata"))
        try:
            traces.declare("event { name = later; };")
            before = [one.read_bytes() for one in files]
            traces.declare_again()
            return before, [one.read_bytes() for one in files]
        finally:
            traces.close()

    before, after = asyncio.run(main())
    assert len(before) == 2
    assert all(b"offset = 7;" in one and b"later" in one for one in before)
    changed = [one.replace(b"offset = 7;", b"offset = 11;") for one in before]
    assert [one.count(b"offset = 11;") for one in after] == [1, 1]
    # Its head says how long a packet is, and the offset has a digit more.
    head = METADATA_HEADER.size
    assert [one[head:] for one in after] == [one[head:] for one in changed]
