"""The file that the threads of a recording share when its size is limited.

``tracer/src/budget.c`` has its layout: counts, and in overwrite mode a queue of files.
The tracer maps it, so it is made with all its blocks.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

__all__ = ["CONTROL", "make_control", "overwritten_bytes"]

CONTROL = ".control"
"""Hidden, so that readers leave it alone."""
SLOTS = 16384
COUNTS = struct.Struct("=QQQQ")
"""Bytes in files; of these in packets that are being filled, and in those that are
never taken away; bytes that were taken away."""
HEAD_SIZE = 64
SMALLEST_FILE = 4096
"""What a file takes on most file systems."""


def make_control(directory: Path, *, is_overwriting: bool) -> None:
    """Make the file; what is in the directory counts as recorded.

    Args:
        directory: The trace.
        is_overwriting: Whether there is a queue.

    Raises:
        OSError: The file cannot be made.
    """
    sizes = (path.stat().st_size for path in directory.iterdir())
    taken = sum(max(size, SMALLEST_FILE) for size in sizes)
    size = HEAD_SIZE + (8 * SLOTS if is_overwriting else 0)
    with (directory / CONTROL).open("xb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
        file.write(COUNTS.pack(taken, 0, 0, 0))


def overwritten_bytes(directory: Path) -> int:
    """Return how many bytes were recorded and taken away again.

    Args:
        directory: The trace.

    Returns:
        The bytes; 0 when the size of the recording is not limited.
    """
    try:
        with (directory / CONTROL).open("rb") as file:
            return int(COUNTS.unpack(file.read(COUNTS.size))[3])
    except (OSError, struct.error):
        return 0
