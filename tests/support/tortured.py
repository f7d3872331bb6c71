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
from support.compilers import PROGRAMS, run_tool
from support.recorded import record_command

__all__ = [
    "EXACT",
    "IS_LONG",
    "LOOSE",
    "Ran",
    "build_torture",
    "run_traced",
    "run_untraced",
]

IS_LONG = bool(os.environ.get("VESTIGE_TORTURE"))
"""Whether tests have minutes, rather than seconds."""
SECONDS = 240.0 if IS_LONG else 60.0
COUNTER = struct.Struct("=qq")
PARTS = ("main", "processes", "ends", "stacks", "surroundings")
EXACT = (
    ("abort", 20, 20),
    ("altstack", 100_000, 5_000_000),
    ("as", 2000, 20_000),
    ("bare-exit", 20, 20),
    ("cancel", 3, 100),
    ("chdir", 1000, 20_000),
    ("clone", 10, 2000),
    ("clone-shared", 20_000, 3_000_000),
    ("coroutines", 3000, 300_000),
    ("descriptors", 1000, 50_000),
    ("exec", 6, 200),
    ("exit-threads", 5, 500),
    ("forking-threads", 5, 200),
    ("fsize", 2000, 20_000),
    ("keys", 3, 300),
    ("kill", 2000, 200_000),
    ("late-signals", 30, 3000),
    ("main-exits", 2000, 200_000),
    ("nofile", 2000, 20_000),
    ("nproc", 2000, 20_000),
    ("raw-fork", 9, 600),
    ("seccomp", 1000, 20_000),
    ("small-stacks", 1000, 50_000),
    ("spawn", 2, 50),
    ("state", 5000, 1_000_000),
    ("storm", 3, 6),
    ("strict", 5000, 50_000),
    ("threads", 2000, 1_000_000),
    ("trap", 1000, 20_000),
    ("umask", 2000, 20_000),
    ("vfork", 10, 1000),
    ("vfork-in-thread", 5, 500),
)
"""Mode, number in the short and in the long form. No record may be missing."""
LOOSE = (
    ("cancel-anywhere", 20, 2000, 3),
    ("exec-from-thread", 1, 1, 8),
    ("exit-running", 1, 1, 8),
    ("fork-in-handler", 20, 500, 2),
    ("quick-exit", 1, 1, 8),
)
"""The same, and how many events may be missing, or be there twice, for each of the number:
those that were being written when a thread was ended from outside."""


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


def build_torture(path: Path, *flags: str) -> Path:
    """Compile the torture program, which is returned."""
    sources = [PROGRAMS / "torture" / f"{part}.c" for part in PARTS]
    run_tool(["gcc", "-pthread", *flags, "-o", path, *sources])
    return path


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
