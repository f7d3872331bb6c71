"""The file that the threads of a recording share when its size is limited.

It holds counts, and in overwrite mode a queue of files.
The tracer maps it, so it is made with all its blocks.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from ._agreement import CONTROL_FILE, CONTROL_OFFSETS, CONTROL_SIZE

__all__ = ["CONTROL", "make_control", "overwritten_bytes"]

CONTROL = CONTROL_FILE
COUNT = struct.Struct("=Q")
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
    size = CONTROL_SIZE if is_overwriting else CONTROL_OFFSETS["slots"]
    with (directory / CONTROL).open("xb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
        file.write(COUNT.pack(taken))


def overwritten_bytes(directory: Path) -> int:
    """Return how many bytes were recorded and taken away again.

    Args:
        directory: The trace.

    Returns:
        The bytes; 0 when the size of the recording is not limited.
    """
    try:
        with (directory / CONTROL).open("rb") as file:
            file.seek(CONTROL_OFFSETS["overwritten"])
            return int(COUNT.unpack(file.read(COUNT.size))[0])
    except (OSError, struct.error):
        return 0
