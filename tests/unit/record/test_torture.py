"""Programs that do anything to their threads, processes, stacks, signals and limits.

Traced and untraced, they print the same and end with the same status. The trace has no
damage, and each call is in it or counted as lost.
"""

from __future__ import annotations

import os
import shutil

import pytest

from support.compilers import PROGRAMS, run_tool
from support.recorded import without_losses
from support.tortured import (
    EXACT,
    IS_LONG,
    LOOSE,
    build_torture,
    run_traced,
    run_untraced,
)

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
    pytest.mark.timeout(600),
]

SOURCES = PROGRAMS / "torture"
PACKETS = "--buffer-size=8k"
IS_ROOT = os.geteuid() == 0
TRACED = ["-g", "-O1", "-Wall", "-finstrument-functions"]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The torture program."""
    path = tmp_path_factory.mktemp("torture") / "torture"
    return build_torture(path, *TRACED)


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    """A traced library with a RUNPATH to another."""
    directory = tmp_path_factory.mktemp("plugin")
    below = directory / "below" / "libbelow.so"
    below.parent.mkdir()
    shared = ["gcc", *TRACED, "-fPIC", "-shared"]
    run_tool([*shared, "-o", below, SOURCES / "below.c"])
    path = directory / "plugin.so"
    search = ["-L", below.parent, "-lbelow", "-Wl,-rpath,$ORIGIN/below"]
    run_tool([*shared, "-o", path, SOURCES / "plugin.c", *search])
    return path


def compare(program, directory, *words, options=(PACKETS,), environment=None):
    """Run the program both ways; return what it did when it was traced."""
    command = [program, *map(str, words)]
    untraced = run_untraced(command, directory, environment)
    traced = run_traced(command, directory, *options, environment=environment)

    assert (traced.status, traced.output) == (untraced.status, untraced.output)
    assert traced.damage == ()
    assert without_losses(traced.errors) == ""
    return traced


@pytest.mark.parametrize(
    ("mode", "short", "long"), EXACT, ids=[mode for mode, _, _ in EXACT]
)
def test_each_call_is_recorded_or_counted_as_lost(tmp_path, program, mode, short, long):
    """Whatever the program does, also to the tracer's means."""
    traced = compare(program, tmp_path, mode, long if IS_LONG else short)

    # The state dump of a process that may not write is lost, too.
    assert traced.calls > 0
    assert -40 <= traced.missing <= 0 if mode == "seccomp" else traced.missing == 0


@pytest.mark.parametrize(
    ("mode", "short", "long", "each"), LOOSE, ids=[mode for mode, _, _, _ in LOOSE]
)
def test_only_what_is_under_way_is_lost(tmp_path, program, mode, short, long, each):
    """When threads are ended from outside, and processes forked inside the tracer."""
    number = long if IS_LONG else short
    traced = compare(program, tmp_path, mode, number)

    assert traced.calls > 0
    assert abs(traced.missing) <= each * number


@pytest.mark.parametrize("size", ["8k", "64k"])
def test_signals_at_a_high_rate_interrupt_the_tracer(tmp_path, program, size):
    """Nested, from several timers and from other threads."""
    number = 5_000_000 if IS_LONG else 100_000
    traced = compare(
        program, tmp_path, "signals", number, options=[f"--buffer-size={size}"]
    )

    # A record that was given up may be written in its place after all, when its chunk is
    # complete and nobody can take it from the losses: then it is there, and counted as lost.
    assert -1 - traced.lost <= traced.missing <= 0
    # A record is given up when a handler that interrupts it fills the packet.
    assert traced.lost < traced.calls / 100


@pytest.mark.parametrize("size", ["8k", "64k"])
def test_handlers_that_jump_lose_their_own_records(tmp_path, program, size):
    """And no others: an exit of the handler's, and one record on each side."""
    number = 5_000_000 if IS_LONG else 200_000
    traced = compare(
        program, tmp_path, "jump", number, options=[f"--buffer-size={size}"]
    )

    assert traced.jumps > 0
    assert 0 <= traced.missing <= 4 * traced.jumps


@pytest.mark.parametrize("size", ["8k", "64k"])
def test_coroutines_that_are_switched_in_a_handler(tmp_path, program, size):
    """In the middle of the tracer, they leave records in any order."""
    number = 500_000 if IS_LONG else 30_000
    traced = compare(
        program, tmp_path, "preempted", number, options=[f"--buffer-size={size}"]
    )

    assert traced.events["func_entry"] > number
    assert abs(traced.missing) < traced.calls / 100


@pytest.mark.parametrize(
    ("mode", "number"),
    [("jump", 100_000), ("preempted", 30_000), ("signals", 100_000), ("storm", 3)],
)
def test_overwrite_mode_keeps_whole_records(tmp_path, program, mode, number):
    """Whatever interrupts the tracer while old packets go away."""
    number *= 1 if mode == "storm" or not IS_LONG else 20
    options = [PACKETS, "--mode=overwrite", "--max-size=1M"]
    traced = compare(program, tmp_path, mode, number, options=options)

    assert traced.events["func_entry"] > 0


def test_a_stack_that_overflows(tmp_path, program):
    """The program's handler runs on its own stack, and jumps out."""
    traced = compare(program, tmp_path, "overflow", 200 if IS_LONG else 3)

    assert traced.events["func_entry"] == traced.calls
    assert "overflows" in traced.output


def test_a_library_that_is_loaded_and_unloaded(tmp_path, program, plugin):
    """With the one that it needs, which it finds itself."""
    number = 2000 if IS_LONG else 50
    traced = compare(
        program,
        tmp_path,
        "dlopen",
        number,
        environment={"TORTURE_PLUGIN": str(plugin)},
    )

    assert f"plugin {number}\n" in traced.output
    # Constructor, destructor, and two calls.
    assert traced.events["func_entry"] == 4 * number
    assert traced.missing == 0


@pytest.mark.skipif(not IS_ROOT, reason="only root may change user and root directory")
@pytest.mark.parametrize("mode", ["chroot", "setuid"])
def test_a_process_that_may_write_no_file_any_more(tmp_path, program, mode):
    """It writes none: nothing is lost."""
    traced = compare(program, tmp_path, mode, 20_000 if IS_LONG else 2000)

    assert traced.lost == 0
    assert traced.missing == 0
    assert f"{mode} 0\n" in traced.output
