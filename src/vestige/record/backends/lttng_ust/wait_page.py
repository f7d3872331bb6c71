"""The page where programs of LTTng-UST wait for a session daemon.

Programs that found no daemon wait on its first word by futex(2). A daemon writes 1 and
wakes them; when it ends, it writes 0.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from contextlib import suppress

__all__ = ["WaitPage"]

SYS_FUTEX, FUTEX_WAKE = 202, 1
MOST_PROGRAMS = (1 << 31) - 1


class WaitPage:
    """A page that says whether there is a daemon.

    Args:
        path: The page; ``None`` if nobody waits anywhere.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._page: mmap.mmap | None = None

    def open(self) -> None:
        """Say that there is one, and wake who waits for it.

        Where the page cannot be had, only programs that start later find us.
        """
        if self._path is None:
            return
        with suppress(OSError):
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            mode = 0o664 if os.geteuid() == 0 else 0o600
            before = os.umask(0)
            try:
                file = os.open(self._path, flags, mode)
            finally:
                os.umask(before)
            try:
                if os.fstat(file).st_uid not in {0, os.geteuid()}:
                    return
                if os.fstat(file).st_size < mmap.PAGESIZE:
                    os.ftruncate(file, mmap.PAGESIZE)
                self._page = mmap.mmap(file, mmap.PAGESIZE)
            finally:
                os.close(file)
            self._say(1)

    def close(self) -> None:
        """Say that there is none any more."""
        if self._page is not None:
            self._say(0)
            self._page.close()
            self._page = None

    def _say(self, value: int) -> None:
        assert self._page is not None  # noqa: S101 - as both have looked
        struct.pack_into("=i", self._page, 0, value)
        word = ctypes.c_int.from_buffer(self._page)
        libc = ctypes.CDLL(None)
        libc.syscall(
            SYS_FUTEX, ctypes.byref(word), FUTEX_WAKE, MOST_PROGRAMS, None, None, 0
        )
        del word
