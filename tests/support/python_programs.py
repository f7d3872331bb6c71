"""Python programs that are recorded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import vestige
from support.recorded import run_recorded

__all__ = [
    "copied_package",
    "events",
    "interpreters",
    "names",
    "place_of",
    "record_python",
    "run_python",
]

SOURCES = Path(vestige.__file__).parents[1]


def _written(directory: Path, code: str) -> Path:
    path = directory / "program.py"
    path.write_text(textwrap.dedent(code))
    return path


def run_python(directory: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run a program without a recorder."""
    return subprocess.run(
        [sys.executable, _written(directory, code)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )


def record_python(
    directory: Path,
    code: str,
    *options: str,
    interpreter: Sequence[str] = (sys.executable,),
) -> subprocess.CompletedProcess[str]:
    """Record a program to ``directory/trace``; return what it printed."""
    command = [*interpreter, str(_written(directory, code))]
    return run_recorded(directory / "trace", command, *options)


def interpreters() -> list[str]:
    """Return this Python, and newer ones where they are."""
    names = ("3.12", "3.13")
    found = [sorted(Path.home().glob(f".pyenv/versions/{name}*/bin/python3"))
             for name in names]  # fmt: skip
    return [sys.executable, *(str(paths[-1]) for paths in found if paths)]


def events(directory: Path, pattern: str) -> list[vestige.Event]:
    """Return the events of a recording whose names match."""
    opened = vestige.open(directory / "trace")
    found = list(opened.events(pattern))
    assert not opened.damage
    return found


def names(directory: Path) -> set[str | None]:
    """Return the names of all events of a recording."""
    opened = vestige.open(directory / "trace")
    found = {event.name for event in opened}
    assert not opened.damage
    return found


def copied_package(directory: Path, *left_out: str) -> None:
    """Copy Vestige to a directory, without the files that some patterns match."""
    source = Path(vestige.__file__).parent
    ignore = shutil.ignore_patterns("__pycache__", *left_out)
    shutil.copytree(source, directory / source.name, ignore=ignore)


def place_of(event: vestige.Event) -> str:
    """Return the file and the line of an event."""
    place = event.debug_info
    return f"{place.file}:{place.line}" if isinstance(place, vestige.Place) else ""
