"""Whether a recording goes on in a directory, and whether its traces are there."""

from __future__ import annotations

import os
import time
from pathlib import Path

from .._typing import TYPE_CHECKING
from ..record.trace_directory import KERNEL, PRESENT, PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Callable, Container

__all__ = ["NEXT", "is_recorded", "kernel_is_missing", "wait_for_kernel"]

REGISTER = ".arena"
"""The file that is there while a recording is made."""
SOCKET = ".recorder"
"""The file by which a recorder is asked for snapshots."""
METADATA = "metadata"
NEXT = ".kernel"
"""The kernel's trace of the next part, until it takes the place of the one before."""
PAUSE = 0.02
"""Seconds between two looks."""
LONGEST_QUIET = 50
"""After so many looks it is seen whether the recorder is alive."""


def is_recorded(path: str | os.PathLike[str]) -> bool:
    """Tell whether a recording goes on.

    Args:
        path: The directory of a trace, or that of a recording with several.
    """
    return any(map(_has_register, _places(path)))


def wait_for_kernel(
    path: str | os.PathLike[str], is_abandoned: Callable[[Path], bool]
) -> bool:
    """Wait for the traces of a recording, or of a part of one, that has just begun.

    The metadata of programs are the last that come at the beginning.

    Args:
        path: The directory of the recording.
        is_abandoned: Tells whether the recorder of a trace was killed.

    Returns:
        Whether none is to come any more that is not there; not so if the recorder was
        killed.
    """
    looks = 0
    while awaited := _awaited(path):
        looks += 1
        if looks % LONGEST_QUIET == 0 and any(map(is_abandoned, awaited)):
            return False
        time.sleep(PAUSE)
    return True


def kernel_is_missing(path: str | os.PathLike[str], found: Container[Path]) -> bool:
    """Tell whether the kernel's trace was not found, and is there, or will be.

    Where one part of a recording ends and the next one begins, it is in neither place
    for a moment.

    Args:
        path: The directory of the recording.
        found: The absolute directories of the traces that were.
    """
    return bool(_awaited(path)) or any(
        _has_kernel(one) and one.with_name(KERNEL) not in found
        for one in _places(path)
        if one.name == PROGRAMS and _has_register(one)
    )


def _awaited(path: str | os.PathLike[str]) -> list[Path]:
    """Return the traces of programs that, or beside which the kernel's, are to come."""
    # In overwrite mode it comes in the end.
    if Path(path, SOCKET).exists():
        return []
    return [
        one
        for one in _places(path)
        if one.name == PROGRAMS
        and _has_register(one)
        and (not (one / METADATA).exists() or _is_between(one))
    ]


def _is_between(programs: Path) -> bool:
    """Tell whether the kernel's trace of the next part has no place yet."""
    return programs.with_name(NEXT).exists() and not _has_kernel(programs)


def _has_kernel(programs: Path) -> bool:
    return Path(programs.with_name(KERNEL), METADATA).exists()


def _places(path: str | os.PathLike[str]) -> list[Path]:
    """Return where the trace of programs may be."""
    above = Path(os.path.normpath(Path.cwd() / path))
    parts = ((), (PROGRAMS,), (PRESENT,), (PRESENT, PROGRAMS))
    return [above.joinpath(*one) for one in parts]


def _has_register(place: Path) -> bool:
    return (place / REGISTER).exists()
