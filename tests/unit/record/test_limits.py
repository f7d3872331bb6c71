"""Limits of the system: the program does the same, and what is lost is counted."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import vestige
from support.recorded import build_program, counts, record_command, run_recorded
from vestige.record.backends.in_process.recovery import recover

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

CALLS = 200_000


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program whose functions are instrumented."""
    return build_program(tmp_path_factory.mktemp("limits"))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 2 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("may not mount a file system")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def lost(trace):
    """Return how many events are counted as lost."""
    opened = vestige.open(trace, debug_info=False)
    for _ in opened:
        pass
    return sum(loss.count or 0 for loss in opened.losses if loss.kind == "events")


def grow_and_recover(disk, trace):
    """Make room on a full disk, and write what was kept in memory."""
    subprocess.run(["mount", "-o", "remount,size=200m", disk], check=True)
    assert all(one.is_drained for one in recover(trace))


@pytest.mark.parametrize(
    "options",
    [
        ("--mode=block=200ms",),
        ("--mode=discard",),
        ("--mode=overwrite",),
        ("--max-size=1G", "--mode=discard"),
    ],
)
@pytest.mark.parametrize("what", ["calls", "threads"])
def test_a_full_disk(small_disk, program, what, options):
    """What is not written is kept in memory or counted as lost."""
    done = run_recorded(small_disk / "trace", [program, what, str(CALLS)], *options)
    assert "make room, then 'vestige record --recover" in done.stderr
    told = re.search(r"; ([\d,]+|no) events? lost", done.stderr)
    grow_and_recover(small_disk, small_disk / "trace")
    found = counts(small_disk / "trace")
    calls = CALLS + 2 if what == "calls" else 8 * (CALLS + 1) + 1

    assert (done.returncode, done.stdout) == (0, "0 handled\n")
    assert found["func_entry"] > 1000
    missing = lost(small_disk / "trace")
    assert found["func_entry"] + found["func_exit"] + missing == 2 * calls
    assert told is not None
    assert int(told[1].replace("no", "0").replace(",", "")) == missing


def test_a_disk_that_is_full_when_a_thread_begins(small_disk, program):
    """Nothing is recorded, and the program runs."""
    (small_disk / "filler").write_bytes(bytes((2 << 20) - (40 << 10)))
    done = run_recorded(small_disk / "trace", [program, "threads", "1000"])

    assert (done.returncode, done.stdout) == (0, "0 handled\n")
    grow_and_recover(small_disk, small_disk / "trace")
    found = counts(small_disk / "trace")
    total = found["func_entry"] + found["func_exit"] + lost(small_disk / "trace")
    assert total in {2 * (8 * 1001 + 1), 2 * (8 * 1001 + 1) + 1}


@pytest.mark.parametrize("limit", ["-n 4", "-v 40000", "-f 0", "-f 16"])
def test_limits_of_the_process(tmp_path, program, limit):
    """Of descriptors, of memory, and of files."""
    limited = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh"]
    words = [program, "calls", str(CALLS)]
    done = run_recorded(tmp_path / "trace", [*limited, *words], "-c", "none")
    found = counts(tmp_path / "trace")

    assert (done.returncode, done.stdout) == (0, "0 handled\n")
    total = found["func_entry"] + found["func_exit"] + lost(tmp_path / "trace")
    # Without a file, the state dump is one more.
    assert total in {2 * (CALLS + 2), 2 * (CALLS + 2) + 1}


@pytest.mark.parametrize("mode", ["discard", "overwrite"])
def test_a_directory_that_is_removed(tmp_path, program, mode):
    """The program goes on."""
    trace = tmp_path / "trace"
    script = f'rm -r {trace}; exec "$@"'
    words = ["sh", "-c", script, "sh", program, "calls", str(CALLS)]
    command = record_command(trace, words, f"--mode={mode}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.stdout == "0 handled\n"
    assert "Traceback" not in done.stderr
    assert done.returncode == 0
    assert "it is gone" in done.stderr
