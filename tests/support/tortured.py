"""Programs that do what is hard for a tracer, run with and without one."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import vestige
from support.recorded import record_command

__all__ = ["IS_LONG", "Ran", "run_traced", "run_untraced"]

IS_LONG = bool(os.environ.get("VESTIGE_TORTURE"))
"""Whether tests have minutes, rather than seconds."""
SECONDS = 240.0 if IS_LONG else 60.0
COUNTER = struct.Struct("=qq")


@dataclass(frozen=True)
class Ran:
    """What a program did, and what its recording holds of it."""

    status: int
    """The exit status as a shell has it."""

    output: str
    errors: str

    calls: int
    """Calls that the program counted, in all its processes."""

    jumps: int
    """Of mode ``jump``: how often a handler jumped away."""

    events: Counter[str]
    """Events of each name, without the provider."""

    lost: int
    """Events that the trace tells were lost."""

    damage: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """Entries and exits that are neither in the trace nor counted as lost."""
        seen = self.events["func_entry"] + self.events["func_exit"]
        return 2 * self.calls - seen - self.lost


def run_untraced(
    program: Sequence[str | Path],
    directory: Path,
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """Run a program as it is."""
    done, calls, jumps = _run(
        [os.fspath(word) for word in program], directory, environment
    )
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return Ran(status, done.stdout, done.stderr, calls, jumps, Counter(), 0)


def run_traced(
    program: Sequence[str | Path],
    directory: Path,
    *options: str,
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """Record a program into ``trace`` in a directory, and read the recording."""
    trace = directory / "trace"
    command = record_command(trace, program, "-q", *options)
    done, calls, jumps = _run(command, directory, environment)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        opened = vestige.open(trace, debug_info=False)
        events = Counter((event.name or "").partition(":")[2] for event in opened)
    return Ran(
        done.returncode,
        done.stdout,
        done.stderr,
        calls,
        jumps,
        events,
        sum(loss.count or 0 for loss in opened.losses),
        tuple(str(damage) for damage in opened.damage),
    )


def _run(
    command: list[str], directory: Path, environment: Mapping[str, str] | None
) -> tuple[subprocess.CompletedProcess[str], int, int]:
    counter = directory / "counter"
    counter.write_bytes(bytes(4096))
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TORTURE_COUNTER": str(counter),
            **(environment or {}),
        },
    )
    calls, jumps = COUNTER.unpack(counter.read_bytes()[: COUNTER.size])
    return done, calls, jumps
