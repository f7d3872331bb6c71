"""How much a recording holds: what is kept, and what goes, when it is full."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from itertools import pairwise

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.own_programs import Ordered
from support.recorded import counts, record_command, run_recorded
from support.session_daemon import SECONDS
from support.waiting import wait_until

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

CALLS = 100_000
STATE = {"start": 1, "procname": 1, "end": 1}
TURNS = 10
BLOCK = 512
"""Bytes that ``st_blocks`` counts."""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program whose functions are instrumented."""
    path = tmp_path_factory.mktemp("recorded") / "recorded"
    name = "recorded"
    source = PROGRAMS / f"{name}.c"
    run_tool(
        ["gcc", "-g", "-O1", "-finstrument-functions", "-o", path, source, "-pthread"]
    )
    return path


def on_disk(directory):
    """Return the bytes that the files of a trace take."""
    return sum(path.stat().st_blocks * BLOCK for path in directory.iterdir())


def lost(trace, kind):
    """Return how many events or packets a reader reports as lost."""
    opened = vestige.open(trace, debug_info=False)
    for _ in opened:
        pass
    return sum(loss.count or 0 for loss in opened.losses if loss.kind == kind)


@pytest.mark.parametrize("what", ["calls", "threads"])
@pytest.mark.parametrize("size", [64 << 10, 1 << 20])
def test_a_full_recording_keeps_the_oldest(tmp_path, program, what, size):
    """Every call is there or counted as lost."""
    run_recorded(tmp_path / "trace", [program, what, CALLS], f"--max-size={size}")
    found = counts(tmp_path / "trace")
    threads, others = (8, 1) if what == "threads" else (1, 1)
    calls = threads * (CALLS + 1) + others

    assert on_disk(tmp_path / "trace") <= size
    total = found["func_entry"] + found["func_exit"]
    assert total + lost(tmp_path / "trace", "events") == 2 * calls
    assert total > size / 200


def test_a_recording_that_is_not_full_has_all(tmp_path, program):
    """And no file is left that only the tracer needs."""
    run_recorded(tmp_path / "trace", [program, "calls", CALLS], "--max-size=100M")
    found = counts(tmp_path / "trace")

    assert (found["func_entry"], found["func_exit"]) == (CALLS + 2, CALLS + 2)
    assert not [p for p in (tmp_path / "trace").iterdir() if p.name.startswith(".")]


@pytest.mark.parametrize("what", ["calls", "threads"])
@pytest.mark.parametrize("buffer", ["4k", "64k"])
def test_overwriting_keeps_the_newest(tmp_path, program, what, buffer):
    """The last calls, the state dump, and all in between them and the oldest kept."""
    size = 2 << 20
    run_recorded(
        tmp_path / "trace",
        [program, what, CALLS],
        "--mode=overwrite",
        f"--max-size={size}",
        f"--buffer-size={buffer}",
    )
    trace = tmp_path / "trace"
    found = counts(trace)
    events = list(vestige.open(trace, debug_info=False).events("*:func_*"))

    assert on_disk(trace) <= size
    assert {name: found[name] for name in STATE} == STATE
    assert found["bin_info"] > 1
    # The end of main comes last, and what is kept has no gap.
    assert events[-1].name.endswith("func_exit")
    assert lost(trace, "events") == 0
    assert size / 60 < len(events) < 2 * CALLS * 8
    if what == "calls":
        names = [event.name[-5:] for event in events[:-2]]
        assert all(a != b for a, b in pairwise(names))


def test_places_of_what_is_kept_are_known(tmp_path, program):
    """Although the state dump is the oldest of all."""
    run_recorded(
        tmp_path / "trace",
        [program, "calls", CALLS],
        "--mode=overwrite",
        "--max-size=256k",
    )
    last = list(vestige.open(tmp_path / "trace").events("*:func_*"))[-1000:]

    assert {event.debug_info.function for event in last} == {"main", "work", "leaf"}


def test_old_packets_of_child_processes_go_as_well(tmp_path, program):
    """Their bytes count, too."""
    run_recorded(
        tmp_path / "trace",
        [program, "fork", 60],
        "--mode=overwrite",
        "--max-size=4M",
        "--buffer-size=16k",
    )
    found = counts(tmp_path / "trace")

    assert on_disk(tmp_path / "trace") <= 4 << 20
    assert (found["func_entry"], found["start"]) == (60 * 11 + 1, 61)


@pytest.mark.skipif(
    shutil.which("babeltrace2") is None, reason="not installed: babeltrace2"
)
@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("5000", "is rounded up to 8192, 2 packets of 4096 bytes"),
        ("3000000", "is rounded up to 3014656, 46 packets of 65536 bytes"),
        ("5M", None),
        ("64k", None),
    ],
)
def test_a_buffer_is_whole_packets(tmp_path, size, expected):
    """Other sizes are rounded up, and that is said, also by a quiet recorder."""
    done = run_recorded(tmp_path / "trace", ["true"], "-q", f"--buffer-size={size}")

    if expected is None:
        assert "rounded" not in done.stderr
    else:
        assert f"vestige: warning: --buffer-size={size} {expected}\n" in done.stderr


@pytest.mark.parametrize("mode", ["discard", "overwrite"])
def test_babeltrace_says_what_is_missing_and_no_more(tmp_path, program, mode):
    """It reads as many events as we do."""
    run_recorded(
        tmp_path / "trace",
        [program, "calls", CALLS],
        f"--mode={mode}",
        "--max-size=1M",
        "--buffer-size=16k",
    )
    done = subprocess.run(
        ["babeltrace2", "--debug-info", tmp_path / "trace"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == counts(tmp_path / "trace").total()
    kind = "events" if mode == "discard" else "packets"
    pattern = f"WARNING: Tracer (may have )?discarded ([0-9]+ )?{kind} between .*"
    assert all(re.fullmatch(pattern, line) for line in done.stderr.splitlines())
    assert done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--max-size=1k"],
            "--max-size: 1024 bytes are too few: expected 65536 or more",
        ),
        (["--max-size=much"], "--max-size=much: expected a number with k, M or G"),
        (
            ["--mode=newest"],
            "newest: expected block, block=TIMEOUT, discard or overwrite",
        ),
        (["--mode=block=soon"], "expected a time such as 500ms, 10s or 1m"),
        (["--live=0"], "--live: 0: expected a time above 0"),
        (["--live=soon"], "expected a time such as 500ms, 10s or 1m"),
        (["--arena-size=4k"], "--arena-size: 4096 bytes: expected 131072"),
        (["--buffer-size=1k"], "--buffer-size: 1024 bytes: expected 4096 or more"),
    ],
)
def test_what_is_no_size_or_mode(tmp_path, options, message):
    """Is refused with what is expected."""
    done = run_recorded(tmp_path / "trace", ["true"], *options)

    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "trace").exists()


def test_threads_take_over_the_files_of_others(tmp_path, program):
    """Each that begins after all is written of one that has ended."""
    trace = tmp_path / "trace"
    with subprocess.Popen(
        record_command(trace, [program, "turns"]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as recorder:
        turns = Ordered(recorder)
        for number in range(TURNS):
            before = bytes_of_threads(trace)
            turns.do(f"{number}")
            wait_until(
                lambda before=before: bytes_of_threads(trace) > before,
                "the records of a thread are written",
                SECONDS,
            )
        turns.end()

    # A file may have all of a thread a moment before the next one may go on with it.
    assert 1 <= len(files_of_threads(trace)) <= TURNS // 2
    assert len(threads(trace)) == 1 + TURNS


def files_of_threads(trace):
    """Return the data files but for those of first threads, which are written at any time."""
    names = [one.name.partition("-") for one in trace.glob("[0-9]*-*")]
    return [
        trace / f"{process}-{thread}"
        for process, _, thread in names
        if thread != process
    ]


def bytes_of_threads(trace):
    """Return how many bytes these have."""
    return sum(one.stat().st_size for one in files_of_threads(trace))


def threads(trace):
    """Return the IDs of the threads that have recorded calls."""
    events = vestige.open(trace, debug_info=False).events("*:func_*")
    return {event.packet_context["vtid"] for event in events}


def test_threads_in_a_row(tmp_path, program):
    """Many, faster than their records are written: all are there."""
    run_recorded(tmp_path / "trace", [program, "series", 2000])
    found = counts(tmp_path / "trace")

    assert (found["func_entry"], found["func_exit"]) == (2000 * 11 + 1, 2000 * 11 + 1)
    assert len(threads(tmp_path / "trace")) == 2001


def test_many_threads_at_once(tmp_path, program):
    """Take little each."""
    run_recorded(tmp_path / "trace", [program, "crowd", 300])
    trace = tmp_path / "trace"
    found = counts(trace)

    assert found["func_entry"] == found["func_exit"] == 300 * 11 + 1
    assert len(list(trace.iterdir())) <= 1 + 301
    assert on_disk(trace) < 3 << 20
    assert len(view_with_few_files(trace)) == found.total()


def view_with_few_files(trace):
    """Return the lines of a trace, read with a low limit of open files."""
    code = "from vestige.cli.start import entry_point; entry_point()"
    limited = ["sh", "-c", 'ulimit -S -n 64; exec "$@"', "sh", sys.executable]
    done = subprocess.run(
        [*limited, "-c", code, "convert", trace],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()
