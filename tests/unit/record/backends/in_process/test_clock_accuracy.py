"""Times of event records, beside CLOCK_MONOTONIC at the same moments."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import record_command
from support.waiting import wait_until
from vestige.record import RecordingOptions, record
from vestige.record.backends.in_process.recovery import recover

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

SECONDS = 60.0 if os.environ.get("VESTIGE_TORTURE") else 3.0
CONSTANT = 1_000
"""Nanoseconds that a time may be wrong by at any moment,"""
PART = 1e-6
"""and the part of the time since the start that comes to it."""
FIRST_PART = 5e-6
"""That part when the recorder was killed a second after the start."""
SLEW = 500e-6
"""The part of a time by which the system may slew real time meanwhile: adjtimex(2)."""


@dataclass(frozen=True)
class Mark:
    """A call, and CLOCK_MONOTONIC before and after it."""

    before: int
    after: int
    time: int
    """In the trace."""

    @property
    def least(self):
        """The least that the trace's time may be ahead."""
        return self.time - self.after

    @property
    def most(self):
        """The most that the trace's time may be ahead."""
        return self.time - self.before


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that calls at known times."""
    name = "clocked"
    path = tmp_path_factory.mktemp("clocked") / name
    source = PROGRAMS / f"{name}.c"
    run_tool(["gcc", "-g", "-O1", "-finstrument-functions", "-o", path, source])
    return path


@pytest.fixture(params=["counter", "monotonic"])
def clock(request, monkeypatch):
    """The clock of a recording: the counter where it is constant, or none."""
    if request.param == "monotonic":
        monkeypatch.setattr(
            "vestige.record.backends.in_process.backend.has_constant_counter",
            lambda: False,
        )
    return request.param


def entries(trace):
    """Return process and time of each entry."""
    opened = vestige.open(trace, debug_info=False)
    return [(event["vpid"], event.timestamp) for event in opened.events("*:func_entry")]


def marks(trace, file):
    """Return all marks, and the least and the most that real time may be ahead."""
    first, *lines = file.read_text(encoding="ascii").splitlines()
    before, after, real = map(int, first.split())
    times = [time for _, time in entries(trace)]
    assert len(times) == len(lines) > 0
    found = [
        Mark(*map(int, line.split()), time)
        for line, time in zip(lines, times, strict=True)
    ]
    return found, (real - after, real - before)


def origin_of(found):
    """Return the one of the first marks whose time is known best."""
    return min(found[:50], key=lambda mark: mark.after - mark.before)


def worst_excess(found, part):
    """Return by how much the worst time is beyond the tolerance, nanoseconds."""
    origin = origin_of(found)
    return max(
        max(mark.least - origin.most, origin.least - mark.most)
        - CONSTANT
        - part * abs(mark.before - origin.before)
        for mark in found
    )


@pytest.mark.timeout(SECONDS + 120)
@pytest.mark.usefixtures("clock")
def test_times_are_those_of_the_monotonic_clock(tmp_path, program):
    """Within a microsecond and a millionth; and real time is that of the start."""
    file = tmp_path / "marks"
    start = time.monotonic_ns()
    record([str(program), "marks", str(file), str(SECONDS)], tmp_path / "trace")
    found, (least, most) = marks(tmp_path / "trace", file)
    origin = origin_of(found)
    slewed = CONSTANT + SLEW * (origin.before - start)

    assert found[-1].before - found[0].before > 0.9 * SECONDS * 1e9
    assert worst_excess(found, PART) <= 0
    assert origin.least - slewed < most
    assert least < origin.most + slewed


def test_times_when_the_recorder_was_killed(tmp_path, program):
    """The rate that was measured last, after a second, is in the trace."""
    file, trace = tmp_path / "marks", tmp_path / "trace"
    gate = tmp_path / "gate"
    command = record_command(trace, [program, "marks", file, "120", gate])
    start = time.time()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as recorder:
        assert recorder.stdout is not None
        assert recorder.stdout.readline() == "ready\n"
        wait_until(
            lambda: (trace / "metadata").stat().st_mtime > start + 1,
            "the rate after a second",
            seconds=60,
        )
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
        gate.touch()
        # The program goes on until then, and closes its output when it ends.
        assert not recorder.stdout.read()
    recover(trace)
    found, _ = marks(trace, file)

    assert found[-1].before - found[0].before > 10**8
    assert worst_excess(found, FIRST_PART) <= 0


@pytest.mark.usefixtures("clock")
def test_processes_share_one_clock(tmp_path, program):
    """What is handed on through a pipe comes after what was done before."""
    turns = 500
    options = RecordingOptions(contexts=("vpid",))
    record([str(program), "relay", str(turns)], tmp_path / "trace", options)
    processes = [vpid for vpid, _ in entries(tmp_path / "trace")]

    assert len(processes) == 2 * turns
    assert len(set(processes)) == 2
    assert processes == processes[:2] * turns
