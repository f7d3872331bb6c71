"""Who called whom, in recordings of programs without hooks."""

from __future__ import annotations

import re
import shutil
from collections import Counter

import pytest

import vestige
from support.compilers import run_tool
from support.patched import EXACT, build, called, counted, needs_patching, output_of
from support.recorded import run_recorded

pytestmark = needs_patching

ROUNDS = 20
"""Of open_calls.c."""


def tree_of(trace):
    """Return how often each function was called in each chain of callers."""
    found = Counter()
    path = []
    for level, node in vestige.open(trace).call_tree().root().walk():
        if level:
            path[level - 1 :] = [node.function.name]
            found[tuple(path)] += node.calls
    return found


def expected_tree():
    """Return the same, as the source has it."""
    found = Counter({("main",): 1})

    def count(*names, times=1):
        found["main", *names] += times

    for number in range(ROUNDS):
        count("lands")
        count("lands", "innermost")
        for depth in range(number + 1):
            count("lands", *["jumps"] * (depth + 1))
        chain = ["first", "third"] if number & 1 else ["first", "second", "third"]
        for end in range(1, len(chain) + 1):
            count(*chain[:end])
        count(*chain, "innermost")
        names = [("ping", "pong")[depth % 2] for depth in range(number + 1)]
        for end in range(1, len(names) + 1):
            count(*names[:end])
        count(*names, "innermost")
    return found


@pytest.mark.parametrize("flags", [[], ["-fno-optimize-sibling-calls"]])
def test_the_tree_is_that_of_the_source(tmp_path, flags):
    """Also of functions that end by a jump to others, or are left by longjmp()."""
    program = build(tmp_path, "open_calls", *flags)
    done = run_recorded(tmp_path / "trace", [program], "--patch")
    assert (done.returncode, done.stdout) == (0, output_of(program)), done.stderr
    # Handlers and coroutines are on other stacks.
    apart = {"handled", "switches"}
    found = {
        path: count
        for path, count in tree_of(tmp_path / "trace").items()
        if not apart & set(path)
    }
    assert found == expected_tree()


def test_what_is_left_on_other_stacks_is_not_taken_for_over(tmp_path):
    """A handler that jumps away has no exit; a coroutine goes on where it was."""
    program = build(tmp_path, "open_calls")
    run_recorded(tmp_path / "trace", [program], "--patch")
    entries, exits = (
        called(tmp_path / "trace", f"*:func_{name}") for name in ("entry", "exit")
    )
    assert entries["handle"] == ROUNDS
    assert entries["within"] == 1
    assert entries - exits == {"handle": ROUNDS, "within": 1}
    assert not exits - entries


@pytest.mark.parametrize("where", [[], ["below"]])
def test_a_stack_beside_that_of_a_thread_is_another_one(tmp_path, where):
    """Calls of a coroutine there do not end those of the thread, nor tell ends twice."""
    program = build(tmp_path, "stacks_beside", "-fno-optimize-sibling-calls")
    trace = tmp_path / "trace"
    names = ("starts", "resumes", "contains", "goes_on")
    options = [f"--patch={name}" for name in names]
    done = run_recorded(trace, [program, *where], *options)
    expected = output_of(program, *where)
    assert (done.returncode, done.stdout) == (0, expected), done.stderr
    found = [
        (event.name.rpartition("_")[2], event.debug_info.function)
        for event in vestige.open(trace).events("*:func_*")
    ]
    assert found == [
        ("entry", "starts"),
        ("entry", "contains"),
        ("entry", "goes_on"),
        ("exit", "starts"),
        ("entry", "resumes"),
        ("exit", "goes_on"),
        ("exit", "contains"),
        ("exit", "resumes"),
    ]


def test_loops_of_functions_that_jump_have_no_end(tmp_path):
    """More than can be open: the first are told as left, and each entry has its exit."""
    source = tmp_path / "loop.c"
    source.write_text(
        "#define APART __attribute__((noinline, noclone))\n"
        "APART int pong(int n);\n"
        "APART int ping(int n) { return n ? pong(n - 1) : 0; }\n"
        "APART int pong(int n) { return n ? ping(n - 1) : 0; }\n"
        "int main(void) { return ping(9999); }\n"
    )
    run_tool(["gcc", *EXACT, "-o", tmp_path / "loop", source])
    done = run_recorded(tmp_path / "trace", [tmp_path / "loop"], "--patch")
    assert done.returncode == 0, done.stderr
    assert called(tmp_path / "trace") == {"main": 1, "ping": 5000, "pong": 5000}
    entries, exits = counted(tmp_path / "trace")
    assert entries == exits
    deepest = max(len(path) for path in tree_of(tmp_path / "trace"))
    assert 16 <= deepest <= 64


@pytest.mark.skipif(shutil.which("g++") is None, reason="not installed: g++")
def test_exceptions_end_the_calls_that_they_leave(tmp_path):
    """As hooks of the compiler do, though a little later."""
    program = build(tmp_path, "unwound", "-rdynamic")
    done = run_recorded(tmp_path / "trace", [program], "--patch")
    assert (done.returncode, done.stdout) == (0, output_of(program)), done.stderr
    entries, exits = (
        called(tmp_path / "trace", f"*:func_{name}") for name in ("entry", "exit")
    )
    assert entries == exits


def test_entries_alone_leave_return_addresses_as_they_are(tmp_path):
    """And the counts are the same."""
    program = build(tmp_path, "open_calls")
    run_recorded(tmp_path / "both", [program], "--patch")
    done = run_recorded(tmp_path / "trace", [program], "--patch", "--entries")
    assert (done.returncode, done.stdout) == (0, output_of(program)), done.stderr
    assert called(tmp_path / "trace") == called(tmp_path / "both")
    assert counted(tmp_path / "trace")[1] == 0


def test_what_a_full_recording_loses_is_counted(tmp_path):
    """Each event is there or counted, also when there is no room for long."""
    source = tmp_path / "busy.c"
    source.write_text(
        "static volatile int sum;\n"
        "__attribute__((noinline, noclone)) void leaf(int n) { sum += n; }\n"
        "int main(void) { for (int n = 0; n < 500000; n++) leaf(n); return 0; }\n"
    )
    run_tool(["gcc", *EXACT, "-o", tmp_path / "busy", source])
    trace = tmp_path / "trace"
    done = run_recorded(trace, [tmp_path / "busy"], "--patch", "--max-size=1M")
    assert done.returncode == 0, done.stderr
    lost = int(re.search(r"([\d,]+) events lost", done.stderr)[1].replace(",", ""))
    entries, exits = counted(trace)
    assert lost > 500000
    assert entries + exits + lost == 2 * (500000 + 1)
