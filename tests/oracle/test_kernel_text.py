"""Recordings of the kernel, beside Babeltrace 2 and perf: each line, each count."""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.kernel_tracer import why_not
from support.peers import babeltrace
from support.recorded import build_program, run_recorded
from support.vestige_command import convert

REASON = why_not() or (None if platform.machine() == "x86_64" else "numbers of calls")
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(REASON is not None, reason=f"no kernel tracer: {REASON}"),
]
SYSTEMS = "sched,syscalls,irq,block,net,timer,power,signal"
CONTEXTS = "pid,procname,prio,uid,vpid,callstack-kernel,callstack-user,interruptible"
CALLS = {"getpriority": 140, "sched_getparam": 143, "getpgid": 121}
"""Numbers of calls that perf and its shell do not make."""
WORK = """
cd {directory}
dd if=/dev/zero of=data bs=16k count=4 conv=fsync 2>/dev/null
exec 3<>/dev/udp/127.0.0.1/9
echo sent >&3
sleep 0.02
./marked 3
./system_calls 5 140
"""
EMPTY = re.compile(rb' = ""(?:[ ,]|$)')


@pytest.mark.usefixtures("babeltrace_peer")
def test_babeltrace_reads_every_line_alike(tmp_path: Path) -> None:
    """Of all kinds of events at once, with probes, contexts, call stacks and programs."""
    build_program(tmp_path, "system_calls")
    marked = tmp_path / "marked"
    run_tool(["gcc", "-O1", "-o", marked, PROGRAMS / "marked.c"])
    output = tmp_path / "trace"
    done = run_recorded(
        output,
        ["bash", "-c", WORK.format(directory=tmp_path)],
        *("--kernel", SYSTEMS, "--kernel-context", CONTEXTS),
        *("--kernel-probe", f"elf:{marked}:sell"),
        *("--kernel-probe", f"sdt:{marked}:shop:sold"),
    )
    assert done.returncode == 0, done.stderr
    names = {
        event.name or "" for event in vestige.open(output / "kernel", debug_info=False)
    }
    begins = {re.split("[_:]", name)[0] for name in names}
    assert {"sched", "syscall", "net", "timer", "shop", "sell"} <= begins
    theirs, ours = babeltrace(output), convert(output)

    assert theirs.status == ours.status == 0
    # There are some where the machine is busy.
    assert theirs.warnings == ours.warnings == theirs.stderr.splitlines()
    # Behind a longer text in the same field, Babeltrace 2.0.4 prints that again for an
    # empty one.
    pairs = [
        (own, other)
        for own, other in zip(
            ours.stdout.splitlines(), theirs.stdout.splitlines(), strict=True
        )
        if own != other
    ]
    assert [own for own, _ in pairs if not EMPTY.search(own)] == []
    assert b"func_entry" in ours.stdout


def test_counts_are_those_of_perf(tmp_path: Path) -> None:
    """Of several system calls, which both count while a program makes them."""
    perf = shutil.which("perf")
    if perf is None:
        pytest.skip("not installed: perf (Debian package linux-perf)")
    # The kernel is one for all: nobody else's program is called so.
    program = build_program(tmp_path, "system_calls")
    program = program.rename(program.with_name(f"calls-{os.getpid()}"))
    counts = {name: 1000 + 7 * number for name, number in CALLS.items()}
    calls = "; ".join(f"{program} {counts[name]} {CALLS[name]}" for name in CALLS)
    events = [word for name in CALLS for word in ("-e", f"syscalls:sys_enter_{name}:u")]
    events = [word.removesuffix(":u") for word in events]
    output = tmp_path / "trace"
    wanted = ",".join(f"syscalls:{name}" for name in CALLS)
    # It mounts tracefs where it can, and leaves that there.
    counting = ["unshare", "--mount", perf, "stat", "-x,", "-o", tmp_path / "counted"]
    done = run_recorded(
        output,
        [*counting, *events, "sh", "-c", calls],
        *("--kernel", wanted, "--kernel-context", "procname"),
    )
    if done.returncode != 0 and not (tmp_path / "counted").exists():
        pytest.skip(f"perf cannot count here: {done.stderr[:200]}")
    assert done.returncode == 0, done.stderr
    theirs = {
        found[2]: int(found[1])
        for found in re.finditer(
            r"^(\d+),,syscalls:sys_enter_(\w+)",
            (tmp_path / "counted").read_text(),
            re.MULTILINE,
        )
    }
    ours = Counter(
        (event.name or "").removeprefix("syscall_entry_")
        for event in vestige.open(output / "kernel", debug_info=False)
        if event.context["procname"] == program.name
    )

    assert theirs == {name: ours[name] for name in CALLS} == counts
