"""Programs of lttng-analyses, which work out from a kernel's trace what a report shows."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

__all__ = ["analysed", "analysed_with_ours", "missing_analyses", "rows"]

SECONDS = 120.0
_DEBIAN = "/usr/lib/python3/dist-packages"
"""Where the package has its modules."""


def missing_analyses() -> str | None:
    """Return why the programs cannot be run here, or None."""
    if shutil.which("lttng-cputop-mi") is None:
        return "not installed: lttng-analyses (Debian package python3-lttnganalyses)"
    return None


@functools.cache
def analysed(name: str, trace: Path, *options: str) -> list[dict[str, Any]]:
    """Run a program; return its results, as its machine interface has them.

    They are kept: a program takes seconds.

    Args:
        name: The program, without its prefix.
        trace: The trace.
        options: More of its command line.
    """
    return _results([f"lttng-{name}-mi"], [*options, str(trace)])


def analysed_with_ours(name: str, trace: Path) -> list[dict[str, Any]]:
    """Run a program with our module in place of Babeltrace 1's.

    Args:
        name: The program, without its prefix.
        trace: The trace.
    """
    script = shutil.which(f"lttng-{name}-mi")
    assert script is not None
    begin = [sys.executable, "-m", "vestige.compat.babeltrace", script]
    return _results(begin, [str(trace)], {"PYTHONPATH": _DEBIAN})


def _results(
    begin: Sequence[str], words: Sequence[str], more: dict[str, str] | None = None
) -> list[dict[str, Any]]:
    done = subprocess.run(
        [*begin, *words],
        env={**os.environ, **(more or {})},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    # An error is on standard output, too.
    assert done.returncode == 0, done.stdout + done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["results"]
    return found


def rows(
    results: Sequence[dict[str, Any]], chosen: Callable[[str], bool]
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the rows of tables, each with the title of its table.

    Args:
        results: What a program found.
        chosen: Tells by the title which tables are wanted.

    Yields:
        Title and cells; a cell is its value, or what it describes where it has none.
    """
    for result in results:
        kind = result["class"]
        title = kind["title"] if isinstance(kind, dict) else kind
        if chosen(title):
            for row in result["data"]:
                yield title, [cell.get("value", cell) for cell in row]
