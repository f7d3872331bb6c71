"""The kernel's events of a program, its threads and its children, and of nobody else."""

from __future__ import annotations

import platform
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import why_not
from support.recorded import build_program
from vestige.analysis.kernel import kernel_use

REASON = why_not() or (None if platform.machine() == "x86_64" else "numbers of calls")
pytestmark = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
CALL = "140"
KERNEL = ("sched", "syscalls:getpriority", "syscalls:execve")
STORM = 40
"""Children."""
EACH = 5
"""Calls of each."""
ALL = STORM * EACH
ENTRY = "syscall_entry_getpriority"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that makes a system call again and again."""
    return build_program(tmp_path_factory.mktemp("program"), "system_calls")


@pytest.fixture
def stranger(program):
    """A process that makes the same call all the time."""
    with subprocess.Popen([program, "1000000000", CALL, "100"]) as process:
        yield process.pid
        process.kill()


def storm(program):
    """Return a command that starts short children, two at a time."""
    one = f"{program} {EACH} {CALL}"
    return ["sh", "-c", f"for i in $(seq {STORM // 2}); do {one} & {one}; wait; done"]


def callers(*directories: Path) -> Counter[int]:
    """Return how often each thread called."""
    return Counter(
        event.context["tid"]
        for one in directories
        for event in vestige.open(one / "kernel", debug_info=False)
        if event.name == ENTRY
    )


def test_children_are_recorded_and_strangers_are_not(tmp_path, program, stranger):
    """Each from its execve on; switches have one of them on either side."""
    recording = vestige.record(
        storm(program), tmp_path / "trace", kernel=KERNEL, kernel_of="program"
    )

    assert recording.collected.kernel.lost == 0
    found = callers(recording.directory)
    assert found == dict.fromkeys(found, EACH)
    assert (len(found), stranger in found) == (STORM, False)
    events = [*vestige.open(recording.directory / "kernel", debug_info=False)]
    family = {one["tid"] for one in events if one.name == "sched_wakeup_new"}
    entries = {
        one.context["tid"] for one in events if one.name == "syscall_entry_execve"
    }
    assert found.keys() < entries <= family
    ran = {one["next_tid"] for one in events if one.name == "sched_switch"}
    left = {one["prev_tid"] for one in events if one.name == "sched_switch"}
    # Some kernels leave out switches from a CPU that was idle.
    assert family <= left
    assert family & ran
    assert not any(one.name.startswith("irq_") for one in events)
    [use] = kernel_use(vestige.open(recording.directory / "kernel").streams)
    assert {one.thread for one in use.threads} <= family
    assert use.cpus == []


def test_small_buffers_and_call_stacks_let_the_same_through(
    tmp_path, program, stranger
):
    """There the kernel leaves the recorder out."""
    recording = vestige.record(
        storm(program),
        tmp_path / "trace",
        kernel=KERNEL,
        kernel_contexts=("callstack-kernel",),
        kernel_of="program",
    )

    found = callers(recording.directory)
    assert found == dict.fromkeys(found, EACH)
    assert (len(found), stranger in found) == (STORM, False)


def test_parts_have_the_same_together(tmp_path, program, stranger):
    """What starts after a rotation is followed, too."""
    recording = vestige.record(
        storm(program),
        tmp_path / "parts",
        kernel=KERNEL,
        kernel_of="program",
        rotate_seconds=0.1,
    )

    collected = recording.collected
    assert collected.kernel.lost == 0, collected.problems
    parts = [*map(Path, collected.archives), recording.directory / "present"]
    found = callers(*parts)
    wanted = (STORM, ALL, False)
    assert (len(found), found.total(), stranger in found) == wanted, collected.problems


def test_what_is_kept_is_of_the_program(tmp_path, program, stranger):
    """In overwrite mode."""
    recording = vestige.record(
        storm(program),
        tmp_path / "newest",
        kernel=KERNEL,
        kernel_of="program",
        mode="overwrite",
    )

    found = callers(recording.directory)
    assert (len(found), found.total(), stranger in found) == (STORM, ALL, False)


def test_a_program_that_is_not_there_is_an_error(tmp_path):
    """Though another thread would have started it."""
    with pytest.raises(vestige.ProgramError, match="nowhere"):
        vestige.record(
            ["/nowhere/program"],
            tmp_path / "trace",
            kernel=KERNEL,
            kernel_of="program",
        )

    assert not (tmp_path / "trace").exists()
