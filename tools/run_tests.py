"""Run all Python tests: those that record one after the other, the others at the same time.

    tools/run_tests.py [OPTION]...

Tests that record look at the whole machine: memory that programs share, daemons, how
many processors are busy. So they are one run of pytest, in order. The others read files
and run what shares nothing; they are a second run, whose output is shown at its end. In
it are also those that compare what two tools read: what they record with LTTng is in name
spaces.
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

BESIDE = (
    "oracle/symbols",
    *(
        f"oracle/test_{name}.py"
        for name in (
            "bt2_scripts",
            "convert_text",
            "copied_traces",
            "debug_file_order",
            "debug_info",
            "differences",
            "dmesg",
            "kernel_like",
            "moved_code",
            "plans",
            "random_plans",
            "symbolize",
            "time_range",
            "writer",
        )
    ),
    *(
        f"unit/tracer/test_{name}_units.py"
        for name in ("arena", "cpu_ring", "reading", "sharing", "stream", "text")
    ),
)
"""What is in these folders and does not."""


def reading() -> list[str]:
    """Return the folders and files of tests that do not record."""
    unit = [
        path
        for path in sorted((TESTS / "unit").iterdir())
        if path.is_dir() or path.name.startswith("test_")
    ]
    found = [path.relative_to(TESTS).as_posix() for path in [TESTS / "meta", *unit]]
    others = [name for name in found if name not in RECORDING and "__" not in name]
    # They take longest.
    return [*BESIDE, *others]


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
        ignored = [f"--ignore={TESTS / name}" for name in BESIDE]
        first = pytest(list(RECORDING), [*options, *ignored])
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
