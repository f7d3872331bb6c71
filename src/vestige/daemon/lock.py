"""One daemon for each run directory, LTTng's or ours.

The lock is LTTng's: a lock of the whole file by fcntl(2). It ends with the process,
however that ends. LTTng's daemon loses it when it goes to the background, so whoever
listens on the sockets is looked for, too.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
from collections.abc import Iterable
from pathlib import Path

from ..errors import DaemonRunsError

__all__ = ["check_sockets", "lock_owner", "take_lock"]

CREDENTIALS = struct.Struct("3i")
"""``struct ucred``: PID, user, group; unix(7)."""

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
        owner = _owner(lock)
        os.close(lock)
        raise DaemonRunsError(path, owner or _written_pid(path)) from None
    return lock


def check_sockets(lock: str, paths: Iterable[str]) -> None:
    """Refuse to take the place of a daemon that listens, though it has no lock.

    Args:
        lock: The file that it should have locked.
        paths: Its sockets.

    Raises:
        DaemonRunsError: There is one.
    """
    for path in paths:
        owner = _listener(path)
        if owner is not None:
            raise DaemonRunsError(lock, owner)


def _listener(path: str) -> int | None:
    """Return the process ID of who listens on a socket; ``None`` if nobody does."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        # One that has too many waiting is alive as well.
        connection.setblocking(False)  # noqa: FBT003 - it has no name
        try:
            connection.connect(path)
        except BlockingIOError:
            return 0
        except OSError:
            return None
        packed = connection.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size
        )
        return int(CREDENTIALS.unpack(packed)[0])


def _owner(lock: int) -> int:
    asked = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    kind, _, _, _, pid = FLOCK.unpack(fcntl.fcntl(lock, fcntl.F_GETLK, asked))
    return 0 if kind == fcntl.F_UNLCK else int(pid)


def lock_owner(path: str) -> int:
    """Return the process ID of the daemon that has a lock; 0 if nobody has it.

    Args:
        path: The file.
    """
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return 0
    try:
        return _owner(lock)
    finally:
        os.close(lock)


def _written_pid(lock: str) -> int:
    """Return what a daemon of another process ID namespace wrote, if it did."""
    try:
        text = Path(lock).with_suffix(".pid").read_text()
    except OSError:
        return 0
    return int(text) if text.strip().isdecimal() else 0
