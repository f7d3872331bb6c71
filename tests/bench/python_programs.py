"""Time the recorder of Python programs beside viztracer: the same program, in turn.

Costs are what a tracer adds; the machine's other work only ever makes a run longer, so a
cell is the least of the runs. Both traces are read back, and must have the same calls.
What is printed is Markdown; it is also written to ``bench-out/table-python.md``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import vestige
from bench.measure import environment
from bench.tracers import VESTIGE
from bench.traces import OUTPUT
from vestige.analysis import call_tree

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "timed_calls.py"
POINTS = HERE / "timed_points.py"
NAMES = ("leaf", "fibonacci")
SECONDS = 300
ENTRIES = 10_000_000
"""Of viztracer's buffer, so that it loses nothing."""

Values = Mapping[str, float]


class BenchError(Exception):
    """A run that cannot be counted."""


def run(command: Sequence[str]) -> dict[str, float]:
    """Run a command and return what it printed as ``NAME=VALUE``."""
    done = subprocess.run(
        list(command),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise BenchError(f"exit status {done.returncode}: {done.stderr.strip()[-200:]}")
    return {
        name: float(value) for name, value in re.findall(r"(\w+)=(\S+)", done.stdout)
    }


def recorded(
    directory: Path, program: Sequence[str], *options: str
) -> tuple[Values, Counter[str]]:
    """Run a program under the recorder; return its numbers and its calls."""
    trace = directory / "trace"
    words = [*VESTIGE, "record", "-q", "-o", str(trace), *options, "--", sys.executable]
    values = run([*words, *program])
    counts: Counter[str] = Counter()
    for row in call_tree(vestige.open(trace)).functions():
        place = row.function.place
        if isinstance(place, vestige.Place) and place.file == PROGRAM.name:
            counts[str(row.function.name)] += row.calls
    return values, counts


def viztraced(
    directory: Path, program: Sequence[str], *options: str
) -> tuple[Values, Counter[str]]:
    """Run a program under viztracer; return its numbers and its calls."""
    file = directory / "viztracer.json"
    words = [sys.executable, "-m", "viztracer", "--quiet", "-o", str(file)]
    words += ["--tracer_entries", str(ENTRIES), *options]
    values = run([*words, *program])
    events = json.loads(file.read_bytes())["traceEvents"]
    names = (event["name"] for event in events if event["ph"] == "X")
    return values, Counter(
        name.partition(" ")[0] for name in names if PROGRAM.name in name
    )


def call_rows(calls: int, runs: int) -> Iterator[str]:
    """Measure calls of functions; yield the rows of the table."""
    program = [str(PROGRAM), str(calls)]
    ways = {
        "Python functions": ("--python-functions", "--ignore_c_function"),
        "and those in C": ("--python-functions=all", ""),
    }
    has_peer = importlib.util.find_spec("viztracer") is not None
    for what, (option, peer_option) in ways.items():
        plain: list[Values] = []
        ours: list[Values] = []
        theirs: list[Values] = []
        for _ in range(runs):
            with tempfile.TemporaryDirectory(dir=OUTPUT, prefix="python-") as name:
                plain.append(run([sys.executable, *program]))
                values, counts = recorded(Path(name), program, option)
                ours.append(values)
                if not has_peer:
                    continue
                peer = viztraced(Path(name), program, *filter(None, [peer_option]))
                theirs.append(peer[0])
                for one in NAMES:
                    if counts[one] != peer[1][one]:
                        raise BenchError(
                            f"{one}: {counts[one]} and {peer[1][one]} calls"
                        )
        for one in NAMES:
            before = min(values[one] for values in plain)
            own = min(values[one] for values in ours) - before
            cells = [f"a call of {one}, {what}", f"{before:.0f} ns", f"{own:.0f} ns"]
            if theirs:
                other = min(values[one] for values in theirs) - before
                cells += [f"{other:.0f} ns", f"{other / own:.1f}x"]
            else:
                cells += ["not installed", ""]
            yield "| " + " | ".join(cells) + " |"


def point_rows(runs: int) -> Iterator[str]:
    """Measure tracepoints; yield the rows of the table."""
    plain: list[Values] = []
    ours: list[Values] = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory(dir=OUTPUT, prefix="python-") as name:
            plain.append(run([sys.executable, str(POINTS)]))
            # Without an option, the functions of the program are recorded, too.
            ours.append(recorded(Path(name), [str(POINTS)], "--event=*")[0])
    for what, one in (
        ("a tracepoint with a str and an int", "point"),
        ("a span: two events", "span"),
        ("a record of logging", "log"),
    ):
        before, own = (min(values[one] for values in found) for found in (plain, ours))
        yield f"| {what}, whole | {before:.0f} ns | {own:.0f} ns | | |"


def main() -> None:
    """Run all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the calls")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command")
    options = parser.parse_args()
    OUTPUT.mkdir(exist_ok=True)
    table = [
        f"Least of {options.runs} runs; what a tracer adds.",
        "",
        "| | not traced | Vestige | viztracer | viztracer / Vestige |",
        "| --- | --- | --- | --- | --- |",
    ]
    try:
        table += call_rows(50_000 if options.quick else 500_000, options.runs)
        table += point_rows(options.runs)
    except BenchError as error:
        sys.exit(f"bench: {error}")
    text = "\n".join(table)
    (OUTPUT / "table-python.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
