"""Call stacks of the kernel's events: waits, system calls, counts."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.vestige_command import vestige as run_vestige
from vestige import ctf

BASE = 0x7F0000400000
KERNEL = 0xFFFFFFFF81000000
MORE = (1 << 64) - 1
SYMBOLS = (
    f"{KERNEL:x} 100 trace_event_raw_event_sched_switch;{KERNEL + 0x100:x} 100 schedule"
    f";{KERNEL + 0x200:x} 100 ep_poll;{KERNEL + 0x300:x} 100 do_syscall_64"
)
RECORDING, SCHEDULE, EP_POLL, SYSCALL = (KERNEL + 0x10 + at * 0x100 for at in range(4))
IN_KERNEL = [RECORDING, SCHEDULE, EP_POLL, SYSCALL]
LOST = "lost"
"""Stands for event records that were lost since the last such row."""
Row = tuple[int, str, int, dict[str, object], Sequence[int], Sequence[int]]
"""Time, event, thread, fields, and the stacks of the program and of the kernel."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with the functions inner and main."""
    path = tmp_path_factory.mktemp("program") / "stacks"
    run_tool(["gcc", "-g", "-O0", "-pie", "-fPIE", "-o", path, PROGRAMS / "stacks.c"])
    return path


@pytest.fixture(scope="module")
def in_program(program: Path) -> list[int]:
    """A call stack in it."""
    lines = [line.split() for line in run_tool(["nm", program]).decode().splitlines()]
    places = {line[-1]: int(line[0], 16) for line in lines if len(line) > 2}
    return [BASE + places["inner"] + 4, BASE + places["main"] + 5]


def write(path: Path, program: Path, rows: Sequence[Row]) -> Path:
    """Write a trace of a kernel, of thread 7 in process 5 and others."""
    address = ctf.array(ctf.integer(64, base=16))
    switch: dict[str, str | type] = {
        "prev_comm": str,
        "prev_tid": "s32",
        "prev_state": "s64",
        "next_comm": str,
        "next_tid": "s32",
    }
    with ctf.Writer(
        path,
        environment={
            "domain": "kernel",
            "user_threads_0": "7 0 0 5",
            "user_objects_1": f"0 {BASE:x} 10000 - {os.fspath(program)}",
            "kernel_symbols_2": SYMBOLS,
        },
        packet_context={"cpu_id": "u32"},
        event_context={
            "tid": "s32",
            "callstack_user": address,
            "callstack_kernel": address,
        },
    ) as writer:
        kinds = {
            "sched_switch": writer.event_class("sched_switch", switch),
            "sched_waking": writer.event_class("sched_waking", {"tid": "s32"}),
            "syscall_entry_read": writer.event_class("syscall_entry_read", {}),
            "syscall_exit_read": writer.event_class("syscall_exit_read", {}),
            "kmem_kmalloc": writer.event_class("kmem_kmalloc", {}),
        }
        stream = writer.stream("channel0_0", cpu_id=0)
        for time, name, thread, fields, user, kernel in rows:
            if name == LOST:
                stream.discard(thread)
                stream.flush()
                continue
            context = {
                "tid": thread,
                "callstack_user": [*user],
                "callstack_kernel": [*kernel],
            }
            stream.write(kinds[name], time, context, **fields)
    return path


def switch(
    time: int, before: int, after: int, state: int = 1, user: Sequence[int] = ()
) -> Row:
    """Return a switch from a thread to another one."""
    names = {0: "swapper", 7: "app", 8: "other"}
    fields: dict[str, object] = {
        "prev_comm": names[before],
        "prev_tid": before,
        "prev_state": state,
        "next_comm": names[after],
        "next_tid": after,
    }
    return time, "sched_switch", before, fields, user, IN_KERNEL


def waking(time: int, thread: int) -> Row:
    """Return that a thread is woken by nobody in particular."""
    return time, "sched_waking", 0, {"tid": thread}, (), ()


def report(path: Path, *options: str) -> str:
    """Return what a report says."""
    return run_vestige("report", *options, path).stdout.decode()


@pytest.fixture
def waits(program: Path, in_program: list[int], tmp_path: Path) -> Path:
    """Two waits of thread 7 in one place, one without end, and one of thread 8."""
    return write(
        tmp_path / "waits",
        program,
        [
            switch(100, 7, 0, 1, in_program),
            waking(150, 7),
            switch(180, 0, 7),
            # It could go on: it was preempted.
            switch(200, 7, 8, 0, in_program),
            switch(210, 8, 7, 1),
            switch(300, 7, 8, 1, in_program),
        ],
    )


def test_waits_last_from_switch_to_switch(waits: Path) -> None:
    """Of these, a thread could run from its waking on, or all the time."""
    facts = json.loads(report(waits, "--off-cpu", "--json"))

    [one, other] = facts["stacks"]
    assert [one["name"], other["name"]] == ["app", "other"] or one["total_ns"] == 90
    app = one if one["name"] == "app" else other
    assert (app["count"], app["total_ns"], app["max_ns"]) == (2, 90, 80)
    assert app["runnable_ns"] == 30 + 10
    functions = [frame["function"] for frame in app["stack"]]
    assert functions == ["main", "inner", "do_syscall_64", "ep_poll", "schedule"]
    assert [frame["is_kernel"] for frame in app["stack"]] == [False] * 2 + [True] * 3
    assert app["stack"][1]["source"].startswith("stacks.c:")
    assert (facts["total_ns"], facts["unended"]) == (90 + 90, 1)


def test_a_wait_in_which_events_were_lost_is_in_no_sum(
    program: Path, in_program: list[int], tmp_path: Path
) -> None:
    """Its end may be among these; those before and after are in."""
    path = write(
        tmp_path / "lost",
        program,
        [
            switch(100, 7, 0, 1, in_program),
            switch(110, 0, 7),
            switch(200, 7, 0, 1, in_program),
            (0, LOST, 0, {}, (), ()),
            switch(300, 0, 7),
            (0, LOST, 3, {}, (), ()),
            switch(400, 7, 0, 1, in_program),
            switch(420, 0, 7),
        ],
    )
    found = vestige.open(path).off_cpu_stacks()

    assert [(one.times.count, one.times.total) for one in found.stacks] == [(2, 30)]
    assert found.unended == 1


def test_waits_without_an_end_are_those_of_chosen_threads(waits: Path) -> None:
    """Thread 7 has one, and thread 8 has none."""
    for thread, unended in ((7, 1), (8, 0)):
        facts = json.loads(report(waits, "--off-cpu", f"--thread={thread}", "--json"))
        assert [one["tid"] for one in facts["stacks"]] == [thread]
        assert facts["unended"] == unended


def test_waits_of_traces_without_stacks_are_counted_beside_others(
    waits: Path, tmp_path: Path
) -> None:
    """Whatever is read at the same time as they are."""
    late = tmp_path / "late"
    with ctf.Writer(
        late,
        environment={"domain": "kernel", "hostname": "another"},
        packet_context={"cpu_id": "u32"},
        event_context={"tid": "s32"},
    ) as writer:
        stream = writer.stream("channel0_0", cpu_id=0)
        fields: dict[str, str | type] = {
            **{f"{one}_comm": str for one in ("prev", "next")},
            **{f"{one}_tid": "s32" for one in ("prev", "next")},
            "prev_state": "s64",
        }
        kind = writer.event_class("sched_switch", fields)
        for time in range(10**9, 10**9 + 400_000, 20):
            _, _, thread, values, _, _ = switch(time, 8, 0)
            stream.write(kind, time, {"tid": thread}, **values)
            _, _, thread, values, _, _ = switch(time + 10, 0, 8)
            stream.write(kind, time + 10, {"tid": thread}, **values)
    found = run_vestige("report", "--off-cpu", "--json", waits, late)
    facts = json.loads(found.stdout)

    assert facts["without_stack"] == 20_000
    assert facts["count"] == 3 + 20_000
    assert facts["unended"] == 1


def test_folded_stacks_are_those_of_flame_graphs(waits: Path) -> None:
    """Functions of the kernel are marked; threads of a name are one, or each is."""
    lines = report(waits, "--off-cpu", "--to=folded").splitlines()
    kernel = "do_syscall_64_[k];ep_poll_[k];schedule_[k]"

    assert sorted(lines) == [f"app;main;inner;{kernel} 90", f"other;{kernel} 90"]
    [line] = report(
        waits, "--off-cpu", "--thread", "--process=5", "--to=folded"
    ).splitlines()
    assert line == f"app thread 7;main;inner;{kernel} 90"


def test_viewers_get_the_unit(waits: Path, tmp_path: Path) -> None:
    """Times of waits, and numbers of events."""
    for kind, unit, weight in (
        ("--off-cpu", "nanoseconds", 90),
        ("--stacks", "none", 3),
    ):
        facts = json.loads(report(waits, kind, "--to=speedscope"))
        profiles = {one["name"]: one for one in facts["profiles"]}
        assert profiles["app"]["unit"] == unit
        assert sum(profiles["app"]["weights"]) == weight
        file = tmp_path / "profile.pb.gz"
        report(waits, kind, "--to=pprof", "-o", os.fspath(file))
        text = gzip.decompress(file.read_bytes())
        assert (b"off-cpu" in text) is (kind == "--off-cpu")
        assert b"ep_poll" in text


def test_events_are_counted_where_they_come_from(
    program: Path, in_program: list[int], tmp_path: Path
) -> None:
    """Those that are chosen; callers beyond the last one are told."""
    kmalloc = "kmem_kmalloc"
    path = write(
        tmp_path / "counts",
        program,
        [
            switch(1, 0, 7),
            (2, kmalloc, 7, {}, [*in_program, MORE], [SYSCALL]),
            # By frame pointers that are none, the kernel finds what is no address.
            (3, kmalloc, 7, {}, [*in_program, 0x373A2A2072657672, 9], [SYSCALL]),
            (4, kmalloc, 7, {}, [], []),
        ],
    )
    lines = report(path, "--stacks", "--event=kmem_*", "--to=folded").splitlines()

    assert sorted(lines) == [
        "app;(no call stack) 1",
        "app;...;main;inner;do_syscall_64_[k] 2",
    ]
    text = report(path, "--stacks", "--event=kmem_*")
    assert "3 events of 1 thread" in text
    assert "inner  stacks.c:" in text
    assert "1 event without a call stack" in text


def test_stacks_of_programs_are_not_cut_where_those_of_the_kernel_end(
    program: Path, in_program: list[int], tmp_path: Path
) -> None:
    """Some kernels write that there are no more at the end of each."""
    path = write(
        tmp_path / "ended",
        program,
        [
            (2, "kmem_kmalloc", 7, {}, in_program, [SYSCALL, MORE]),
        ],
    )
    [one] = [
        one
        for one in vestige.open(path).stack_counts().stacks
        if one.event == "kmem_kmalloc"
    ]

    assert not one.is_cut
    assert [frame.function.name for frame in one.frames] == [
        "main",
        "inner",
        "do_syscall_64",
    ]


def test_the_report_of_a_kernel_names_functions(
    program: Path, in_program: list[int], tmp_path: Path
) -> None:
    """Which function of the program waited, where in the kernel, and in which call."""
    path = write(
        tmp_path / "functions",
        program,
        [
            switch(90, 0, 7),
            (95, "syscall_entry_read", 7, {}, in_program, []),
            switch(100, 7, 0, 1, in_program),
            switch(180, 0, 7),
            (195, "syscall_exit_read", 7, {}, in_program, []),
            switch(200, 7, 0),
        ],
    )
    [machine] = json.loads(report(path, "--kernel", "--json"))["machines"]

    [wait] = machine["waits_by_function"]
    assert (wait["name"], wait["function"], wait["kernel"]) == (
        "app",
        "inner",
        "ep_poll",
    )
    assert (wait["count"], wait["total_ns"]) == (1, 80)
    [call] = machine["system_calls_by_function"]
    assert (call["function"], call["kernel"]) == ("inner", "read")
    assert (call["count"], call["total_ns"]) == (1, 100)
    assert "app: inner (stacks.c:" in report(path, "--kernel")


def test_the_reports_of_kernels_of_the_same_name_are_told_apart(
    waits: Path, program: Path, in_program: list[int], tmp_path: Path
) -> None:
    """Two recordings on one machine: each has its own waits."""
    other = write(
        tmp_path / "other",
        program,
        [switch(100, 7, 0, 1, in_program), switch(105, 0, 7)],
    )
    found = run_vestige("report", "--kernel", "--json", waits, other)
    one, two = json.loads(found.stdout)["machines"]

    assert [wait["total_ns"] for wait in two["waits_by_function"]] == [5]
    assert sum(wait["total_ns"] for wait in one["waits_by_function"]) == 180
    text = run_vestige("report", "--off-cpu", waits, other).stdout.decode()
    assert "4 waits of 3 threads" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--off-cpu", "--event=x"], "not for --off-cpu"),
        (["--off-cpu", "--process=99"], "no such process has waits"),
        (["--stacks", "--event=absent"], "no events of a kernel among the chosen"),
    ],
)
def test_what_is_not_there_is_an_error(
    waits: Path, options: list[str], words: str
) -> None:
    """It says what is missing."""
    found = run_vestige("report", *options, waits)

    assert found.status
    assert words in found.stderr.decode()


@pytest.mark.parametrize("kind", ["--off-cpu", "--stacks"])
def test_traces_without_stacks_say_how_they_are_recorded(
    kind: str, tmp_path: Path
) -> None:
    """There is nothing to report."""
    with ctf.Writer(
        tmp_path / "t",
        environment={"domain": "kernel"},
        packet_context={"cpu_id": "u32"},
        event_context={"tid": "s32"},
    ) as writer:
        stream = writer.stream("channel0_0", cpu_id=0)
        stream.write(
            writer.event_class("sched_switch", {"x": "u8"}), 1, {"tid": 1}, x=1
        )
    found = run_vestige("report", kind, tmp_path / "t")

    assert found.status == 3
    assert "--kernel-context=callstack-user,callstack-kernel" in found.stderr.decode()


def test_python_has_the_same(waits: Path) -> None:
    """Of a trace, or of a part of it."""
    trace = vestige.open(waits)

    found = trace.off_cpu_stacks()
    assert {one.name: one.times.total for one in found.stacks} == {
        "app": 90,
        "other": 90,
    }
    counted = {one.event: one for one in trace.stack_counts().stacks}
    assert counted["sched_waking"].frames == ()
