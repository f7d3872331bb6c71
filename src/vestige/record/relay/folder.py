"""The directory in memory of what is sent."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

__all__ = ["make_spool", "remove_spool"]

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - directories there have names of their own
PREFIX = "vestige-relay-"


def make_spool(uid: int, gid: int) -> str:
    """Make a directory in memory that something is recorded to.

    Args:
        uid: Whose it is.
        gid: As above.

    Returns:
        Its path.

    Raises:
        OSError: It cannot be made.
    """
    where = SHARED_MEMORY if Path(SHARED_MEMORY).is_dir() else None
    path = tempfile.mkdtemp(prefix=PREFIX, dir=where)
    if os.geteuid() == 0 and uid != 0:
        os.chown(path, uid, gid)
    return path


def remove_spool(path: str) -> None:
    """Remove one with all that is in it; nothing else is removed.

    Args:
        path: Its path.
    """
    if Path(path).name.startswith(PREFIX):
        shutil.rmtree(path, ignore_errors=True)
