"""Refuse source files that have outgrown their one noun: more than 800 lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

MOST_LINES = 800
# The description of the compiled module is one file, however much is in it.
EXEMPT = frozenset({"_core.pyi"})
ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "crates", "tests", "tools", "tracer", "control")
SUFFIXES = frozenset({".c", ".cpp", ".h", ".py", ".pyi", ".rs"})


def sources() -> Iterator[Path]:
    """Yield all source files."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            built = "target" in path.relative_to(ROOT).parts
            if path.suffix in SUFFIXES and not built:
                yield path


def main() -> int:
    """Print each file that is too long; return 1 if there is one."""
    status = 0
    for path in sorted(sources()):
        lines = len(path.read_text(encoding="utf-8", errors="replace").splitlines())
        if lines > MOST_LINES and path.name not in EXEMPT:
            print(f"{path.relative_to(ROOT)}: {lines} lines, at most {MOST_LINES}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
