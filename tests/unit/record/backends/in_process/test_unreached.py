"""Processes that are not recorded are found, each once."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from types import SimpleNamespace

from support.waiting import wait_until
from vestige.record.backends.in_process import unreached
from vestige.record.backends.in_process.unreached import UnreachedProcesses


def test_those_beyond_what_is_kept_are_counted_once(monkeypatch):
    """However often somebody looks."""
    monkeypatch.setattr(unreached, "MOST_FOUND", 1)
    monkeypatch.setattr(unreached, "GRACE", 0)
    # A family of its own: what other tests have started comes and goes. None of it
    # starts another program: seen before and after, that would be two.
    child = "(read line <&3) & "
    script = f"exec 3<&0; {3 * child}wait"
    words = ["sh", "-c", script]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, start_new_session=True
    ) as shell:
        looked = UnreachedProcesses(shell.pid, list, lambda *_: False)

        def has_seen_all():
            looked.look()
            return looked.more == 3

        wait_until(has_seen_all, "the shell and its children are seen", 60)
        looked.look()
        after = looked.more, len(looked.found)
        os.killpg(shell.pid, signal.SIGKILL)

    assert after == (3, 1)


def test_a_stopped_process_may_not_have_begun(monkeypatch):
    """As one that a debugger holds at its first instruction."""
    monkeypatch.setattr(unreached, "GRACE", 0)
    with subprocess.Popen(["sleep", "60"]) as process:

        def is_found():
            looked = UnreachedProcesses(process.pid, list, lambda *_: False)
            looked.look()
            return process.pid in [one.process for one in looked.found]

        wait_until(is_found, "it is found", 60)
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: not is_found(), "it is stopped", 60)
        process.send_signal(signal.SIGCONT)
        wait_until(is_found, "it is found again", 60)
        process.kill()


def _start_of_stack(process):
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[25]


def wait_for_child(process, name):
    """Wait until a child runs a program; before, it is the one that made it."""

    def runs():
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
        return any(
            Path(f"/proc/{child}/comm").read_text() == f"{name}\n" for child in children
        )

    wait_until(runs, f"{name} runs", 60)


def test_a_program_that_was_just_executed_may_not_have_begun(monkeypatch):
    """However long its process has run another one."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(unreached, "time", clock)
    script = 'read line && exec sh -c "$0" "$0"'
    with subprocess.Popen(
        ["sh", "-c", script, script], stdin=subprocess.PIPE, text=True
    ) as shell:
        looked = UnreachedProcesses(shell.pid, list, lambda *_: False)
        found = []
        for _ in range(3):
            looked.look()
            before = _start_of_stack(shell.pid)
            clock.now += 1
            shell.stdin.write("go on\n")
            shell.stdin.flush()
            wait_until(
                lambda before=before: _start_of_stack(shell.pid) != before,
                "it executes itself",
                60,
            )
            looked.look()
            found += looked.found
        is_in_doubt = looked.is_in_doubt

        def is_found():
            clock.now += 1
            looked.look()
            return looked.found

        wait_until(is_found, "the last one is found", 60)
        shell.kill()

    assert found == []
    assert is_in_doubt
    assert not looked.is_in_doubt


def test_a_process_that_records_in_the_end_is_not_named(monkeypatch):
    """It was slow to begin."""
    monkeypatch.setattr(unreached, "GRACE", 0)
    monkeypatch.setattr(unreached, "MOST_FOUND", 1)
    inodes = []
    script = "sleep 60 & wait"
    with subprocess.Popen(["sh", "-c", script], start_new_session=True) as shell:
        looked = UnreachedProcesses(shell.pid, lambda: inodes, lambda *_: False)
        wait_for_child(shell.pid, "sleep")

        def has_seen_both():
            looked.look()
            return len(looked.found) + looked.more == 2

        wait_until(has_seen_both, "both are found", 60)
        # What all of them have mapped stands for the memory of a recording.
        inodes += [
            int(line.split()[4])
            for line in Path(f"/proc/{shell.pid}/maps").read_text().splitlines()
            if "libc" in line
        ]
        looked.look()
        after = len(looked.found), looked.more
        os.killpg(shell.pid, signal.SIGKILL)

    assert after == (0, 0)


def test_what_switches_the_tracer_off_is_not_named(monkeypatch):
    """That is no fault of the recording."""
    monkeypatch.setattr(unreached, "GRACE", 0)
    script = "VESTIGE_TRACER_OFF=1 sleep 60 & tail -f /dev/null & wait"
    with subprocess.Popen(["sh", "-c", script], start_new_session=True) as shell:
        looked = UnreachedProcesses(shell.pid, list, lambda *_: False)

        wait_for_child(shell.pid, "sleep")
        wait_for_child(shell.pid, "tail")

        def has_seen_other():
            looked.look()
            return len(looked.found) == 2

        wait_until(has_seen_other, "the others are found", 60)
        looked.look()
        names = {one.name for one in looked.found}
        os.killpg(shell.pid, signal.SIGKILL)

    assert "sleep" not in names
    assert len(names) == 2
