"""The programs in `tests/programs/judge`, and what they are known to call."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from support.compilers import PROGRAMS, run_tool

__all__ = ["JUDGED", "build_judged", "confined_calls"]

JUDGED = PROGRAMS / "judge"
BEFORE = 5
IN_THREAD = 100


def build_judged(directory: Path, name: str) -> Path:
    """Compile a program with calls of the hooks."""
    path = directory / name
    flags = ["-g", "-O1", "-Wall", "-finstrument-functions", "-pthread"]
    run_tool(["gcc", *flags, "-o", path, JUDGED / f"{name}.c"])
    return path


def confined_calls(calls: int) -> Counter[str]:
    """Return what ``confined`` calls.

    Args:
        calls: Its last argument.
    """
    return Counter(main=1, thread=1, step=BEFORE + calls + IN_THREAD)
