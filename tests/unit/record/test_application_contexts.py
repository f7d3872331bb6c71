"""Contexts that a program registers, in filters."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter

import pytest

import vestige
from support.instrumented import Sources
from support.recorded import run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

FAST = "lttng_ust_cyg_profile_fast"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program with contexts, a tracepoint and functions."""
    sources = Sources(tmp_path_factory.mktemp("registered"))
    return sources.build("registered", "registered.c", flags=["-finstrument-functions"])


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("$app.shop:number > 8", [9, 10, 11]),
        ("$app.shop:number == number && number < 2", [0, 1]),
        ("$app.shop:user == 'ada'", [0, 3, 6, 9]),
        ("$app.shop:user == 'b*' && number > 5", [7, 10]),
        ("$app.shop:user == '(null)'", [2, 5, 8, 11]),
        ("$app.shop:half == 2.5", [5]),
        ("$app.shop:half > $app.shop:number", []),
        ("!$app.shop:number", [0]),
        ("number < 0 || $app.shop:number == 4", [4]),
        ("$app.shop:user == 3", []),
        ("$app.shop:user & 1", []),
        ("$app.shop:array == 0 || 1", []),
        ("$app.shop:missing == 0 || 1", []),
    ],
)
def test_filters_of_tracepoints(tmp_path, program, expression, expected):
    """From when they are there; a context that is not is false, as a field is."""
    options = ["-e", "registered:*", "--filter", expression]
    done = run_recorded(tmp_path / "trace", [program], "-q", *options)

    opened = vestige.open(tmp_path / "trace", debug_info=False)
    found = [
        event["number"]
        for event in opened
        if (event.name or "").startswith("registered:")
    ]
    assert (done.returncode, done.stderr) == (0, "")
    assert found == expected


def test_filters_of_function_calls(tmp_path, program):
    """Also of those that are called to find a context: they are not asked again."""
    options = ["-e", f"{FAST}:*", "--filter", "$app.shop:number == 5"]
    done = run_recorded(tmp_path / "trace", [program], "-q", *options)
    opened = vestige.open(tmp_path / "trace")
    found = Counter(
        (event.name.partition(":")[2], event.debug_info.function)
        for event in opened.events(f"{FAST}:*")
    )

    assert (done.returncode, done.stderr) == (0, "")
    # Its number changes inside of `step`.
    assert found == {("func_exit", "step"): 1, ("func_entry", "step"): 1}


def test_without_a_recorder(program):
    """Nothing is registered, since nobody asks."""
    assert subprocess.run([program], check=False).returncode == 0b111
