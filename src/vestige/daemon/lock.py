"""One daemon for each run directory, LTTng's or ours.

The lock is LTTng's: a lock of the whole file by fcntl(2). It ends with the process,
however that ends.
"""

from __future__ import annotations

import fcntl
import os
import struct
from pathlib import Path

from ..errors import DaemonRunsError

__all__ = ["take_lock"]

FLOCK = struct.Struct("hhqqi4x")
"""``struct flock`` of Linux with 64-bit offsets: type, whence, start, length, PID."""


def take_lock(path: str) -> int:
    """Take the lock of a run directory for as long as this process lives.

    Args:
        path: The file, which is made.

    Returns:
        Its descriptor, which must stay open: closing any other of this file ends the
        lock as well.

    Raises:
        DaemonRunsError: Another daemon has it.
    """
    lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o660)
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        asked = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        owner = FLOCK.unpack(fcntl.fcntl(lock, fcntl.F_GETLK, asked))[4]
        os.close(lock)
        raise DaemonRunsError(path, owner or _written_pid(path)) from None
    return lock


def _written_pid(lock: str) -> int:
    """Return what a daemon of another process ID namespace wrote, if it did."""
    try:
        text = Path(lock).with_suffix(".pid").read_text()
    except OSError:
        return 0
    return int(text) if text.strip().isdecimal() else 0
