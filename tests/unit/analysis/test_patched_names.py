"""Names in reports of programs without hooks, also of copies and of stripped functions."""

from __future__ import annotations

import shutil

import pytest

import vestige
from support.compilers import run_tool
from support.patched import needs_patching
from support.recorded import run_recorded
from vestige.analysis.function_names import without_appended
from vestige.cli import main as cli

pytestmark = needs_patching

CLONED = """
#include <stdio.h>
#define APART __attribute__((noinline))
static APART int scaled(int value, int factor) { return value * factor + 1; }
APART int once(int value) { return scaled(value, 3); }
APART int twice(int value) { return scaled(value, 3) + scaled(value + 1, 3); }
int main(int count, char **words) {
  printf("%d %s\\n", once(count) + twice(count), words[0] ? "" : "none");
  return 0;
}
"""


def build(directory, *flags):
    """Compile a program of whose function the compiler makes a copy."""
    source = directory / "cloned.c"
    source.write_text(CLONED)
    program = directory / "cloned"
    run_tool(["gcc", "-O2", "-fipa-cp-clone", *flags, "-o", program, source])
    return program


def names(trace):
    """Return the functions of a trace with their numbers of calls."""
    functions = vestige.open(trace).call_tree().functions()
    return {one.function.name: one.calls for one in functions}


def test_copies_have_the_names_of_their_functions(tmp_path):
    """What compilers append is left out, as where there is debug information."""
    program = build(tmp_path)
    if b"scaled.constprop.0" not in run_tool(["nm", program]):
        pytest.skip("this compiler makes no copy")
    run_recorded(tmp_path / "trace", [program], "--patch")
    assert names(tmp_path / "trace")["scaled"] == 3


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("scaled.constprop.0", "scaled"),
        ("scaled.isra.0.cold", "scaled"),
        ("scaled(int) [clone .part.0]", "scaled(int)"),
        ("scaled", "scaled"),
        (".cold", ".cold"),
    ],
)
def test_what_is_appended_is_known(name, known):
    """In C and in C++."""
    assert without_appended(name) == known


@pytest.mark.skipif(shutil.which("strip") is None, reason="not installed: strip")
def test_functions_without_names_are_named_by_their_places(tmp_path):
    """Not by functions before them, whose names are left."""
    program = build(tmp_path, "-rdynamic")
    run_tool(["strip", program])
    done = run_recorded(tmp_path / "trace", [program], "--patch")
    assert done.returncode == 0, done.stderr
    found = names(tmp_path / "trace")
    assert {"main", "once", "twice"} <= found.keys()
    unnamed = {name: count for name, count in found.items() if "+0x" in name}
    assert sorted(unnamed.values()) == [3]
    assert all(name.startswith("cloned+0x") for name in unnamed)


def test_reports_say_what_inlined_calls_are(tmp_path, capsys):
    """Once, and only of recordings that have such functions."""
    program = build(tmp_path)
    run_recorded(tmp_path / "trace", [program], "--patch")
    assert cli.main(["report", str(tmp_path / "trace")]) == 0
    line = "calls that the compiler inlined are not calls here (--patch)"
    assert capsys.readouterr().out.count(line) == 1
