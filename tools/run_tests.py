"""Run all Python tests: those that record one after the other, the others at the same time.

    tools/run_tests.py [OPTION]...

Tests that record look at the whole machine: memory that programs share, daemons, how
many processors are busy. So they are one run of pytest, in order. The others read files
and run what shares nothing; they are a second run, whose output is shown at its end. In
it are also those that compare what two tools read: what they record with LTTng is in name
spaces. Where the second run may have a /dev/shm and ports of its own, as root may, it
takes a part of those that record: they share nothing else, as their daemons have homes
of their own.
Options are passed on to both.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

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
    "unit/record/backends/kernel/test_expressions.py",
)
"""What is in these folders and does not."""


APART = (
    "oracle/test_application_contexts.py",
    "oracle/test_filters.py",
    "unit/cli",
    "unit/control",
    "unit/control_library",
    "unit/daemon",
    "unit/instrument",
    "unit/record/backends/lttng_ust",
    "unit/record/backends/registered",
    "unit/record/relay",
    "unit/record/rules",
    *(
        f"unit/record/test_{name}.py"
        for name in ("other_machines", "tracepoint_builds", "tracepoint_headers")
    ),
)
"""Folders and files of tests that record, for a run with surroundings of its own."""

KERNEL = "test_kernel*.py"
"""How tests in such folders are called that record the kernel, which is one for all."""
ASKS_FOR_KERNEL = "support.kernel_tracer"
"""What others of them import."""

SURROUNDINGS = (
    *("unshare", "--mount", "--net", "--", "sh", "-c"),
    'mount -t tmpfs -o mode=1777 tmpfs /dev/shm && ip link set lo up && exec "$@"',
    "sh",
)
"""What begins the command line of a run with memory and ports of its own."""


class Tests(NamedTuple):
    """What a run of pytest has."""

    names: Sequence[str]
    """Folders and files."""
    left_out: Sequence[str] = ()
    """Those in them that the other run has."""


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


def runs(*, is_apart: bool) -> tuple[Tests, Tests]:
    """Return the run that is in order, and the second one.

    Args:
        is_apart: Whether the second one has surroundings of its own.
    """
    if not is_apart:
        return Tests(RECORDING, BESIDE), Tests(reading())
    whole = [one for one in APART if one in RECORDING]
    of_kernel = [
        path.relative_to(TESTS).as_posix()
        for name in whole
        for path in sorted((TESTS / name).rglob("test_*.py"))
        if records_kernel(path)
    ]
    first = [one for one in RECORDING if one not in whole]
    parts = [one for one in APART if one not in whole]
    return (
        Tests([*first, *of_kernel], [*BESIDE, *parts]),
        Tests([*reading(), *APART], of_kernel),
    )


def records_kernel(path: Path) -> bool:
    """Tell whether a file of tests is run in order wherever it is."""
    return path.match(KERNEL) or ASKS_FOR_KERNEL in path.read_text(encoding="utf-8")


def why_not_apart() -> str | None:
    """Return why no process can have memory and ports of its own; ``None`` if it can."""
    try:
        done = subprocess.run(
            [*SURROUNDINGS, "true"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return None
    return done.stderr.strip() or f"{SURROUNDINGS[0]}: exit status {done.returncode}"


def pytest(
    tests: Tests,
    options: Sequence[str],
    prefix: Sequence[str] = (),
    output: int | None = None,
) -> Running:
    """Start pytest on folders and files of tests.

    Args:
        tests: These.
        options: More of its command line.
        prefix: What begins its command line.
        output: What it writes to; ``None``: to where this process does.
    """
    paths = [str(TESTS / name) for name in tests.names]
    left_out = [f"--ignore={TESTS / name}" for name in tests.left_out]
    words = [*prefix, sys.executable, "-m", "pytest", *options, *left_out, *paths]
    return subprocess.Popen(words, cwd=ROOT, stdout=output, stderr=output)


def main() -> int:
    """Run both; return the first exit status that is not 0."""
    options = sys.argv[1:]
    reason = why_not_apart()
    if reason is not None:
        print(f"All tests that record are in one run: {reason}", flush=True)
    in_order, second = runs(is_apart=reason is None)
    with tempfile.TemporaryFile() as output:
        prefix = SURROUNDINGS if reason is None else ()
        started = [pytest(second, options, prefix, output.fileno())]
        try:
            started.insert(0, pytest(in_order, options))
            statuses = [one.wait() for one in started]
        except KeyboardInterrupt:  # which both have got, too
            statuses = [*(one.wait() for one in started), 130]
        output.seek(0)
        print("\nThe second run:", flush=True)
        sys.stdout.buffer.write(output.read())
        sys.stdout.flush()
    return next((status for status in statuses if status), 0)


if __name__ == "__main__":
    sys.exit(main())
