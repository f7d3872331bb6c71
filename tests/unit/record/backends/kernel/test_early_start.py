"""Programs may start before all of the machine's state was read."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import NoReturn

import pytest

import vestige
from support.kernel_channels import channel_wanted, kernel_wanted
from support.kernel_tracer import instances, why_not
from vestige.record.backends.kernel import state_dump
from vestige.record.backends.kernel.beside import Beside
from vestige.record.backends.kernel.collector_process import _read_state
from vestige.record.backends.kernel.rules import KernelRule
from vestige.record.backends.kernel.trace import KernelTrace
from vestige.record.backends.kernel.tracefs import Tracefs

REASON = why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
STATE = "lttng_statedump_"


def recorded(directory: Path, *, contexts: tuple[str, ...] = ()) -> tuple[int, int]:
    """Record a program that runs between both parts of the state.

    Returns:
        Its process, and how many event records were lost.
    """
    rules = [
        KernelRule("tracepoint", "sched_process_*"),
        KernelRule("syscall", "getpriority"),
        KernelRule("tracepoint", f"{STATE}*"),
    ]
    tracefs = Tracefs()
    wanted = kernel_wanted(directory, [channel_wanted(rules, contexts)])
    trace = KernelTrace(tracefs, wanted, time.monotonic_ns)
    try:
        trace.start([])
        program = subprocess.Popen(["true"])
        program.wait()
        trace.complete_state()
        [counts] = trace.end()
    finally:
        trace.close()
        tracefs.close()
    return program.pid, counts["lost"]


def test_a_program_that_starts_meanwhile_is_told_by_its_events(tmp_path: Path) -> None:
    """The state has the threads from before it; its end comes behind the program's."""
    process, lost = recorded(tmp_path / "t")
    events = list(vestige.open(tmp_path / "t"))
    names = [event.name for event in events]
    own = [
        at
        for at, event in enumerate(events)
        if event.context["tid"] == process and event.name == "sched_process_exec"
    ]
    threads = {
        event["tid"] for event in events if event.name == f"{STATE}process_state"
    }

    assert lost == 0
    assert len(own) == 1
    last = max(at for at, name in enumerate(names) if name == f"{STATE}process_state")
    assert names.index(f"{STATE}start") < last < own[0] < names.index(f"{STATE}end")
    assert os.getpid() in threads
    assert process not in threads
    assert f"{STATE}file_descriptor" in names[own[0] :]
    assert not [one for one in instances() if f"-{os.getpid()}-" in one]


def test_nothing_puts_off_answers_to_programs(tmp_path: Path) -> None:
    """A program that asks for a plan waits for a moment only: all is read before."""
    # Others may run it meanwhile.
    program = os.fspath(shutil.copy("/bin/true", tmp_path / "own"))
    vestige.record([program], tmp_path / "t", kernel=("sched",), patch=())
    events = list(vestige.open(tmp_path / "t" / "kernel"))
    ends = [at for at, one in enumerate(events) if one.name == f"{STATE}end"]
    begins = [
        at
        for at, one in enumerate(events)
        if one.name == "sched_process_exec" and one["filename"] == program
    ]

    assert len(begins) == 1
    assert ends[0] < begins[0]


@pytest.mark.parametrize("context", ["uts_ns", "callstack-user"])
def test_where_processes_are_looked_at_none_starts_meanwhile(
    tmp_path: Path, context: str
) -> None:
    """Their namespaces, and what they have mapped, are known while they run alone."""
    process, _ = recorded(tmp_path / "t", contexts=(context,))
    names = [
        event.name
        for event in vestige.open(tmp_path / "t")
        if event.name == f"{STATE}end"
        or (event.name == "sched_process_exec" and event.context["tid"] == process)
    ]

    assert names == [f"{STATE}end", "sched_process_exec"]


@pytest.mark.parametrize("is_whole", [False, True])
def test_what_fails_of_the_rest_is_told_and_all_else_is_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, is_whole: bool
) -> None:
    """Later, where nobody waits for it."""

    def fail(_kernel_threads: object) -> NoReturn:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr(state_dump, "machine_records", fail)
    rules = [
        KernelRule("tracepoint", "sched_process_*"),
        KernelRule("tracepoint", f"{STATE}*"),
    ]
    tracefs = Tracefs()
    wanted = kernel_wanted(tmp_path / "t", [channel_wanted(rules, ())])
    trace = KernelTrace(tracefs, wanted, time.monotonic_ns)
    try:
        trace.start([], is_whole=is_whole)
        early = trace.take_problems()
        _read_state(trace, {"do": "start"})
        later = trace.take_problems()
        trace.end()
    finally:
        trace.close()
        tracefs.close()
    names = {event.name for event in vestige.open(tmp_path / "t")}

    said = [f"a part of the state dump is missing: {os.strerror(errno.ENOMEM)}"]
    assert (early, later) == ((said, []) if is_whole else ([], said))
    assert f"{STATE}vm_map" in names
    assert f"{STATE}end" not in names


def test_what_fails_beside_is_told_where_one_waits() -> None:
    """Once, and what was done is done."""
    done = []

    def fail() -> None:
        done.append(1)
        raise OSError(28, "no room")

    work = Beside(fail)
    with pytest.raises(OSError, match="no room"):
        work.wait()
    work.wait()
    assert done == [1]
