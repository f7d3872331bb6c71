"""Programs that are recorded, and what the recordings hold."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from uuid import uuid4

import vestige
from support.compilers import PROGRAMS, run_tool
from vestige.record import RecordingOptions
from vestige.record.class_list import make_class_list
from vestige.record.clock import ClockRate
from vestige.record.control import make_control
from vestige.record.metadata import metadata_text
from vestige.record.tracer import tracer_environment

__all__ = [
    "build_program",
    "counts",
    "prepare_trace",
    "record_command",
    "run_recorded",
    "start_traced",
]

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
    code = "from vestige.cli.start import entry_point; entry_point()"
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
    return [os.fspath(word) if isinstance(word, Path) else str(word) for word in words]


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


def prepare_trace(directory: Path, options: RecordingOptions) -> dict[str, str]:
    """Make a trace's directory; return the environment of processes that record to it."""
    directory.mkdir()
    uuid = str(uuid4())
    rate = ClockRate(1_000_000_000, 0)
    text = metadata_text(uuid, rate, options, "trace", is_counter=True)
    (directory / "metadata").write_text(text, encoding="utf-8")
    make_class_list(directory)
    if options.size_limit:
        make_control(directory, is_overwriting=options.mode == "overwrite")
    return tracer_environment(directory, uuid, options, is_counter=True)


def start_traced(
    directory: Path,
    command: Sequence[str | Path],
    options: RecordingOptions,
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> subprocess.Popen[str]:
    """Start a program with the tracer in it and no recorder: nobody closes its trace.

    This is what is left when recorder and program are killed at once. Files of other
    contents than usual may be put beside.
    """
    environment = prepare_trace(directory, options)
    for name, data in files.items():
        (directory / name).write_bytes(data)
    return subprocess.Popen(
        [os.fspath(word) for word in command],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
