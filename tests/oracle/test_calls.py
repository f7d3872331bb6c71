"""Calls are counted as uftrace counts them."""

from __future__ import annotations

import shutil

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.peers import run_peer
from support.recorded import run_recorded
from vestige.analysis import call_tree

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
    pytest.mark.skipif(
        shutil.which("uftrace") is None,
        reason="uftrace is not installed (Debian package uftrace)",
    ),
]


def uftrace_calls(directory, program, words):
    """Return the number of calls of each function, as uftrace counts them."""
    # Library calls and the scheduler are no functions of the program's own.
    options = ["--no-libcall", "--no-event", "-d", directory]
    recorded = run_peer(["uftrace", "record", *options, program, *words])
    assert recorded.status in {0, 137}, recorded.stderr
    report = run_peer(
        ["uftrace", "report", "-d", directory, "-f", "call", "--no-pager"]
    ).stdout.decode()
    rows = [line.split() for line in report.splitlines()[2:]]
    # After a fork, uftrace 0.13 also counts something that has no name.
    return {row[1]: int(row[0]) for row in rows if row[1:] and row[1] != "<0>"}


@pytest.mark.parametrize(
    "words",
    [
        ["tree"],
        ["recursion", "40"],
        ["mutual", "31"],
        ["threads", "200"],
        ["fork", "3"],
        ["handler"],
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("form", ["fast", "verbose"])
def test_each_function_is_called_as_often_as_uftrace_says(tmp_path, words, form):
    """The same program, compiled once."""
    program = tmp_path / "called"
    source = PROGRAMS / "called.c"
    flags = ["-g", "-O1", "-finstrument-functions", "-pthread"]
    run_tool(["gcc", *flags, "-o", program, source])
    expected = uftrace_calls(tmp_path / "uftrace", program, words)
    run_recorded(tmp_path / "trace", [program, *words], f"--functions={form}")
    tree = call_tree(vestige.open(tmp_path / "trace"))

    assert {one.function.name: one.calls for one in tree.functions()} == expected
