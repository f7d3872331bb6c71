"""What tests that kill recorders leave in memory that all programs share."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from vestige.record._collector import look_at_abandoned, remove_abandoned

FOLDER = Path("/dev/shm")


def remove_memory_of_recordings(folder: Path) -> None:
    """Remove the memory of killed recordings whose trace is, or was, in a folder.

    Otherwise each later recording of the same user would name them.
    """
    for arena in FOLDER.glob(f"vestige-{os.geteuid()}-*"):
        with suppress(OSError):
            seen = look_at_abandoned(str(arena))
            if seen is not None and Path(seen[0]).is_relative_to(folder):
                remove_abandoned(str(arena))
