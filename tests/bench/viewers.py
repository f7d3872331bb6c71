"""Time what is made of millions of calls for viewers, beside uftrace.

A program is recorded by both, by each in its smallest form, so that the recordings are
not the same data: those of uftrace have no library calls, but records of what the
scheduler did. Another program locks mutexes and allocates memory, and one is of Python
(see ``viewers_python``). Commands run in turn, and cells are the least processor time of
the runs. What is printed is Markdown; it is also written to
``bench-out/table-viewers.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.traces import OUTPUT
from bench.viewers_cells import Cell, run
from bench.viewers_python import table_of_python

HERE = Path(__file__).resolve().parent
CALLS_OF_ROUND = 27
"""Calls of a round in a thread."""
THREADS = 4
HEAD = (
    "Vestige", "a call", "memory", "file", "bytes a call",
    "uftrace", "its file", "bytes a call", "",
)  # fmt: skip
VESTIGE = (sys.executable, "-m", "vestige")


@dataclass(frozen=True)
class Job:
    """What is made, by both."""

    name: str
    """What it is."""
    command: Sequence[str]
    """The words after ``python``; the trace comes behind them."""
    peer: Sequence[str] = ()
    """The words after ``uftrace``, if it has that."""
    output: str | None = None
    """The file that the first command writes, of which the size is told."""
    peer_output: str | None = None
    """The file with what the second one prints."""


def of_calls(directory: Path) -> list[Job]:
    """Return the jobs of which each needs all calls.

    Args:
        directory: Where files are written.
    """
    out, peer = str(directory / "file"), str(directory / "peer-file")

    def ours(*words: str) -> list[str]:
        return ["-m", "vestige", *words]

    return [
        Job("table of functions", ours("report"), ["report"]),
        Job("table with percentiles", ours("report", "--percentiles"), ["report"]),
        Job("index of intervals", [str(HERE / "window_vestige.py"), "make"]),
        Job(
            "folded stacks", ours("report", "--to", "folded", "-o", out),
            ["dump", "--flame-graph"], out, peer,
        ),
        Job("pprof", ours("report", "--to", "pprof", "-o", out), (), out),
        Job("page of HTML", ours("report", "--to", "html", "-o", out), (), out),
        Job(
            "each call, for Perfetto", ours("export", "--to", "perfetto", "-o", out),
            ["dump", "--chrome"], out, peer,
        ),
        Job(
            "each call, for Chrome's viewer",
            ours("export", "--to", "chrome", "-o", out),
            ["dump", "--chrome"], out, peer,
        ),
        Job(
            "each call, as rows (Parquet)",
            ours("export", "--calls", "--to", "parquet", "-o", out), (), out,
        ),
    ]  # fmt: skip


OF_RESOURCES = (
    Job("who waits for mutexes", ["-m", "vestige", "report", "--locks"]),
    Job("which memory is left", ["-m", "vestige", "report", "--memory"]),
)
"""The jobs of events of mutexes and of memory."""


def record(directory: Path, rounds: int) -> tuple[Path, Path | None]:
    """Build and record the program; return our recording and that of the peer."""
    trace, peer = directory / "trace", directory / "peer"
    for options, name in (("-finstrument-functions", "hooks"), ("-pg", "mcount")):
        words = ["gcc", "-O2", "-g", options, "-pthread", HERE / "viewers.c"]
        subprocess.run([*words, "-o", directory / name], check=True)
    words = [*VESTIGE, "record", "-c", "none", "-o", str(trace), "--"]
    subprocess.run(
        [*words, str(directory / "hooks"), str(rounds)], check=True, capture_output=True
    )
    if shutil.which("uftrace") is None:
        return trace, None
    words = ["uftrace", "record", "--no-libcall", "-d", str(peer)]
    subprocess.run([*words, str(directory / "mcount"), str(rounds)], check=True)
    return trace, peer


def record_resources(directory: Path, rounds: int) -> Path:
    """Build and record the program with mutexes and memory; return the recording."""
    trace, program = directory / "resources", directory / "resources-program"
    source = str(HERE / "viewers_resources.c")
    words = ["gcc", "-O2", "-g", "-pthread", source, "-o", str(program)]
    subprocess.run(words, check=True)
    words = [*VESTIGE, "record", "--libc", "--pthread", "-o", str(trace), "--"]
    words += [str(program), str(rounds)]
    subprocess.run(words, check=True, capture_output=True)
    return trace


def events_of(trace: Path) -> int:
    """Return how many event records a recording has."""
    words = [*VESTIGE, "report", "--events", "--json", str(trace)]
    found = subprocess.run(words, check=True, capture_output=True)
    return int(json.loads(found.stdout)["events"])


def table(directory: Path, rounds: int, runs: int) -> list[str]:
    """Measure all that is made of calls; return the lines of the table."""
    trace, peer = record(directory, rounds)
    calls = THREADS * (1 + rounds * CALLS_OF_ROUND) + 1
    lines = [
        f"{calls:,} calls; the least processor time of {runs} runs.",
        "",
        f"| | {' | '.join(HEAD)} |",
        f"| --- |{' --: |' * len(HEAD)}",
    ]
    for job in of_calls(directory):
        ours, theirs = Cell(), Cell()
        for _ in range(runs):
            shutil.rmtree(directory / "cache", ignore_errors=True)
            run([sys.executable, *job.command, trace], ours)
            if job.output:
                ours.take_size(job.output)
            if job.peer and peer is not None:
                run(["uftrace", *job.peer, "-d", peer], theirs, job.peer_output)
        cells = [job.name, *_cells(ours, calls)]
        if job.peer and peer is not None:
            cells += [
                f"{theirs.seconds:.2f} s",
                *_sizes(theirs, calls),
                f"{theirs.seconds / ours.seconds:.2f}x",
            ]
        else:
            cells += [""] * 4
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", window(trace)]


def window(trace: Path) -> str:
    """Return what it takes to read windows of a trace that has an index."""
    words = [sys.executable, str(HERE / "window_vestige.py")]
    run([*words, "make", trace], Cell())
    environment = os.environ | {"VESTIGE_CACHE_DIR": str(OUTPUT / "viewers" / "cache")}
    found = subprocess.run(
        [*words, "read", str(trace)], check=True, capture_output=True, env=environment
    )
    facts = json.loads(found.stdout)
    return (
        f"With an index, a window of 20 ms takes {facts['ms']:.1f} ms of processor "
        "time: the median of "
        f"{facts['windows']}, in which {facts['calls']:,} calls are."
    )


def table_of_resources(directory: Path, rounds: int, runs: int) -> list[str]:
    """Measure what is made of mutexes and memory; return the lines of the table."""
    trace = record_resources(directory, rounds)
    events = events_of(trace)
    lines = [
        f"{events:,} event records of mutexes and memory, in one recording.",
        "",
        "| | Vestige | event records a second | memory |",
        "| --- | --: | --: | --: |",
    ]
    for job in OF_RESOURCES:
        cell = Cell()
        for _ in range(runs):
            run([sys.executable, *job.command, trace], cell)
        rate = events / cell.seconds / 1e6
        cells = [job.name, f"{cell.seconds:.2f} s", f"{rate:.1f} million"]
        lines.append(f"| {' | '.join(cells)} | {cell.peak_mib:.0f} MiB |")
    return lines


def _cells(cell: Cell, calls: int) -> list[str]:
    return [
        f"{cell.seconds:.2f} s",
        f"{cell.seconds / calls * 1e9:.0f} ns",
        f"{cell.peak_mib:.0f} MiB",
        *_sizes(cell, calls),
    ]


def _sizes(cell: Cell, calls: int) -> list[str]:
    if not cell.size:
        return ["", ""]
    return [f"{cell.size / 1e6:.2f} MB", f"{cell.size / calls:.2f}"]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="runs of each command")
    parser.add_argument("--rounds", type=int, default=110_000, help="of each thread")
    parser.add_argument("--quick", action="store_true", help="a tenth, once")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.rounds = 1, options.rounds // 10
    directory = OUTPUT / "viewers"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    lines = [
        *table(directory, options.rounds, options.runs),
        "",
        *table_of_resources(directory, 2 * options.rounds, options.runs),
        "",
        *table_of_python(directory, 10 * options.rounds, options.runs),
    ]
    shutil.rmtree(directory)
    text = "\n".join(lines)
    (OUTPUT / "table-viewers.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
