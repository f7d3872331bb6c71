"""Call stacks of kernel and program at each event, which only root can record."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from bisect import bisect_right
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.kernel_channels import record_kernel
from support.kernel_tracer import why_not
from support.recorded import record_command
from vestige.record.backends.kernel.rules import KernelRule

REASON = why_not() or (None if platform.machine() == "x86_64" else "a system call")
needs_tracer = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
COUNT = 200
MOST = 8
"""Addresses of a stack of a program."""
MORE = (1 << 64) - 1
ENTRY, EXIT = "syscall_entry_getpriority", "syscall_exit_getpriority"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program with frame pointers, which is loaded where it was linked."""
    path = tmp_path_factory.mktemp("program") / "stacks"
    # With -O0, each function has a frame.
    flags = ["-O0", "-no-pie", "-fno-omit-frame-pointer"]
    run_tool(["gcc", *flags, "-o", path, PROGRAMS / "stacks.c"])
    return path


@pytest.fixture(scope="module")
def recording(tmp_path_factory, program):
    """A recording of it with both stacks, and with events that interrupt it."""
    output = tmp_path_factory.mktemp("stacks") / "trace"
    what = ["--kernel=syscalls:getpriority,timer,irq,sched"]
    what.append("--kernel-context=callstack-kernel,procname,callstack-user")
    command = record_command(
        output, [program, str(COUNT)], *what, "--buffer-size", "16M"
    )
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return output


def functions(path):
    """Return names and ranges of the functions of a program."""
    found = re.findall(
        r"^(\w+) (\w+) T (\w+)$", run_tool(["nm", "-S", path]).decode(), re.MULTILINE
    )
    return {
        name: range(int(begin, 16), int(begin, 16) + int(size, 16))
        for begin, size, name in found
    }


def calls(output, name):
    """Return the events of the program's system calls."""
    return [
        one
        for one in vestige.open(output / "kernel")
        # Other programs may make such a call.
        if one.name == name and one.context["procname"] == "stacks"
    ]


@needs_tracer
def test_stacks_of_the_program_lead_to_its_functions(recording, program):
    """Those that called one another; where more called, a mark says so."""
    known = functions(program)
    found = {"few": 0, "many": 0}
    for event in calls(recording, ENTRY):
        stack = [*event.context["callstack_user"]]
        names = [
            next((name for name, where in known.items() if one in where), None)
            for one in stack
        ]
        if names[1] == "outer":
            assert names[:3] == ["inner", "outer", "main"]
            found["few"] += 1
        else:
            assert names[:MOST] == ["inner", *["down"] * (MOST - 1)]
            assert stack[MOST:] == [MORE]
            found["many"] += 1

    assert found == {"few": COUNT, "many": COUNT}


@needs_tracer
def test_frames_of_the_program_have_names(recording):
    """Also when it has ended, and its own trace is not read."""
    texts = {one["callstack_user_names"] for one in calls(recording, ENTRY)}
    stacks = {
        tuple(re.sub(r"\+0x\w+.*", "", one) for one in text.split("; "))
        for text in texts
    }

    called = ("stacks:inner", "stacks:outer", "stacks:main")
    assert called in {stack[:3] for stack in stacks}
    assert ("stacks:inner", *["stacks:down"] * (MOST - 1), "...") in stacks


@needs_tracer
def test_stacks_of_the_kernel_are_its_own(recording):
    """At each event; those of a way into the kernel are always the same."""
    stacks = {
        name: {tuple(one.context["callstack_kernel"]) for one in calls(recording, name)}
        for name in (ENTRY, EXIT)
    }

    assert [len(found) for found in stacks.values()] == [1, 1]
    for [stack] in stacks.values():
        assert len(stack) > 1
        assert all(one >> 63 for one in stack)
    assert stacks[ENTRY] != stacks[EXIT]


@needs_tracer
def test_events_that_interrupt_others_take_no_stack_of_theirs(recording):
    """Most have one; it leads to where the kernel handles them."""
    with_stack = without = 0
    last = 0
    for event in vestige.open(recording / "kernel"):
        if event.name.startswith("lttng_"):
            assert len(event.context["callstack_kernel"]) == 0
            continue
        assert event.timestamp >= last
        last = event.timestamp
        stack = [*event.context["callstack_kernel"]]
        if not event.context["procname"].startswith("swapper/"):
            # Kernels find none where a CPU has nothing to do that started later.
            with_stack += bool(stack)
            without += not stack
        assert all(one >> 63 for one in stack)
        if event.name.startswith("timer_") and stack:
            assert not {*stack} & {*event.context["callstack_user"]}

    # The kernel leaves it out where it is in the middle of another one, and finds none
    # at some interrupts of programs: how often depends on what others do.
    assert with_stack > without


@needs_tracer
def test_addresses_have_the_names_that_the_kernel_gives_them(recording):
    """All of stacks and of functions of timers, as ``/proc/kallsyms`` has them."""
    lines = Path("/proc/kallsyms").read_text().splitlines()
    known = {}
    for address, kind, name in (line.split()[:3] for line in lines):
        # Of several names of one address, the first one counts.
        known.setdefault(int(address, 16), (kind, name))
    begins = sorted(known)
    trace = vestige.open(recording / "kernel")
    checked = set()
    for event in trace:
        for field in ("callstack_kernel", "function"):
            value = event.get(field, ())
            addresses = [value] if isinstance(value, int) else value
            if checked >= {*addresses}:
                continue
            for one, place in zip(
                addresses, trace.kernel_places(event, field), strict=True
            ):
                begin = begins[bisect_right(begins, one) - 1]
                kind, name = known[begin]
                assert kind in "tTwW"
                # Programs of BPF may end before others ask for them.
                if place.binary.mapping.path != "[bpf]":
                    assert (place.function, place.offset) == (name, one - begin)
            checked |= {*addresses}
    assert len(checked) > 50


@needs_tracer
def test_each_chunk_of_a_trace_has_the_names_that_it_needs(tmp_path):
    """What comes after a rotation, too, also where it was named before."""
    chunks = [tmp_path / name for name in ("first", "second", "third")]

    def work(process):
        for chunk in chunks[1:]:
            os.getpriority(os.PRIO_PROCESS, 0)
            process.ask("rotate", directory=str(chunk))
        Path("/proc/self/oom_score").read_text()

    rules = [KernelRule("syscall", "getpriority"), KernelRule("tracepoint", "kmem_*")]
    record_kernel(chunks[0], rules, work, contexts=["callstack-kernel"])
    for chunk in chunks:
        trace = vestige.open(chunk)
        named = 0
        for event in trace:
            for place in trace.kernel_places(event):
                assert place.function
                named += 1
        assert named


@needs_tracer
def test_each_chunk_of_a_trace_has_what_was_mapped(tmp_path):
    """Though a page of memory is noted once."""
    chunks = [tmp_path / name for name in ("first", "second")]

    def work(process):
        os.getpriority(os.PRIO_PROCESS, 0)
        process.ask("rotate", directory=str(chunks[1]))
        os.getpriority(os.PRIO_PROCESS, 0)

    rules = [KernelRule("syscall", "getpriority")]
    record_kernel(chunks[0], rules, work, contexts=["callstack-user"])
    for chunk in chunks:
        own = [
            one["callstack_user_names"]
            for one in vestige.open(chunk)
            if one.name == ENTRY and one["tid"] == os.getpid()
        ]
        assert own
        assert all(one.startswith("libc.so.6:") for one in own)
