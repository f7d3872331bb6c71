"""Programs that are killed: every committed record is read, and none twice.

Nobody closes the trace in these tests before it is read, as when the recorder is killed
with the program. ``VESTIGE_TORTURE=1`` kills more often.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import struct
import subprocess
import time
from collections import defaultdict
from itertools import pairwise

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import kill_all, start_traced
from vestige.record import RecordingOptions
from vestige.record.backends.in_process.recovery import recover

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

KILLS = 200 if os.environ.get("VESTIGE_TORTURE") == "1" else 20
LONGEST = 0.02
"""Seconds until a kill: some hundred packets of the smallest size."""
PROGRESS = struct.Struct("=QQ")
FUNCTIONS = 7
THREADS = 3


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that counts its calls."""
    path = tmp_path_factory.mktemp("counted") / "counted"
    source = PROGRAMS / "counted.c"
    run_tool(["gcc", "-O1", "-finstrument-functions", "-o", path, source, "-pthread"])
    return path


@pytest.fixture(scope="module")
def turns(program):
    """The functions by their addresses in the file."""
    lines = run_tool(["nm", program]).decode()
    return {
        int(address, 16) & 0xFFF: int(turn)
        for address, turn in re.findall(r"(\w+) T turn(\d)\n", lines)
    }


def killed(directory, program, options, delay):
    """Run the program for a while; return the calls of each thread."""
    progress = directory / "progress"
    command = [program, progress, str(THREADS)]
    with start_traced(directory / "trace", command, options) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(delay)
        kill_all(process)
    recover(directory / "trace")
    return dict(pair for pair in PROGRESS.iter_unpack(progress.read_bytes()) if pair[0])


def calls_by_thread(trace, turns):
    """Return for each thread the calls: which function, whether it is the entry."""
    found = defaultdict(list)
    opened = vestige.open(trace, debug_info=False)
    for event in opened.events("*:func_*"):
        turn = turns.get(event["ip"] & 0xFFF)
        assert turn is not None
        is_entry = event.name.endswith("entry")
        found[event["vtid"]].append((event.timestamp, turn, is_entry))
    assert not opened.damage
    return found, opened.losses


def is_next(before, after):
    """Tell whether a record can follow another one in its thread."""
    (_, turn, is_entry), (_, later, later_entry) = before, after
    if is_entry:
        return (later, later_entry) == (turn, False)
    return (later, later_entry) == ((turn + 1) % FUNCTIONS, True)


OPTIONS = RecordingOptions(contexts=("ip", "vpid", "vtid"), packet_size=4096)


@pytest.mark.parametrize("_number", range(KILLS))
def test_nothing_is_lost_and_nothing_is_twice(tmp_path, program, turns, _number):
    """On several threads, over many packets, at any moment."""
    delay = LONGEST * random.random()  # noqa: S311 - no secret
    progress = killed(tmp_path, program, OPTIONS, delay)
    found, losses = calls_by_thread(tmp_path / "trace", turns)

    assert not losses
    for thread, calls in progress.items():
        records = found.get(thread, [])
        # The call under way may have both records already.
        assert 2 * calls <= len(records) <= 2 * calls + 2
        assert all(is_next(*pair) for pair in pairwise(records))
        assert [turn for _, turn, _ in records[:1]] in ([], [0])


@pytest.mark.parametrize("_number", range(KILLS))
def test_the_newest_are_kept(tmp_path, program, turns, _number):
    """In overwrite mode: all records from some moment on."""
    delay = LONGEST * random.uniform(0.5, 1)  # noqa: S311 - no secret
    options = RecordingOptions(
        contexts=("ip", "vpid", "vtid"),
        packet_size=4096,
        mode="overwrite",
        max_size=128 * 1024,
    )
    progress = killed(tmp_path, program, options, delay)
    found, _ = calls_by_thread(tmp_path / "trace", turns)

    for thread, calls in progress.items():
        records = found.get(thread, [])
        assert all(is_next(*pair) for pair in pairwise(records))
        if records:
            _, turn, is_entry = records[-1]
            done = turn + (0 if is_entry else 1)
            assert (done - calls) % FUNCTIONS in {0, 1}
    assert size_of(tmp_path / "trace") <= 128 * 1024


def size_of(directory):
    """Return the bytes that a trace takes, without what the tracer uses itself."""
    return sum(
        path.stat().st_blocks * 512
        for path in directory.iterdir()
        if not path.name.startswith(".")
    )


@pytest.mark.skipif(
    shutil.which("babeltrace2") is None, reason="not installed: babeltrace2"
)
@pytest.mark.parametrize("mode", ["discard", "overwrite"])
def test_babeltrace_reads_what_nobody_closed(tmp_path, program, mode):
    """Without a warning but that of packets that were overwritten."""
    options = RecordingOptions(packet_size=4096, mode=mode, max_size=256 * 1024)
    for number in range(KILLS // 4):
        directory = tmp_path / str(number)
        directory.mkdir()
        killed(directory, program, options, LONGEST * number / KILLS)
        done = subprocess.run(
            ["babeltrace2", "--debug-info", directory / "trace"],
            capture_output=True,
            text=True,
            check=False,
        )
        ours = vestige.open(directory / "trace", debug_info=False)

        warnings = [
            line for line in done.stderr.splitlines() if "discarded" not in line
        ]
        assert not warnings
        assert done.returncode == 0
        assert len(done.stdout.splitlines()) == sum(1 for _ in ours)
