"""What recordings of programs without hooks hold."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool

__all__ = [
    "EXACT",
    "build",
    "build_loader",
    "called",
    "counted",
    "needs_patching",
    "output_of",
]

needs_patching = pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("gcc") is None,
    reason="needs x86-64 and gcc",
)

EXACT = ("-g", "-O2", "-fno-inline", "-fno-ipa-cp", "-fno-ipa-sra", "-pthread")
"""What compilers leave out or double otherwise is the same in all builds."""


def build(directory: Path, name: str, *flags: str) -> Path:
    """Compile a program of tests/programs."""
    source = next(PROGRAMS.glob(f"{name}.c*"))
    path = directory / name
    compiler = "g++" if source.suffix == ".cpp" else "gcc"
    run_tool([compiler, *EXACT, *flags, "-o", path, source])
    return path


def build_loader(directory: Path) -> Path:
    """Compile loading.c."""
    path = directory / "loading"
    caller = directory / "libcaller.so"
    shared = ("-shared", "-fPIC", "-o", caller)
    run_tool(["gcc", *EXACT, *shared, PROGRAMS / "caller.c"])
    flags = ("-rdynamic", caller, "-Wl,-rpath,$ORIGIN", "-o", path)
    run_tool(["gcc", *EXACT, PROGRAMS / "loading.c", *flags])
    return path


def output_of(*command: str | Path) -> str:
    """Run a program without recording it."""
    done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    return done.stdout.decode()


def called(trace: Path, pattern: str = "*:func_entry") -> Counter[str]:
    """Return how often each function was called."""
    events = vestige.open(trace).events(pattern)
    return Counter(event.debug_info.function for event in events)


def counted(trace: Path) -> list[int]:
    """Return how many entries and exits there are."""
    return [
        sum(1 for _ in vestige.open(trace).events(f"*:{name}"))
        for name in ("func_entry", "func_exit")
    ]
