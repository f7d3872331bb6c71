"""Running commands beside each other and comparing their times."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MIB = 1024


@dataclass(frozen=True)
class Row:
    """A comparison: the same job by both tools, and the bytes of it alone."""

    job: str
    """What is done."""
    vestige: Sequence[str]
    """Our command."""
    peer: Sequence[str]
    """The peer's command; empty when it has none."""
    peer_needs: str
    """The program that the peer's command needs."""
    floor: Sequence[str] = ()
    """Reads and writes as many bytes without looking at them."""


@dataclass(frozen=True)
class Measure:
    """One run of a command."""

    seconds: float
    peak_kib: int


@dataclass(frozen=True)
class Result:
    """What was measured for a row."""

    row: Row
    ours: Sequence[Measure]
    theirs: Sequence[Measure]
    floors: Sequence[Measure]

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        own = [f"{_median(self.ours):.3f} s", f"{_peak(self.ours)} MiB"]
        floor = f"{_median(self.floors):.3f} s" if self.floors else ""
        if not self.theirs:
            return [
                self.row.job,
                *own,
                f"{self.row.peer_needs} is missing",
                "",
                "",
                floor,
            ]
        peer = [f"{_median(self.theirs):.3f} s", f"{_peak(self.theirs)} MiB"]
        return [self.row.job, *own, *peer, self._verdict(), floor]

    def _verdict(self) -> str:
        pairs = zip(self.ours, self.theirs, strict=True)
        ratio = statistics.median(peer.seconds / mine.seconds for mine, peer in pairs)
        if ratio >= 1:
            return f"**{ratio:.3g}x**"
        slower = _median(self.ours) - _median(self.theirs)
        return f"slower by {slower:.3f} s"


def measure(command: Sequence[str], output: Path | None = None) -> Measure:
    """Run a command once; its output goes nowhere, or to a file."""
    target = os.devnull if output is None else output
    start = time.perf_counter()
    with (
        open(target, "wb") as sink,  # noqa: PTH123 - os.devnull is no Path
        subprocess.Popen(
            command, stdout=sink, stderr=subprocess.DEVNULL, env=environment()
        ) as process,
    ):
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


def compare(row: Row, runs: int) -> Result:
    """Run all commands of a row in turn, A B C A B C ..."""
    peer_is_there = bool(row.peer) and shutil.which(row.peer_needs) is not None
    measure(row.vestige)  # the first run writes bytecode and fills the page cache
    ours: list[Measure] = []
    theirs: list[Measure] = []
    floors: list[Measure] = []
    for _ in range(runs):
        ours.append(measure(row.vestige))
        if peer_is_there:
            theirs.append(measure(row.peer))
        if row.floor:
            floors.append(measure(row.floor))
    return Result(row, ours, theirs, floors)


def _median(measures: Sequence[Measure]) -> float:
    return statistics.median(one.seconds for one in measures)


def _peak(measures: Sequence[Measure]) -> int:
    return max(one.peak_kib for one in measures) // MIB
