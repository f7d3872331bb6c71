"""Whether a recording goes on in a directory, and whether its traces are there."""

from __future__ import annotations

import os
import time

from ..record.trace_directory import KERNEL, PRESENT, PROGRAMS

__all__ = ["is_recorded", "wait_for_kernel"]

REGISTER = ".arena"
"""The file that is there while a recording is made."""
SOCKET = ".recorder"
"""The file by which a recorder is asked for snapshots."""
PATIENCE, PAUSE = 1.0, 0.02
"""Seconds that the kernel may take until it is recorded, and between two looks."""


def is_recorded(path: str | os.PathLike[str]) -> bool:
    """Tell whether a recording goes on.

    Args:
        path: The directory of a trace, or that of a recording with several.
    """
    return any(map(_has_register, _places(path)))


def wait_for_kernel(path: str | os.PathLike[str]) -> None:
    """Wait a moment for the kernel's trace, if the recording has just begun.

    Args:
        path: The directory of the recording.
    """
    until = time.monotonic() + PATIENCE
    while _lacks_kernel(path) and time.monotonic() < until:
        time.sleep(PAUSE)


def _lacks_kernel(path: str | os.PathLike[str]) -> bool:
    # In overwrite mode it comes in the end.
    if os.path.exists(os.path.join(path, SOCKET)):  # noqa: PTH110, PTH118 - start-up
        return False
    return any(
        _has_register(one)
        and not os.path.exists(  # noqa: PTH110 - as above
            os.path.join(os.path.dirname(one), KERNEL, "metadata")  # noqa: PTH118, PTH120 - as above
        )
        for one in _places(path)
        if os.path.basename(one) == PROGRAMS  # noqa: PTH119 - as above
    )


def _places(path: str | os.PathLike[str]) -> list[str]:
    """Return where the trace of programs may be."""
    parts = ((), (PROGRAMS,), (PRESENT,), (PRESENT, PROGRAMS))
    return [os.path.join(os.path.abspath(path), *one) for one in parts]  # noqa: PTH100, PTH118 - as above


def _has_register(place: str) -> bool:
    return os.path.exists(os.path.join(place, REGISTER))  # noqa: PTH110, PTH118 - as above
