"""From a program to its report, in three commands, as the first page promises."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import vestige
from vestige.cli.live_demo import compile_demo, compiler

pytestmark = pytest.mark.skipif(
    compiler() is None, reason="not installed: a C compiler"
)

SECONDS = 60.0
CALLS = 18
FIRST_LINES = 3
CALL = re.compile(r" func_(?:entry|exit) .*\b\w+ at \w+\.c:\d+$")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program with a shared library and a plugin."""
    return compile_demo(tmp_path_factory.mktemp("whole way")).program


def run(line, home, directory):
    """Run a line of the shell, in which ``vestige`` is a command."""
    command = f'vestige() {{ {shlex.quote(sys.executable)} -m vestige "$@"; }}; {line}'
    variables = {"HOME": str(home), "NO_COLOR": "1", "VESTIGE_HOME": ""}
    return subprocess.run(
        ["sh", "-c", command],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables},
    )


@pytest.mark.parametrize(
    "options", ["", "-c none", "-c vpid,vtid,procname", "--functions=verbose -c none"]
)
def test_every_call_has_function_and_line(tmp_path, program, options):
    """In the program, its library and its plugin; in text, in Python, in the report."""
    done = run(
        f"vestige record {options} -- ./shop && cd $HOME/vestige-traces/* && "
        f"vestige view . | head -n {FIRST_LINES} && vestige view -e '*:func_*' . && "
        "vestige report .",
        tmp_path,
        program.parent,
    )
    [trace] = (tmp_path / "vestige-traces").glob("[!.]*")
    calls = [line for line in done.stdout.splitlines() if " func_" in line]
    places = [event.debug_info for event in vestige.open(trace).events("*:func_*")]

    assert done.returncode == 0
    assert "vestige: error" not in done.stderr
    assert len(places) == 2 * CALLS
    assert len(calls) == FIRST_LINES + len(places)
    assert all(CALL.search(line) for line in calls)
    assert all(place.function and place.file and place.line for place in places)
    assert {Path(place.binary.mapping.path).name for place in places} == {
        "shop",
        "libpricing.so",
        "libdiscount.so",
    }
    assert f"{CALLS} calls in 1 thread" in done.stdout
