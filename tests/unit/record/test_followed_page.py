"""The page of a recording that goes on, in a real browser."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from support.compilers import run_tool
from support.pages import opened, until
from support.waiting import wait_until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
]
SECONDS = 60
SOURCE = """
#include <unistd.h>
__attribute__((noinline)) void step(void) { __asm__ volatile(""); }
int main(void)
{
    char word;
    while (read(0, &word, 1) == 1)
        step();
    return 0;
}
"""
CALLS = "vestige.data.rows.reduce((sum, row) => sum + row.calls, 0)"


@contextmanager
def started(*words, **options):
    """Start the command; it is ended if the test is not well."""
    command = [sys.executable, "-m", "vestige", *map(str, words)]
    process = subprocess.Popen(command, text=True, **options)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def program(tmp_path):
    """A program that calls a function for each byte that it reads."""
    source, path = tmp_path / "stepping.c", tmp_path / "stepping"
    source.write_text(SOURCE)
    run_tool(["gcc", "-O1", "-finstrument-functions", "-o", path, source])
    return path


def test_the_picture_moves_until_the_program_ends(browser, program, tmp_path):
    """While it waits, all that it has called is there; nothing fills a packet."""
    trace, pipe = tmp_path / "trace", subprocess.PIPE
    words = ["record", "--quiet", "--live=20ms", "-o", trace, "--", program]
    with started(*words, stdin=pipe) as recorder:
        wait_until((trace / ".live").exists, "the recording", SECONDS)
        words = ["open", "--follow", "--no-browser", trace]
        with started(*words, stdout=pipe, stderr=pipe) as server:
            url = server.stdout.readline().strip()
            with opened(browser, url) as page:
                until(page, f"{CALLS} === 1", SECONDS)
                span = page.evaluate("vestige.view.end")
                recorder.stdin.write("x" * 20)
                recorder.stdin.flush()
                until(page, f"{CALLS} === 21", SECONDS)
                until(page, f"vestige.view.end > {span}", SECONDS)
                assert page.evaluate("vestige.data.meta.isGrowing")
                recorder.stdin.write("x")
                recorder.stdin.close()
                until(page, "!vestige.data.meta.isGrowing", SECONDS)
                assert page.evaluate(CALLS) == 22
            server.send_signal(signal.SIGINT)
            assert server.wait(SECONDS) == 0
            told = server.stderr.read()
        assert recorder.wait(SECONDS) == 0
    assert told == "vestige: Ctrl-C ends it\n"
