"""Time the way from a Python program to a picture of its calls, beside viztracer.

viztracer writes its file when the program ends, in the same process; Vestige records
first, and makes files of the recording. So what is compared is the processor time of
all commands, user and system, from the start of the program to the file.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import vestige
from bench.python_programs import ENTRIES, PROGRAM
from bench.tracers import VESTIGE
from bench.viewers_cells import Cell, run
from vestige.analysis import call_tree

__all__ = ["table_of_python"]

FORMS = {
    "each call, for Perfetto": ("export", "--to", "perfetto"),
    "page of HTML": ("report", "--to", "html"),
}
"""What is made of a recording."""


def table_of_python(directory: Path, calls: int, runs: int) -> list[str]:
    """Measure; return the lines of the table.

    Args:
        directory: Where files are written.
        calls: About how many calls of each kind the program makes.
        runs: How often each command runs.
    """
    program = [sys.executable, str(PROGRAM), str(calls)]
    trace, file = directory / "python", str(directory / "python-file")
    recorded = Cell()
    words = [*VESTIGE, "record", "-q", "--python-functions", "-o", str(trace), "--"]
    for _ in range(runs):
        shutil.rmtree(trace, ignore_errors=True)
        run([*words, *program], recorded)
    count = sum(one.calls for one in call_tree(vestige.open(trace)).functions())
    size = sum(one.stat().st_size for one in trace.rglob("*") if one.is_file())
    peer, peer_count = _viztraced(directory, program, runs)
    head = (
        f"{count:,} calls of functions of Python; the least processor time of {runs} "
        "runs, from the start of the program on."
    )
    lines = [
        head,
        "",
        "| | Vestige | file | bytes a call | viztracer | its file | bytes a call | |",
        "| --- |" + " --: |" * 7,
        f"| the recording | {_cells(recorded.seconds, size, count)} | | | | |",
    ]
    for name, verb in FORMS.items():
        made = Cell()
        for _ in range(runs):
            shutil.rmtree(directory / "cache", ignore_errors=True)
            run([*VESTIGE, *verb, "-o", file, str(trace)], made)
            made.take_size(file)
        whole = recorded.seconds + made.seconds
        cells = [name, _cells(whole, made.size, count)]
        if peer is None or "perfetto" not in verb:
            cells += [""] * 4
        else:
            cells.append(_cells(peer.seconds, peer.size, peer_count))
            cells.append(f"{peer.seconds / whole:.2f}x")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _viztraced(
    directory: Path, program: list[str], runs: int
) -> tuple[Cell | None, int]:
    """Run a program under viztracer; return what that took, and its calls."""
    if importlib.util.find_spec("viztracer") is None:
        return None, 0
    cell, count = Cell(), 0
    file = str(directory / "viztracer.json")
    words = [sys.executable, "-m", "viztracer", "--quiet", "--ignore_c_function"]
    words += ["--tracer_entries", str(ENTRIES), "-o", file, *program[1:]]
    for _ in range(runs):
        run(words, cell)
        events = json.loads(Path(file).read_bytes())["traceEvents"]
        count = sum(one["ph"] == "X" for one in events)
        cell.take_size(file)
    return cell, count


def _cells(seconds: float, size: int, calls: int) -> str:
    return f"{seconds:.2f} s | {size / 1e6:.2f} MB | {size / calls:.2f}"
