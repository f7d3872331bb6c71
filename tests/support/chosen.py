"""A program with tracepoints of all levels and kinds of fields, and its recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import run_recorded

__all__ = [
    "HEADERS",
    "POINTS",
    "SAMPLES",
    "build_chosen",
    "chosen_events",
    "record_with",
]

HEADERS = Path(__file__).parents[2] / "tracer" / "include"
POINTS = 100
"""Tracepoints of one class, p00 and so on."""
SAMPLES = 24
"""How often each of them happens."""


def build_chosen(directory: Path, *flags: str | Path) -> Path:
    """Compile the program for our tracer, or with other flags for another one."""
    path = directory / "chosen"
    options = flags or (f"-I{HEADERS}",)
    run_tool(
        [
            "gcc",
            "-O1",
            "-o",
            path,
            f"-I{PROGRAMS}",
            PROGRAMS / "chosen.c",
            *options,
            "-ldl",
        ]
    )
    return path


def chosen_events(trace: Path) -> list[tuple[str, Mapping[str, object]]]:
    """Return name, without the provider, and fields of the program's events."""
    opened = vestige.open(trace, debug_info=False)
    found: list[tuple[str, Mapping[str, object]]] = [
        ((event.name or "").removeprefix("chosen:"), dict(event.payload or {}))
        for event in opened
        if (event.name or "").startswith("chosen:")
    ]
    assert not opened.damage
    return found


def record_with(
    trace: Path, program: Path, filters: Sequence[str]
) -> dict[str, list[int]]:
    """Record the program with a tracepoint for each filter; return which samples passed.

    Samples are told by their field ``number``, which counts from -4.
    """
    options = [
        word
        for index, one in enumerate(filters)
        for word in ("-e", f"chosen:p{index:02}", f"--filter={one}")
    ]
    done = run_recorded(trace, [program], "-q", *options)
    # Some filters are never true.
    lines = [
        line
        for line in done.stderr.splitlines()
        if not line.startswith("vestige: warning: ")
    ]
    assert (done.returncode, lines) == (0, []), done.stderr
    passed: dict[str, list[int]] = {one: [] for one in filters}
    for name, fields in chosen_events(trace):
        number = fields["number"]
        assert isinstance(number, int)
        passed[filters[int(name[1:])]].append(number)
    return passed
