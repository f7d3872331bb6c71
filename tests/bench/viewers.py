"""Time what is made of millions of calls for viewers, beside uftrace.

A program is recorded by both, by each in its smallest form, so that the recordings are
not the same data: those of uftrace have library calls, too. Commands run in turn, and
cells are the least processor time of the runs. What is printed is Markdown; it is also
written to ``bench-out/table-viewers.md``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.traces import OUTPUT

HERE = Path(__file__).resolve().parent
CALLS_OF_ROUND = 27
"""Calls of a round in a thread."""
THREADS = 4
VESTIGE = (sys.executable, "-m", "vestige")


@dataclass(frozen=True)
class Job:
    """What is made, by both."""

    name: str
    """What it is."""
    command: Sequence[str]
    """The words after ``vestige``; the trace comes behind them."""
    peer: Sequence[str] = ()
    """The words after ``uftrace``, if it has that."""
    output: str | None = None
    """The file that the first command writes, of which the size is told."""


@dataclass
class Cell:
    """What the runs of a command took."""

    seconds: float = float("inf")
    peak_mib: float = 0
    size: int = 0


def jobs(directory: Path) -> list[Job]:
    """Return all jobs.

    Args:
        directory: Where files are written.
    """
    out = str(directory / "file")
    return [
        Job("table of functions", ["report"], ["report"]),
        Job(
            "table with percentiles", ["report", "--percentiles"], ["report"]
        ),
        Job(
            "folded stacks", ["report", "--to", "folded", "-o", out],
            ["dump", "--flame-graph"], out,
        ),
        Job("pprof", ["report", "--to", "pprof", "-o", out], (), out),
        Job(
            "each call, for Perfetto", ["export", "--to", "perfetto", "-o", out],
            ["dump", "--chrome"], out,
        ),
        Job(
            "each call, as rows (Parquet)",
            ["export", "--calls", "--to", "parquet", "-o", out], (), out,
        ),
    ]  # fmt: skip


def run(command: Sequence[str | Path], cell: Cell) -> None:
    """Run a command; keep the least processor time and the greatest memory."""
    with subprocess.Popen(
        [str(word) for word in command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"bench: exit status {process.returncode} of {command}")
    cell.seconds = min(cell.seconds, usage.ru_utime + usage.ru_stime)
    cell.peak_mib = max(cell.peak_mib, usage.ru_maxrss / 1024)


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


def table(directory: Path, rounds: int, runs: int) -> list[str]:
    """Measure all jobs; return the lines of the table."""
    trace, peer = record(directory, rounds)
    calls = THREADS * (1 + rounds * CALLS_OF_ROUND) + 1
    lines = [
        f"{calls:,} calls; the least processor time of {runs} runs.",
        "",
        "| | Vestige | a call | memory | file | bytes a call | uftrace | |",
        "| --- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for job in jobs(directory):
        ours, theirs = Cell(), Cell()
        for _ in range(runs):
            run([*VESTIGE, *job.command, trace], ours)
            if job.output:
                ours.size = Path(job.output).stat().st_size
                Path(job.output).unlink()
            if job.peer and peer is not None:
                run(["uftrace", *job.peer, "-d", peer], theirs)
        cells = [
            job.name,
            f"{ours.seconds:.2f} s",
            f"{ours.seconds / calls * 1e9:.0f} ns",
            f"{ours.peak_mib:.0f} MiB",
            f"{ours.size / 1e6:.2f} MB" if ours.size else "",
            f"{ours.size / calls:.2f}" if ours.size else "",
        ]
        if job.peer and peer is not None:
            ratio = theirs.seconds / ours.seconds
            cells += [f"{theirs.seconds:.2f} s", f"{ratio:.2f}x"]
        else:
            cells += ["", ""]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


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
    lines = table(directory, options.rounds, options.runs)
    shutil.rmtree(directory)
    text = "\n".join(lines)
    (OUTPUT / "table-viewers.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
