"""Run all Python tests: those that record one after the other, the others at the same time.

    tools/run_tests.py [OPTION]...

Tests that record look at the whole machine: memory that programs share, daemons, how
many processors are busy. So they are one run of pytest, in order. The others read files
and run what shares nothing; they are a second run, whose output is shown at its end.
Options are passed on to both.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"

Running = subprocess.Popen[bytes]

RECORDING = (
    "oracle",
    "unit/cli",
    "unit/control",
    "unit/control_library",
    "unit/daemon",
    "unit/instrument",
    "unit/record",
    "unit/tracer",
)
"""Folders of tests that record, or talk to a daemon."""


def reading() -> list[str]:
    """Return the other folders and files of tests."""
    unit = [
        path
        for path in sorted((TESTS / "unit").iterdir())
        if path.is_dir() or path.name.startswith("test_")
    ]
    found = [path.relative_to(TESTS).as_posix() for path in [TESTS / "meta", *unit]]
    return [name for name in found if name not in RECORDING and "__" not in name]


def pytest(names: list[str], options: list[str], output: int | None = None) -> Running:
    """Start pytest on folders and files of tests."""
    paths = [str(TESTS / name) for name in names]
    words = [sys.executable, "-m", "pytest", *options, *paths]
    return subprocess.Popen(words, cwd=ROOT, stdout=output, stderr=output)


def main() -> int:
    """Run both; return the first exit status that is not 0."""
    options = sys.argv[1:]
    with tempfile.TemporaryFile() as output:
        beside = pytest(reading(), options, output.fileno())
        first = pytest(list(RECORDING), options)
        try:
            statuses = [first.wait(), beside.wait()]
        except KeyboardInterrupt:  # which both have got, too
            statuses = [first.wait(), beside.wait(), 130]
        output.seek(0)
        print("\nTests that do not record:", flush=True)
        sys.stdout.buffer.write(output.read())
        sys.stdout.flush()
    return next((status for status in statuses if status), 0)


if __name__ == "__main__":
    sys.exit(main())
