"""Time Vestige beside Babeltrace 2 on the same trace, in the same run.

The trace is recorded with LTTng: threads that emit an integer, a long and a string, with
the contexts ``ip``, ``vpid`` and ``vtid`` and the state dump. It is kept in ``bench-out/``.

Both tools run in turn, A B A B ...; a row gives the median of each and their ratio. What is
printed is a Markdown table; it is also written to ``bench-out/table.md``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from support.compilers import Toolchain
from support.lttng import Channel, LttngEnvironment, Program, missing_requirement
from support.recipes import Workshop

ROOT = Path(__file__).resolve().parent.parent.parent
OUTPUT = ROOT / "bench-out"
PROGRAMS = ROOT / "tests" / "bench"
VESTIGE = str(Path(sys.executable).parent / "vestige")
WORKERS = 4
MIB = 1024


@dataclass(frozen=True)
class Row:
    """A comparison: the same job by both tools."""

    job: str
    vestige: Sequence[str]
    peer: Sequence[str]
    peer_needs: str


@dataclass(frozen=True)
class Measure:
    """One run of a command."""

    seconds: float
    peak_kib: int


def rows(trace: Path, small: Path) -> list[Row]:
    """Return what is compared."""
    text, bt = str(trace), "babeltrace2"
    iterate = str(PROGRAMS / "iterate_vestige.py")
    iterate_peer = str(PROGRAMS / "iterate_bt2.py")
    return [
        Row("decoding (`-o dummy`)", *_pair("-o", "dummy", text), bt),
        Row("text", *_pair(text), bt),
        Row("text with debug info", *_pair("--debug-info", text), bt),
        Row(
            "Python, five fields of each event",
            [sys.executable, iterate, text],
            ["/usr/bin/python3", iterate_peer, text],
            "/usr/bin/python3",
        ),
        Row("start-up: ten events", *_pair(str(small)), bt),
    ]


def _pair(*arguments: str) -> tuple[list[str], list[str]]:
    return [VESTIGE, "convert", *arguments], ["babeltrace2", *arguments]


def record(trace: Path, events: int) -> None:
    """Record a trace with at least so many events, unless it is there."""
    if trace.exists():
        return
    reason = missing_requirement()
    if reason is not None:
        sys.exit(f"bench: cannot record: {reason}")
    print(f"recording {events:,} events into {trace}", file=sys.stderr)
    with LttngEnvironment() as lttng:
        workshop = Workshop(lttng, OUTPUT / "work", toolchain=Toolchain())
        program = workshop.program("threads")
        channel = Channel(
            contexts=("ip", "vpid", "vtid"),
            events=("threads:*", "lttng_ust_statedump:*"),
            sub_buffer_size="16M",
            sub_buffer_count=8,
        )
        run = Program([program, str(WORKERS), str(-(-events // WORKERS))], seconds=300)
        recorded = workshop.record(f"recording-{events}", [run], [channel])
    shutil.move(recorded, trace)


def measure(command: Sequence[str]) -> Measure:
    """Run a command once; its output goes nowhere."""
    start = time.perf_counter()
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        peak = _wait(process)
    seconds = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit(f"bench: exit status {process.returncode} of {' '.join(command)}")
    return Measure(seconds, peak)


def environment() -> dict[str, str]:
    """Return the environment of both tools: an installed package has its bytecode."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process and return its own peak memory, KiB."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss


def compare(row: Row, runs: int) -> str:
    """Run both tools in turn and return a row of the table."""
    peer_is_there = shutil.which(row.peer_needs) is not None
    measure(row.vestige)  # the first run writes bytecode and fills the page cache
    ours: list[Measure] = []
    theirs: list[Measure] = []
    for _ in range(runs):
        ours.append(measure(row.vestige))
        if peer_is_there:
            theirs.append(measure(row.peer))
    own = f"{_median(ours):.3f} s | {_peak(ours)} MiB"
    if not peer_is_there:
        return f"| {row.job} | {own} | {row.peer_needs} is missing | | |"
    ratio = statistics.median(
        peer.seconds / mine.seconds for mine, peer in zip(ours, theirs, strict=True)
    )
    peer = f"{_median(theirs):.3f} s | {_peak(theirs)} MiB"
    if ratio < 1:
        verdict = f"slower by {_median(ours) - _median(theirs):.2f} s"
    else:
        verdict = f"**{ratio:.2g}x**"
    return f"| {row.job} | {own} | {peer} | {verdict} |"


def _median(measures: Sequence[Measure]) -> float:
    return statistics.median(one.seconds for one in measures)


def _peak(measures: Sequence[Measure]) -> int:
    return max(one.peak_kib for one in measures) // MIB


def main() -> None:
    """Record what is missing, run all rows and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="300,000 events only")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command")
    options = parser.parse_args()
    events = 300_000 if options.quick else 3_000_000
    OUTPUT.mkdir(exist_ok=True)
    trace, small = OUTPUT / f"trace-{events}", OUTPUT / "trace-small"
    record(trace, events)
    record(small, 4)
    size = sum(file.stat().st_size for file in trace.rglob("*") if file.is_file())
    lines = [
        f"{events:,} events, {size / 1e6:.0f} MB, median of {options.runs} runs:",
        "",
        "| job | Vestige | peak | Babeltrace 2.0.4 | peak | faster |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows(trace, small):
        lines.append(compare(row, options.runs))
        print(lines[-1], file=sys.stderr)
    table = "\n".join(lines)
    (OUTPUT / "table.md").write_text(table + "\n", encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
