"""Closing a trace touches nothing but the trace."""

from __future__ import annotations

import shlex
import subprocess
import time
from pathlib import Path

import pytest

from support.compilers import run_tool
from support.recorded import run_recorded

NAMES = ("notes", "core.123", "results.open", "lost+found", "12-monkeys", ".profile")

INNER_ID = 29_997
# Records until it is told to end.
LOOP = """
#include <fcntl.h>
#include <unistd.h>
static __attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
int main(int count, char **words)
{
    if (count != 2 || chdir(words[1]) != 0)
        return 1;
    close(open("begun", O_CREAT | O_WRONLY, 0600));
    while (access("may-end", F_OK) != 0 && usleep(1000) == 0)
        for (int i = 0; i < 1000; i++)
            leaf();
    for (int i = 0; i < 100000; i++)
        leaf();
    int file = open("ended", O_CREAT | O_WRONLY, 0600);
    return write(file, "whole", 5) != 5;
}
"""


def test_files_of_the_program_in_the_directory_stay(tmp_path):
    """A program may write where its trace is, as when both are the present directory."""
    trace = tmp_path / "trace"
    script = f"cd {trace} && for name in {' '.join(NAMES)}; do echo text > $name; done"
    done = run_recorded(trace, ["sh", "-c", script])

    assert (done.returncode, "warning" in done.stderr) == (0, False)
    assert [(trace / name).read_text() for name in NAMES] == ["text\n"] * len(NAMES)


def test_a_process_in_another_namespace_goes_on(tmp_path):
    """The ID in its packets is none of ours; its files are left as they are."""
    source, program = tmp_path / "loop.c", tmp_path / "loop"
    source.write_text(LOOP, encoding="utf-8")
    run_tool(["gcc", "-O1", "-finstrument-functions", "-o", program, source])
    enter = f"echo {INNER_ID - 1} > /proc/sys/kernel/ns_last_pid"
    inside = ["unshare", "-rpf", "--mount-proc", "sh", "-c"]
    if subprocess.run([*inside, enter], capture_output=True, check=False).returncode:
        pytest.skip("needs a PID namespace whose IDs can be chosen")
    assert not Path(f"/proc/{INNER_ID}").exists()
    trace = tmp_path / "trace"
    words = shlex.join([*inside, f"{enter}; {program} {tmp_path}; true"])
    script = (
        f"{words} > /dev/null 2>&1 & until test -e {tmp_path}/begun; do sleep 0.1; done"
    )
    done = run_recorded(trace, ["sh", "-c", script], "--buffer-size=8k")
    left = {path.name for path in trace.iterdir()}
    (tmp_path / "may-end").touch()
    deadline = time.monotonic() + 30
    while not (tmp_path / "ended").exists() and time.monotonic() < deadline:
        time.sleep(0.05)

    assert done.returncode == 0
    assert f"{INNER_ID}-{INNER_ID}" in left
    assert (tmp_path / "ended").read_text() == "whole"
