"""Programs that are recorded, and what the recordings hold."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import vestige
from support.compilers import PROGRAMS, run_tool

__all__ = ["build_program", "counts", "record_command", "run_recorded"]

SECONDS = 60.0


def build_program(directory: Path, name: str = "recorded", *flags: str) -> Path:
    """Compile a program of tests/programs with calls of the hooks."""
    path = directory / name
    options = ["-g", "-O1", "-finstrument-functions", "-pthread", *flags]
    run_tool(["gcc", *options, "-o", path, PROGRAMS / f"{name}.c"])
    return path


def record_command(
    output: Path, program: Sequence[str | Path], *options: str
) -> list[str]:
    """Return the command line that records a program."""
    code = "from vestige.cli.main import entry_point; entry_point()"
    words = [
        sys.executable,
        "-c",
        code,
        "record",
        "-o",
        output,
        *options,
        "--",
        *program,
    ]
    return [os.fspath(word) for word in words]


def run_recorded(
    output: Path, program: Sequence[str | Path], *options: str
) -> subprocess.CompletedProcess[str]:
    """Record a program with the command line; return what it printed."""
    return subprocess.run(
        record_command(output, program, *options),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def counts(trace: Path) -> Counter[str]:
    """Return how many events of each name a trace holds, without the provider."""
    opened = vestige.open(trace, debug_info=False)
    found = Counter((event.name or "").partition(":")[2] for event in opened)
    assert not opened.damage
    return found
