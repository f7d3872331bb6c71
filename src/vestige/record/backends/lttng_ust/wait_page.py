"""The page where programs of LTTng-UST wait for a session daemon.

Programs that found no daemon wait on its first word by futex(2). A daemon writes 1 and
wakes them; when it ends, it writes 0. Whoever comes first makes the page: root's daemon
may find that of a user, who can make it shorter at any time. So it is touched by system
calls alone.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import stat
import struct
from contextlib import suppress

__all__ = ["WaitPage"]

SYS_FUTEX, FUTEX_WAKE = 202, 1
MOST_PROGRAMS = (1 << 31) - 1
WORD = struct.Struct("=i")
_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class WaitPage:
    """A page that says whether there is a daemon.

    Args:
        path: The page; ``None`` if nobody waits anywhere.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._file = -1

    def open(self) -> None:
        """Say that there is one, and wake who waits for it.

        Where the page cannot be had, only programs that start later find us.
        """
        if self._path is not None:
            with suppress(OSError, ValueError):
                self._file = _open(self._path)
                self._say(1)

    def close(self) -> None:
        """Say that there is none any more."""
        if self._file >= 0:
            with suppress(OSError, ValueError):
                self._say(0)
            os.close(self._file)
            self._file = -1

    def _say(self, value: int) -> None:
        if os.fstat(self._file).st_size < mmap.PAGESIZE:
            os.ftruncate(self._file, mmap.PAGESIZE)
        os.pwrite(self._file, WORD.pack(value), 0)
        with mmap.mmap(self._file, mmap.PAGESIZE) as page:
            word = ctypes.c_int.from_buffer(page)
            ctypes.CDLL(None).syscall(
                SYS_FUTEX, ctypes.byref(word), FUTEX_WAKE, MOST_PROGRAMS, None, None, 0
            )
            del word


def _open(path: str) -> int:
    """Return the page, which is made if there is none.

    Raises:
        OSError: It cannot be had, or is not to be trusted.
    """
    mode = 0o664 if os.geteuid() == 0 else 0o600
    try:
        # Where it is somebody else's, O_CREAT alone may be refused: proc(5),
        # protected_regular.
        file = os.open(path, _FLAGS)
    except FileNotFoundError:
        before = os.umask(0)
        try:
            return os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, mode)
        finally:
            os.umask(before)
    try:
        _take(file, path, mode)
    except BaseException:
        os.close(file)
        raise
    return file


def _take(file: int, path: str, mode: int) -> None:
    """Let a page that was found be the daemon's.

    Raises:
        PermissionError: It is not to be trusted.
    """
    facts = os.fstat(file)
    if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
        raise PermissionError(1, "expected a page that lies in one place", path)
    if facts.st_uid == os.geteuid():
        return
    if os.geteuid() != 0:
        raise PermissionError(1, "expected a page of this user", path)
    # A program of a user was here before any daemon: others wait there, too.
    os.fchown(file, 0, 0)
    os.fchmod(file, mode)
