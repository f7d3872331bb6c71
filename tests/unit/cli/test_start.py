"""What a command does before it does anything."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from support.recordings import DATA

SLOW = {
    *("asyncio", "dataclasses", "inspect", "json", "locale", "logging"),
    *("shutil", "socket", "subprocess", "tempfile", "textwrap", "threading", "typing"),
    "vestige.model",
}
"""Modules of which each takes as long to import as reading a small trace, or longer."""


def imported_by(*words):
    """Return the modules that are there when a command has run."""
    done = subprocess.run(
        # Without what the folder of installed packages has Python import at its start.
        [sys.executable, "-S", "-v", "-m", "vestige", *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return {*re.findall(r"^import '([^']*)'", done.stderr, re.MULTILINE)}


@pytest.mark.parametrize("verb", [["check"], ["convert"], ["view", "--no-pager"]])
def test_a_small_trace_does_not_wait_for_imports(verb):
    """What takes long to import is imported by those alone who need it."""
    modules = imported_by(*verb, DATA / "hello")

    assert "vestige.graph" in modules
    assert modules & SLOW == set()


@pytest.mark.parametrize("verb", ["check", "convert", "report", "view"])
def test_help_waits_for_no_more_than_the_options(verb):
    """It needs no trace, and so nothing of what reads one."""
    modules = imported_by(verb, "--help")

    assert "vestige.cli.parser" in modules
    assert modules & (SLOW - {"textwrap"}) == set()
    assert modules & {"pathlib", "vestige.core", "vestige.graph"} == set()
