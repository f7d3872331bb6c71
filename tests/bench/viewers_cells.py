"""What a run of a command takes, for the tables of ``viewers``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.traces import OUTPUT

__all__ = ["Cell", "run"]


@dataclass
class Cell:
    """What the runs of a command took."""

    seconds: float = float("inf")
    peak_mib: float = 0
    size: int = 0

    def take_size(self, path: str) -> None:
        """Take the size of a file, which is removed."""
        self.size = Path(path).stat().st_size
        Path(path).unlink()


def run(command: Sequence[str | Path], cell: Cell, output: str | None = None) -> None:
    """Run a command; keep the least processor time and the greatest memory."""
    environment = os.environ | {"VESTIGE_CACHE_DIR": str(OUTPUT / "viewers" / "cache")}
    with (
        open(output or os.devnull, "wb") as file,  # noqa: PTH123 - os.devnull is no Path
        subprocess.Popen(
            [str(word) for word in command],
            stdout=file,
            stderr=subprocess.DEVNULL,
            env=environment,
        ) as process,
    ):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"bench: exit status {process.returncode} of {command}")
    cell.seconds = min(cell.seconds, usage.ru_utime + usage.ru_stime)
    cell.peak_mib = max(cell.peak_mib, usage.ru_maxrss / 1024)
    if output:
        cell.take_size(output)
