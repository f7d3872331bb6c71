"""Performance counters of CPUs at events of the kernel, which only root can record."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import signal
import subprocess
import time
from collections import Counter
from itertools import pairwise

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.kernel_tracer import children_of, instances_of, why_not
from support.recorded import record_command
from vestige.record.backends.in_process.clock import RecordingClock
from vestige.record.backends.in_process.kernel_beside import kernel_domain
from vestige.record.backends.kernel import counters
from vestige.record.backends.kernel.counter_program import CallSet, counter_program
from vestige.record.backends.kernel.counters import UNKNOWN
from vestige.record.collected import Collected
from vestige.record.rules.options import RecordingOptions
from vestige.record.trace_directory import Places

FAULTS, SWITCHES = "perf_cpu_page_fault", "perf_cpu_context_switches"
CONTEXTS = "perf:cpu:page-fault,nice,perf:cpu:context-switches"
NO_COUNTER = f"perf:cpu:raw:r{'f' * 16}:nothing"
UUID = "5b8a4a52-31c8-4c39-8d3c-0f4f0b9a8e11"
COUNT = 1000
MANY = 50_000
PAGES = 64
AFTER = 1
"""What the call behind a page asks for."""
RECORDERS = ("python", "vestige", "kernel-")
"""How the names of threads begin that may be the recorder's."""
PAGE = os.sysconf("SC_PAGESIZE")
PATIENCE = 60


def reason() -> str | None:
    """Say why nothing of this can be recorded here."""
    if (why := why_not()) is not None:
        return f"no kernel tracer: {why}"
    return counters.why_not("perf:cpu:page-fault")


REASON = reason()
needs_counters = pytest.mark.skipif(REASON is not None, reason=str(REASON))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that makes page faults between system calls."""
    path = tmp_path_factory.mktemp("program") / "page_faults"
    run_tool(["gcc", "-O1", "-o", path, PROGRAMS / "page_faults.c"])
    return path


@pytest.fixture(scope="module")
def recording(tmp_path_factory, program):
    """A recording of it, and what was said."""
    output = tmp_path_factory.mktemp("counters") / "trace"
    what = ["--kernel=syscalls:getpriority,sched_switch"]
    what += [f"--kernel-context={CONTEXTS},{NO_COUNTER}", "--buffer-size=16M"]
    words = [program, str(COUNT), str(PAGES * PAGE)]
    done = subprocess.run(
        record_command(output, words, *what),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return output, done.stderr


def entries(directory, thread=None):
    """Return where the calls of a thread begin; ``None``: of the recorded program."""
    found = [
        event
        for event in vestige.open(directory)
        if event.name == "syscall_entry_getpriority"
    ]
    if thread is None:
        [thread] = {one.context["tid"] for one in found if one["who"] == COUNT - 1}
    return [one for one in found if one.context["tid"] == thread]


@needs_counters
def test_a_page_fault_is_one_between_two_calls(recording):
    """Where nothing else has run meanwhile, as the other counter tells."""
    calls = entries(recording[0] / "kernel")
    assert len(calls) == 2 * COUNT
    found: Counter[tuple[bool, int]] = Counter()
    for before, after in pairwise(calls):
        if before.context[SWITCHES] == after.context[SWITCHES]:
            is_touched = after["which"] == AFTER
            found[is_touched, after.context[FAULTS] - before.context[FAULTS]] += 1

    assert found[True, 1] > COUNT / 2
    # One for all of the pages after these were forgotten: that of their table.
    others = found.total() - found[True, 1] - found[False, 0]
    assert others <= COUNT // PAGES + 1, found


@needs_counters
def test_switches_are_counted_as_they_are_recorded(recording):
    """From one of a CPU to the next there is one more."""
    last: dict[int, tuple[int, int]] = {}
    compared = 0
    for event in vestige.open(recording[0] / "kernel"):
        if event.name != "sched_switch":
            continue
        cpu, value = event.cpu, event.context[SWITCHES]
        before, running = last.get(cpu, (UNKNOWN, -1))
        # Switches among the recorder's threads are not recorded; and some kernels let no
        # program run for some threads.
        is_next = running == event["prev_tid"]
        is_next &= not event["prev_comm"].startswith(RECORDERS)
        if is_next and UNKNOWN not in {before, value}:
            assert value == before + 1
            compared += 1
        last[cpu] = value, event["next_tid"]
    assert compared > 0


@needs_counters
def test_what_is_not_there_is_left_out_and_told(recording):
    """A counter that no machine has; and events at which nobody reads them."""
    output, said = recording
    text = (output / "kernel" / "metadata").read_text()

    assert f"context {NO_COUNTER}: this machine has no such counter" in said
    assert "perf_cpu_nothing" not in text
    kind = "integer { size = 64; align = 8; signed = 0; base = 10; }"
    assert f"{kind} _{FAULTS}; " in text


@needs_counters
def test_babeltrace_reads_the_same(recording):
    """Every line."""
    peer = shutil.which("babeltrace2")
    if peer is None:
        pytest.skip("babeltrace2 is not installed")
    trace = recording[0] / "kernel"
    convert = [*record_command(trace, ["x"])[:3], "convert", str(trace)]
    theirs, ours = (
        subprocess.run(one, capture_output=True, text=True, check=True).stdout
        for one in ([peer, trace], convert)
    )
    assert f"{FAULTS} = " in ours
    assert ours == theirs


@needs_counters
def test_losses_give_no_event_the_values_of_another(tmp_path, program):
    """Of a page that was touched later, never fewer faults are counted.

    Other programs may make more of them, but those of the program itself are as many as
    the number of its page says.
    """
    options = RecordingOptions(
        kernel=("syscalls:getpriority",),
        kernel_contexts=("perf:cpu:page-fault",),
        buffer_size=64 << 10,
    )
    domain = kernel_domain(
        Places(str(tmp_path), str(tmp_path), str(tmp_path / "kernel")),
        options,
        RecordingClock(None),
        UUID,
    )
    try:
        domain.start()
        [instance] = instances_of(os.getpid())
        [reader] = children_of(int(instance.split("-")[1]))
        with subprocess.Popen([program, str(MANY), str(PAGES * PAGE)]) as running:
            while running.poll() is None:
                os.kill(reader, signal.SIGSTOP)
                time.sleep(0.002)
                os.kill(reader, signal.SIGCONT)
                time.sleep(0.0005)
        domain.stop()
    finally:
        domain.close()
    collected = Collected()
    domain.tell(collected)
    assert collected.kernel.lost > 0
    values = [
        one.context[FAULTS] - one["who"] - (one["which"] == AFTER)
        for one in entries(tmp_path / "kernel", running.pid)
        if one.context[FAULTS] != UNKNOWN
    ]
    assert values == sorted(values)
    assert len(values) > COUNT


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (errno.ENOENT, "this machine has no such counter"),
        (errno.EACCES, "perf_event_open(2) is forbidden: Permission denied"),
        (errno.ENOSYS, "this kernel has no perf_event_open(2)"),
    ],
)
def test_why_there_is_no_counter(monkeypatch, number, text):
    """As the kernel says it."""

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(counters, "open_counter", refuse)
    said = counters.why_not("perf:cpu:cs")

    assert said == text


def test_a_kernel_without_programs_says_so(monkeypatch):
    """Such as one that is locked down."""

    def refuse(*_):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(counters, "open_counter", lambda *_: os.open("/", os.O_PATH))
    monkeypatch.setattr(counters, "attach_program", refuse)
    said = counters.why_not("perf:cpu:cs")

    assert said == "bpf(2) is forbidden: Operation not permitted"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of calls")
def test_numbers_of_calls_are_those_of_the_kernel():
    """As the headers of the C library have them."""
    names = ["read", "getpriority", "openat", "futex_wait", "fchmodat2"]
    found = [counters.call_number(one) for one in names]

    assert found == [0, 140, 257, 455, 452]


def test_a_program_is_as_long_as_its_counters():
    """Its text ends behind the last value, and few calls cost few instructions."""
    lengths = [len(counter_program(3, one, 2, b"x" * 16)) // 8 for one in (1, 2, 3)]
    assert lengths[2] - lengths[1] == lengths[1] - lengths[0]
    few = counter_program(3, 1, 2, b"x" * 16, CallSet({1, 500}, is_entry=True))
    assert len(few) // 8 - lengths[0] < 25
