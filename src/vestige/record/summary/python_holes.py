"""What is missing in recordings of Python programs, although it was asked for."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...core import DataStream, Muxer
from ..backends.in_process.metadata import event_names
from .tracepoint_classes import tracepoint_classes

__all__ = ["read_missing"]

_NOT_RECORDED = "vestige_python:not_recorded"
_LOADS = ("lttng_ust_statedump:bin_info", "lttng_ust_lib:load")
_EXTENSION = re.compile(r"\.cpython-3(\d+)-[^/]*\.so$")
_HOOK = b"PyThreadState_EnterTracing\0"
"""What Cython's modules call before they tell a profiler of a function."""
_CYTHON = b"cython_runtime"
_WITH_HOOK = 11
_MOST_NAMES = 3
_Hole = tuple[str, object, str]
"""What is missing, the process ID, and the reason."""


def read_missing(
    streams: Sequence[DataStream], metadata: bytes, *, has_builtins: bool
) -> tuple[str, ...]:
    """Find what was asked for and is not there.

    Args:
        streams: The data streams of a recording.
        metadata: Its metadata.
        has_builtins: Whether functions that are written in C were asked for.

    Returns:
        Sentences for people, each once.
    """
    names = event_names()
    known = [name in {_NOT_RECORDED, *_LOADS} for name in names]
    others = len(tracepoint_classes(metadata.decode(errors="replace")))
    wanted = [*known, *[False] * others]
    holes: dict[_Hole, set[int]] = {}
    loaded: dict[str, None] = {}
    inputs = [(stream, stream.process_space, wanted, None) for stream in streams]
    for merge in Muxer(inputs):
        for event in merge.events():
            if event.name == _NOT_RECORDED:
                hole = (event["what"], _process(event), event["reason"])
                holes.setdefault(hole, set()).add(event.stream)
            else:
                loaded[event["path"]] = None
    found = [path for path in loaded if _tells_profilers(path)]
    if has_builtins:
        # Python 3.11 has the hook then that such modules call.
        found = [path for path in found if _minor(path) != _WITH_HOOK]
    return (*_sentences(holes), *_unprofiled(found))


def _sentences(holes: dict[_Hole, set[int]]) -> Iterator[str]:
    for (what, process, reason), spaces in holes.items():
        if len(spaces) == 1:
            where = f"process {process}"
        else:
            where = (
                f"{len(spaces)} processes with the ID {process}, in PID namespaces of "
                "their own"
            )
        yield f"{what} are missing in {where}: {reason}"


def _process(event: object) -> object:
    context = getattr(event, "packet_context", {})
    return context.get("vpid", "?")


def _minor(path: str) -> int:
    """Return the minor version of Python that a module is for; 0 if it is no module."""
    found = _EXTENSION.search(path)
    return int(found[1]) if found else 0


def _unprofiled(paths: Sequence[str]) -> Iterator[str]:
    """Tell of modules of Cython that report their functions, but not to us."""
    found = [Path(path).name for path in paths]
    if found:
        more = (
            f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
        )
        yield (
            f"functions of {', '.join(found[:_MOST_NAMES])}{more} are missing: "
            "Cython's profile=True reports them to sys.setprofile; Python 3.13 records "
            "them, and Python 3.11 with --python-functions=all"
        )


def _tells_profilers(path: str) -> bool:
    if not _minor(path):
        return False
    try:
        with (
            Path(path).open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return data.find(_HOOK) >= 0 and data.find(_CYTHON) >= 0
    except (OSError, ValueError):
        return False
