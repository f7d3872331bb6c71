"""Recordings that are watched while their program runs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading

import pytest

from support.compilers import run_tool
from support.waiting import wait_until
from vestige.errors import SelectionError
from vestige.record import RecordingOptions

SECONDS = 60
SOURCE = """
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void step(void) { __asm__ volatile(""); }
int main(void) {
    char word;
    step();
    while (read(0, &word, 1) == 1) {
        step();
        if (word == 'f' && fork() == 0) { step(); return 0; }
    }
    while (wait(0) > 0) { }
    return 0;
}
"""


class Watching:
    """A viewer that prints calls as they happen."""

    def __init__(self, trace):
        words = ["view", "--follow", "--no-debug-info", "-e", "*:func_entry", trace]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "vestige", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines = []
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self):
        self.lines += iter(self.process.stdout.readline, "")

    def wait_for(self, count):
        """Wait for so many calls; there are no more."""
        wait_until(
            lambda: len(self.lines) >= count or self.process.poll() is not None,
            f"{count} calls",
            SECONDS,
        )
        assert len(self.lines) == count

    def end(self):
        """Wait for its end; return its status."""
        self._reading.join(SECONDS)
        self.process.stderr.close()
        self.process.stdout.close()
        return self.process.wait(SECONDS)


@pytest.fixture
def program(tmp_path):
    """A program that calls a function for each byte that it reads."""
    (tmp_path / "stepping.c").write_text(SOURCE)
    path = tmp_path / "stepping"
    run_tool(
        ["gcc", "-O1", "-finstrument-functions", "-o", path, tmp_path / "stepping.c"]
    )
    return path


@pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc")
def test_calls_are_seen_while_the_program_waits(program, tmp_path):
    """By several viewers, one of which is late; a process that begins later, too."""
    trace = tmp_path / "trace"
    words = ["record", "--quiet", "--live=5ms", "-o", trace, "--", program]
    recorder = subprocess.Popen(
        [sys.executable, "-m", "vestige", *map(str, words)],
        stdin=subprocess.PIPE,
        text=True,
    )
    wait_until((trace / ".live").exists, "the recording", SECONDS)
    viewers = [Watching(trace)]
    # main() and one step: nothing fills a packet here, and nobody ends.
    viewers[0].wait_for(2)
    recorder.stdin.write("x")
    recorder.stdin.flush()
    viewers[0].wait_for(3)
    viewers.append(Watching(trace))
    viewers[1].wait_for(3)
    recorder.stdin.write("f")
    recorder.stdin.flush()
    for viewer in viewers:
        viewer.wait_for(5)
    recorder.stdin.close()
    assert recorder.wait(SECONDS) == 0
    assert [viewer.end() for viewer in viewers] == [0, 0]
    assert not (trace / ".live").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"live": 0.0001}, "live: a period of 0.0001 s: expected 0.001 to 3600"),
        ({"live": 1e9}, "expected 0.001 to 3600"),
        (
            {"live": 1.0, "mode": "overwrite"},
            "expected another mode than mode=overwrite",
        ),
    ],
)
def test_periods_that_cannot_be(options, message):
    """They are refused before anything begins."""
    with pytest.raises(SelectionError, match=message):
        RecordingOptions(**options)
