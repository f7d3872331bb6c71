"""Records that are longer than a packet usually is: each is one, in a packet of its own."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict

import pytest

import vestige
from support.chosen import HEADERS
from support.compilers import PROGRAMS, run_tool
from support.recorded import run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

EDGES = (65_250, 65_280, 65_310, 65_340, 65_370, 130_600, 130_640, 130_680, 196_000)
"""Around what one chunk holds, and two."""
LENGTHS = (100, 5000, 70_000, 300_000, 1 << 20, *EDGES)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that emits as many bytes as it is told."""
    path = tmp_path_factory.mktemp("large") / "large"
    flags = [f"-I{HEADERS}", f"-I{PROGRAMS}", "-pthread"]
    run_tool(["gcc", "-O1", *flags, "-o", path, PROGRAMS / "large.c", "-ldl"])
    return path


def record(trace, program, threads, lengths, *options):
    """Record the program; expect all that it made, whole and in order, in each thread."""
    command = [program, threads, *lengths]
    done = run_recorded(trace, [str(one) for one in command], "-c", "vtid", *options)
    opened = vestige.open(trace, debug_info=False)
    found = defaultdict(list)
    for event in opened.events("large:bytes"):
        number, content = event["number"], bytes(event["bytes"])
        assert content == bytes((place + number) % 251 for place in range(len(content)))
        found[event["vtid"]].append((number, len(content)))
    assert done.returncode == 0, done.stderr
    assert not opened.damage
    return found, sum(loss.count or 0 for loss in opened.losses)


def expected(lengths):
    """Return numbers and lengths of a thread's records."""
    pairs = [length for one in lengths for length in (one, 3)]
    return list(enumerate(pairs))


@pytest.mark.parametrize(
    "options",
    [(), ("--mode=overwrite", "--max-size=64M")],
    ids=["block", "overwrite"],
)
def test_a_record_may_have_a_mebibyte(tmp_path, program, options):
    """Beside others, and on each side of the length that one packet has as a rule."""
    found, lost = record(tmp_path / "trace", program, 1, LENGTHS, *options)

    assert list(found.values()) == [expected(LENGTHS)]
    assert lost == 0


def test_threads_share_the_memory_for_them(tmp_path, program):
    """Each takes what it needs, and waits for the collector meanwhile."""
    lengths = (1 << 20, 200_000, 900_000) * 4
    found, lost = record(tmp_path / "trace", program, 3, lengths, "--arena-size=32M")

    assert list(found.values()) == [expected(lengths)] * 3
    assert lost == 0


def test_those_that_find_no_room_are_counted(tmp_path, program):
    """Where no thread waits; the others are whole."""
    options = ("--mode=discard", "--buffer-size=2M", "--arena-size=8M")
    found, lost = record(tmp_path / "trace", program, 2, (1 << 20, 9000) * 6, *options)

    assert sum(map(len, found.values())) + lost == 2 * 24
    assert set().union(*found.values()) <= set(expected((1 << 20, 9000) * 6))


@pytest.mark.parametrize("delay", ["0.05", "0.1", "0.2"])
def test_a_program_that_is_killed_leaves_whole_records(tmp_path, program, delay):
    """What it was writing is left out, of whatever length."""
    killed = ["timeout", "-s", "KILL", delay, str(program), "3"]
    command = [*killed, *(["900000", "66000", "200000"] * 2000)]
    done = run_recorded(tmp_path / "trace", command, "-c", "vtid", "--max-size=2G")
    opened = vestige.open(tmp_path / "trace", debug_info=False)
    numbers = defaultdict(list)
    for event in opened.events("large:bytes"):
        numbers[event["vtid"]].append(event["number"])

    assert done.returncode == 137
    assert not opened.damage
    assert not opened.losses
    assert all(list(range(len(one))) == one for one in numbers.values())


def test_one_that_is_too_long_is_counted(tmp_path, program):
    """Longer than all packets that a thread may fill; what comes next is there."""
    lengths = (100, 300_000, 100)
    found, lost = record(tmp_path / "trace", program, 1, lengths, "--buffer-size=128k")

    assert list(found.values()) == [[one for one in expected(lengths) if one[1] < 1000]]
    assert lost == 1


@pytest.mark.skipif(
    shutil.which("babeltrace2") is None, reason="not installed: babeltrace2"
)
def test_babeltrace_reads_them(tmp_path, program):
    """A long packet is a packet."""
    record(tmp_path / "trace", program, 1, LENGTHS)
    done = subprocess.run(
        ["babeltrace2", "--names=none", tmp_path / "trace"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    events = [line for line in done.stdout.splitlines() if "large:bytes" in line]
    assert len(events) == 2 * len(LENGTHS)
