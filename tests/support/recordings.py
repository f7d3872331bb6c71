"""The recordings that are kept in the repository, for tests that need no LTTng."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from vestige import DebugInfoOptions, Trace, open  # noqa: A004 - its public name

DATA = Path(__file__).resolve().parent.parent / "data"
"""The traces of `tests/data`."""

NAMES = ("fields", "hello", "lost", "reload", "threads-pid")
"""Names of those that LTTng recorded."""

RECORDINGS = ("recording-1",)
"""Names of those that Vestige recorded, one for each format that recordings have had."""

SHOWN: Mapping[str, Sequence[str]] = {
    "view": ("--no-pager", "--all", "--clock-gmt"),
    "report": ("--tree", "--wide"),
    "check": (),
}
"""The commands whose output is kept of each of them, with their options."""

DEMO = DATA.parent.parent / "src" / "vestige" / "demo"
"""The recording that Vestige ships."""

DEMO_DEBUG_INFO = DebugInfoOptions(
    debug_directories=(DEMO / "debug",), target_prefixes=(("/", DEMO / "root"),)
)
"""Where the debug information of the demo is."""

RELOAD_DEBUG_INFO = DebugInfoOptions(
    debug_directories=(DATA / "reload-debug",),
    target_prefixes=(("/", DATA / "reload-root"),),
)
"""Where the debug information of the trace `reload` is."""


def open_demo() -> Trace:
    """Open the demo with its debug information."""
    return open(DEMO / "trace", debug_info=DEMO_DEBUG_INFO)


def leaf(trace: Path) -> Path:
    """Return the directory below a trace's tree that holds its first metadata file."""
    return min(trace.rglob("metadata")).parent


def copy_trace(name: str, destination: Path) -> Path:
    """Copy the files of a trace, flat, without index files; return the new directory."""
    source = leaf(DATA / name)
    return Path(
        shutil.copytree(source, destination, ignore=shutil.ignore_patterns("index"))
    )
