"""The newest pprof reads our profiles."""

from __future__ import annotations

import re
import subprocess


def run(pprof, *words, unit="ns"):
    """Run it; return its output."""
    options = [f"-unit={unit}", "-nodefraction=0", "-nodecount=0"]
    command = [pprof, *options, *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_own_times_and_calls(pprof, export, report, traces):
    """By function, as in the report."""
    path = export("recorded", "pprof")
    functions = report(traces["recorded"])["functions"]
    own = {one["function"]: one["self_ns"] for one in functions}
    calls = {one["function"]: one["calls"] for one in functions}

    rows = re.findall(r"^ *(\d+)ns? .* (\S+)$", run(pprof, "-top", path), re.MULTILINE)
    assert {name: int(value) for value, name in rows} == own
    text = run(pprof, "-top", "-sample_index=calls", path, unit="count")
    rows = re.findall(r"^ *(\d+) +[\d.]+% .* (\S+)$", text, re.MULTILINE)
    assert {name: int(value) for value, name in rows} == calls


def test_labels_and_build_ids(pprof, export):
    """Threads can be told apart, and objects found again."""
    path = export("recorded", "pprof")

    assert run(pprof, "-tags", path).count("program thread ") == 4
    assert re.search(
        r"\d+: 0x\w+/0x\w+/0x0 \S+/program [0-9a-f]{40}", run(pprof, "-raw", path)
    )
