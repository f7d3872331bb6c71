"""Traces of more data streams than a process may have open files."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.call_traces import enter, leave, packet, write_calls
from support.ctf_writer import Event, Packet, Trace

STREAMS = 600
SECONDS = 60.0


def under_limit(limit, *words):
    """Run Python with a hard limit of open files."""
    return subprocess.run(
        ["sh", "-c", f'ulimit -n {limit}; exec "$0" "$@"', sys.executable, *words],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """A trace with two packets in each of many data streams: one call of each thread."""
    streams = {
        str(number): [
            packet([enter(10 + number, 0x1000)], vtid=number + 1),
            packet([leave(9_000 - number)], vtid=number + 1, sequence=1),
        ]
        for number in range(STREAMS)
    }
    return write_calls(tmp_path_factory.mktemp("many") / "trace", streams)


@pytest.mark.parametrize("limit", [64, 256])
def test_a_report_of_many_streams_needs_few_files(calls, limit):
    """It is the same as without a limit, and so is the text."""
    for command in ("report", "convert", "check"):
        words = ["-m", "vestige", command, str(calls)]
        limited = under_limit(limit, *words)
        usual = subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, check=False
        )

        assert (limited.returncode, limited.stderr) == (usual.returncode, usual.stderr)
        assert usual.returncode == 0
        assert limited.stdout == usual.stdout


SCRIPT = """
import os, sys, threading, warnings
import vestige
from vestige import core

warnings.simplefilter("ignore")
path, what = sys.argv[1:]
opened = vestige.open(path)
core.set_most_open_files(2)
if what == "replaced":
    os.rename(f"{path}/5", f"{path}.5")
    with open(f"{path}.5", "rb") as old, open(f"{path}/5", "wb") as new:
        new.write(old.read())
elif what == "removed":
    os.unlink(f"{path}/5")
elif what == "moved":
    os.chdir("/")
elif what == "forked":
    if child := os.fork():
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
found = []
def read():
    found.append([event["value"] for event in opened])
readers = [threading.Thread(target=read) for _ in range(1 + 3 * (what == "threads"))]
for one in readers:
    one.start()
for one in readers:
    one.join()
assert all(one == found[0] for one in found)
limit = len(os.listdir("/proc/self/fd"))
print(len(found[0]), *(damage.message for damage in opened.damage))
assert limit < 20, limit
"""


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("usual", ["40"]),
        ("moved", ["40"]),
        ("threads", ["40"]),
        ("forked", ["40"]),
        ("replaced", ["38", "another file has taken its place"]),
        ("removed", ["38", "No such file or directory"]),
    ],
)
def test_a_file_is_opened_again_only_if_it_is_the_same(tmp_path, what, expected):
    """The path is kept; the device and the inode tell whether it is another file."""
    streams = {
        str(number): [
            Packet(
                [Event(100 * turn + number, bytes([number, 0, 0, 0]))], sequence=turn
            )
            for turn in range(2)
        ]
        for number in range(20)
    }
    Trace(streams=streams).write(tmp_path / "trace")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "trace", what],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    for text in expected:
        assert text in done.stdout
