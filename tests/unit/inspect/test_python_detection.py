"""Which programs are Python's, and what is recorded of them when nothing is asked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import vestige
from support.recorded import run_recorded
from vestige.inspect.python_detection import is_python_program


@pytest.mark.parametrize(
    ("first_line", "expected"),
    [
        ("#!/usr/bin/python3", True),
        ("#!/opt/venv/bin/python", True),
        ("#!/usr/bin/python3.12 -I", True),
        ("#!/bin/sh", False),
        ("#!/usr/bin/pythonic", False),
        ("#!", False),
        ("\x7fELF", False),
        ("", False),
    ],
)
def test_scripts_are_known_by_their_first_line(tmp_path, first_line, expected):
    """Other programs are not Python's."""
    script = tmp_path / "script"
    script.write_text(f"{first_line}\n")

    assert is_python_program(os.fspath(script), None) is expected


def test_env_and_scripts_of_scripts_are_followed(tmp_path):
    """As the kernel does; a script that runs itself ends nothing."""
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    inner.write_text(f"#!{sys.executable}\n")
    outer.write_text(f"#!{inner}\n")
    endless = tmp_path / "endless"
    endless.write_text(f"#!{endless}\n")

    assert is_python_program(os.fspath(outer), None)
    assert not is_python_program(os.fspath(endless), None)
    assert is_python_program(
        Path(sys.executable).name, str(Path(sys.executable).parent)
    )
    assert not is_python_program("no-such-program", "/nowhere")


PROGRAM = "def greet():\n    return 1\ngreet()\n"


def functions(trace):
    """Return the names of the functions that were called."""
    events = vestige.open(trace).events("vestige_python:func_entry")
    return {event.debug_info.function for event in events}


def test_functions_are_recorded_when_nothing_is_asked_for(tmp_path):
    """And that is said."""
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    done = run_recorded(tmp_path / "trace", [sys.executable, script])

    assert "greet" in functions(tmp_path / "trace")
    assert "--functions=off leaves them out" in done.stderr


@pytest.mark.parametrize(
    "options", [["--functions=off"], ["-e", "app:*"], ["--libc"]], ids=" ".join
)
def test_other_wishes_switch_it_off(tmp_path, options):
    """Each of them."""
    script = tmp_path / "script.py"
    script.write_text(PROGRAM)
    done = run_recorded(tmp_path / "trace", [sys.executable, script], *options)

    assert functions(tmp_path / "trace") == set()
    assert "a Python program" not in done.stderr


PARENT = """\
import subprocess, sys
subprocess.run([sys.executable, sys.argv[1]], check=True)
"""


@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_an_isolated_interpreter_is_left_alone(tmp_path, option):
    """With all that it starts, unless somebody asks; the true reason is given."""
    parent, child = tmp_path / "parent.py", tmp_path / "child.py"
    parent.write_text(PARENT)
    child.write_text(PROGRAM)
    command = [sys.executable, option, parent, child]
    alone = run_recorded(tmp_path / "alone", command)
    asked = run_recorded(tmp_path / "asked", command, "--python-functions")

    assert functions(tmp_path / "alone") == set()
    assert f"functions and the log are recorded without {option}" in alone.stderr
    assert "functions were recorded" not in alone.stderr
    assert "greet" in functions(tmp_path / "asked")
    assert asked.returncode == alone.returncode == 0


def test_nothing_is_claimed_of_an_interpreter_that_calls_nothing(tmp_path):
    """As when it prints its version only."""
    done = run_recorded(tmp_path / "trace", [sys.executable, "--version"])

    assert done.stdout.startswith("Python 3.")
    assert "functions were recorded" not in done.stderr
