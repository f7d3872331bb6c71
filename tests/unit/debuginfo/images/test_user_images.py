"""Call stacks of programs in traces of the kernel."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.vestige_command import vestige as run_vestige
from vestige import ctf

BASE = 0x7F0000400000
OTHER = 0x7F0000800000
MORE = (1 << 64) - 1


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that can be loaded anywhere, in a path with a space."""
    path = tmp_path_factory.mktemp("a program") / "stacks"
    run_tool(["gcc", "-g", "-O0", "-pie", "-fPIE", "-o", path, PROGRAMS / "stacks.c"])
    return path


def address_of(program: Path, function: str) -> int:
    """Return where a function is in the file."""
    lines = run_tool(["nm", program]).decode().splitlines()
    return next(
        int(line.split()[0], 16) for line in lines if line.endswith(f" {function}")
    )


def entries(program: Path) -> dict[str, str]:
    """Return what a recording tells of two processes: the second executes it late."""
    path = os.fspath(program).replace(" ", "%20")
    return {
        "domain": "kernel",
        "user_threads_0": "7 0 0 5;8 0 1 8;8 64 2 8;nothing",
        "user_objects_1": f"0 {BASE:x} 10000 - {path};2 {OTHER:x} 10000 - {path};0 x",
    }


def write_stacks(
    path: Path,
    environment: dict[str, str],
    events: Sequence[tuple[int, int, Sequence[int]]],
) -> Path:
    """Write a trace of a kernel: times, threads and call stacks."""
    with ctf.Writer(
        path,
        environment=environment,
        packet_context={"cpu_id": "u32"},
        event_context={
            "tid": "s32",
            "callstack_user": ctf.array(ctf.integer(64, base=16)),
        },
    ) as writer:
        kind = writer.event_class("sched_switch", {"prio": "s32"})
        stream = writer.stream("channel0_0", cpu_id=0)
        for time, thread, stack in events:
            context = {"tid": thread, "callstack_user": [*stack]}
            stream.write(kind, time, context, prio=0)
    return path


def names(path: Path) -> list[str]:
    """Return the call stacks as text."""
    return [one["callstack_user_names"] for one in vestige.open(path)]


def test_addresses_lead_to_functions_and_lines(program: Path, tmp_path: Path) -> None:
    """Those of callers to their calls; what is not known stays a number."""
    inner, main = (address_of(program, one) for one in ("inner", "main"))
    stack = [BASE + inner, BASE + main + 5, 0x1234, MORE]
    path = write_stacks(tmp_path / "t", entries(program), [(1, 7, stack)])
    [text] = names(path)

    first, second, *rest = text.split("; ")
    assert first.startswith("stacks:inner+0(stacks.c:")
    assert second.startswith("stacks:main+0x5(stacks.c:")
    assert rest == ["0x1234", "..."]


def test_a_process_has_another_image_after_it_executed_a_program(
    program: Path, tmp_path: Path
) -> None:
    """Before, nothing is known there."""
    address = OTHER + address_of(program, "inner") + 1
    events = [(time, 8, [address]) for time in (0x63, 0x64)]
    before, after = names(write_stacks(tmp_path / "t", entries(program), events))

    assert before == f"{address:#x}"
    assert after.startswith("stacks:inner+0x1(")


def test_view_shows_names_in_place_of_numbers(program: Path, tmp_path: Path) -> None:
    """And numbers where there are none."""
    address = BASE + address_of(program, "inner") + 1
    events = [(1, 7, [address]), (2, 9, [address]), (3, 9, [])]
    path = write_stacks(tmp_path / "t", entries(program), events)
    shown = run_vestige("view", path).stdout.decode().splitlines()

    assert "callstack_user=[stacks:inner+0x1(stacks.c:" in shown[0]
    assert f"callstack_user=[{address:#x}]" in shown[1]
    assert "callstack_user=[]" in shown[2]


@pytest.mark.parametrize("number", [str(10**30), "1" + "0" * 5000, "-9"])
def test_numbers_that_make_no_sense_are_left_out(
    program: Path, tmp_path: Path, number: str
) -> None:
    """Of images, processes and threads; others are known all the same."""
    told = entries(program)
    told["user_threads_0"] += f";9 0 {number} 9;{number} 0 0 9;9 0 0 {number}"
    told["user_objects_1"] += f";{number} {BASE:x} 10000 - /gone"
    address = BASE + address_of(program, "inner") + 1
    path = write_stacks(tmp_path / "t", told, [(1, 7, [address])])

    assert names(path)[0].startswith("stacks:inner+0x1(")
    [one] = vestige.open(path).stack_counts().stacks
    assert one.process == 5


def test_a_copy_keeps_the_names(program: Path, tmp_path: Path) -> None:
    """They are fields like others, once."""
    address = BASE + address_of(program, "inner") + 1
    path = write_stacks(tmp_path / "t", entries(program), [(1, 7, [address])])
    run_vestige("convert", "--debug-info", path, "-o", "ctf", "-w", tmp_path / "copy")
    program.rename(program.with_name("gone"))
    try:
        assert "stacks:inner+0x1(" in names(tmp_path / "copy")[0]
    finally:
        program.with_name("gone").rename(program)


def test_a_trace_of_the_program_tells_what_the_kernel_s_does_not(
    program: Path, tmp_path: Path
) -> None:
    """With the same clock, it is of the same machine."""
    address = BASE + address_of(program, "inner") + 1
    write_stacks(
        tmp_path / "both" / "kernel", {"domain": "kernel"}, [(9, 7, [address])]
    )
    context = {"vpid": "s32", "ip": ctf.integer(64, base=16)}
    with ctf.Writer(tmp_path / "both" / "ust", event_context=context) as writer:
        address_field = ctf.integer(64, base=16)
        kind = writer.event_class(
            "lttng_ust_statedump:bin_info",
            {"baddr": address_field, "memsz": "u64", "path": str, "is_pic": "u8"},
        )
        stream = writer.stream("stream")
        fields = {"baddr": BASE, "memsz": 0x10000, "path": str(program), "is_pic": 1}
        stream.write(kind, 1, {"vpid": 7, "ip": 0}, **fields)
    found = [
        one["callstack_user_names"]
        for one in vestige.open(tmp_path / "both")
        if one.name == "sched_switch"
    ]

    assert found[0].startswith("stacks:inner+0x1(")
