"""Tell where the nanoseconds of a call and of a tracepoint go, by leaving parts out.

The tracer's own fast path, compiled with a program that calls it, and once more without each
part; all of them run in turn. What is printed is Markdown; it is also written to
``bench-out/table-ablation.md``.
"""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.traces import OUTPUT
from support.compilers import run_tool

HERE = Path(__file__).resolve().parent
TRACER = HERE.parents[1] / "tracer"
ROOMS = ("base", "arena", "stream")
NEEDS_A_LIBRARY = "passage.c"
"""Asks where a library has the variables of a thread, and nothing here calls it."""
BUILDS: Mapping[str, Sequence[str]] = {
    "whole": (),
    "counter": (r'-DSECTION_TIME="movq %c[last](%%rcx), %%rdx\n\t"',),
    "section": (r'-DSECTION_TELL="\n"',),
}
"""How each is compiled: what it leaves out. Without the counter, the time stands still."""
ROWS = (
    ("all of it", "whole", "{}"),
    ("without reading the time-stamp counter", "counter", "{}"),
    ("without telling the kernel of the sequence", "section", "{}"),
    ("in one place of memory, again and again", "whole", "{}_here"),
    ("only the bytes, one after the other", "whole", "{}_stores"),
)
COLUMNS = ("call", "point")
COUNTERS = {"call": 2, "point": 1}
"""How often each reads the counter."""


def build(name: str, flags: Sequence[str]) -> Path:
    """Compile the program with the tracer's units.

    Args:
        name: What is left out.
        flags: How the compiler leaves it out.

    Returns:
        The program.
    """
    program = (OUTPUT / f"ablation-{name}").resolve()
    units = [
        path
        for room in ROOMS
        for path in sorted((TRACER / room).glob("*.c"))
        if path.name != NEEDS_A_LIBRARY
    ]
    folders = [f"-I{TRACER / room}" for room in ("stream", "base", "include")]
    options = ["-std=gnu11", "-O2", *flags, *folders, "-pthread"]
    run_tool(["gcc", *options, "-o", program, HERE / "ablation.c", *units])
    return program


def run(program: Path, rounds: int) -> dict[str, float]:
    """Return what the program prints: nanoseconds, by what they are of."""
    done = subprocess.run(
        [program, str(rounds)], check=True, capture_output=True, text=True, timeout=300
    )
    pairs = (line.split("=") for line in done.stdout.split())
    return {name: float(value) for name, value in pairs}


def least(programs: Mapping[str, Path], runs: int, rounds: int) -> dict[str, float]:
    """Return the least of all runs, by program and what it prints: ``whole call``."""
    found: dict[str, float] = {}
    for _ in range(runs):
        for name, program in programs.items():
            for what, value in run(program, rounds).items():
                key = f"{name} {what}"
                found[key] = min(found.get(key, value), value)
    return found


def table(found: Mapping[str, float]) -> str:
    """Return the table, in Markdown."""
    loop = found["whole loop"]
    lines = ["|  | a call | a tracepoint |", "| --- | --- | --- |"]
    for what, build_name, form in ROWS:
        cells = [found[f"{build_name} {form.format(one)}"] - loop for one in COLUMNS]
        lines.append(f"| {what} | {cells[0]:.1f} ns | {cells[1]:.1f} ns |")
    counter = found["whole counter"] - loop
    times = [counter * COUNTERS[one] for one in COLUMNS]
    lines.append(
        f"| only reading the counter | {times[0]:.1f} ns | {times[1]:.1f} ns |"
    )
    return "\n".join(lines)


def main() -> None:
    """Build, run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    parser.add_argument("--runs", type=int, default=5, help="runs of each program")
    parser.add_argument(
        "--only", metavar="WORD", help="nothing unless it is 'ablation'"
    )
    options = parser.parse_args()
    if options.only not in (None, "ablation"):
        return
    OUTPUT.mkdir(exist_ok=True)
    programs = {name: build(name, flags) for name, flags in BUILDS.items()}
    rounds = 2_000 if options.quick else 20_000
    text = table(least(programs, options.runs, rounds))
    (OUTPUT / "table-ablation.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
