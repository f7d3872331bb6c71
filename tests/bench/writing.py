"""Time the writer of traces beside the Python module and the CTF sink of Babeltrace 2.

Event records of three fields, a text, 16 bits and 64 bits, are written one by one, from
lists and from arrays. All ways run in turn. What is printed is Markdown; it is also
written to ``bench-out/table-writing.md``.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.traces import OUTPUT

HERE = Path(__file__).resolve().parent
SYSTEM_PYTHON = "/usr/bin/python3"
HEADINGS = ("way", "events a second", "beside Babeltrace 2")


@dataclass(frozen=True)
class Way:
    """How event records are written."""

    name: str
    """What is said of it."""
    command: Sequence[str]
    """The command in front of the directory and the number of records."""
    options: Sequence[str] = ()
    """What follows them."""
    part: int = 1
    """Which part of the records it writes: all, or one of so many."""

    def rate(self, directory: Path, count: int) -> float:
        """Write records once; return how many were written in a second."""
        shutil.rmtree(directory, ignore_errors=True)
        count //= self.part
        words = [*self.command, str(directory), str(count), *self.options]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        return count / float(done.stdout)


def ways() -> list[Way]:
    """Return all ways, that of the peer last."""
    own = [sys.executable, str(HERE / "write_vestige.py")]
    found = [
        Way(f"{name}, CTF {version}", own, [way, version])
        for version in ("1.8", "2")
        for way, name in (
            ("single", "one by one"),
            ("lists", "from lists"),
            ("arrays", "from arrays"),
        )
    ]
    peer = [SYSTEM_PYTHON, str(HERE / "write_bt2.py")]
    probe = [SYSTEM_PYTHON, "-c", "import bt2"]
    if subprocess.run(probe, check=False, capture_output=True).returncode == 0:
        found.append(Way("Babeltrace 2, CTF 1.8", peer, part=20))
    return found


def main() -> None:
    """Run all ways and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="runs of each way")
    parser.add_argument("--events", type=int, default=1_000_000, help="event records")
    options = parser.parse_args()
    OUTPUT.mkdir(exist_ok=True)
    directory = OUTPUT / "written"
    rates: dict[str, list[float]] = {}
    for _ in range(options.runs):
        for way in ways():
            rate = way.rate(directory, options.events)
            rates.setdefault(way.name, []).append(rate)
    shutil.rmtree(directory)
    medians = {name: statistics.median(values) for name, values in rates.items()}
    peer = next((rate for name, rate in medians.items() if "Babel" in name), None)
    table = [f"Median of {options.runs} runs of {options.events} event records.", ""]
    table += [f"| {' | '.join(HEADINGS)} |", "| --- | --- | --- |"]
    for name, rate in medians.items():
        ratio = "" if peer in {None, rate} else f"{rate / (peer or 1):.0f}x"
        table.append(f"| {name} | {rate / 1e6:.2f} million | {ratio} |")
    text = "\n".join(table)
    (OUTPUT / "table-writing.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
