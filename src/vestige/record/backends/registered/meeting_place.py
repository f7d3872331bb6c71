"""Where programs look for a daemon: a page to wait on, and the path of the tracer."""

from __future__ import annotations

import ctypes
import mmap
import os
import stat
import struct
import sys
from contextlib import suppress
from pathlib import Path

from ._agreement import REGISTRATION_CALL, REGISTRATION_PAGE, REGISTRATION_TRACER

__all__ = ["announce"]

SYS_FUTEX, FUTEX_WAKE = 202, 1
MOST_PROGRAMS = (1 << 31) - 1
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - its name
WORD = struct.Struct("=I")
_SOME = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


def announce(folder: str, tracer: str) -> None:
    """Say that there is a daemon, which listens already, and wake who waits for it.

    Args:
        folder: The run directory.
        tracer: The path of the tracer, for programs that have none.

    Raises:
        OSError: The files cannot be written.
    """
    partial = f"{folder}/{REGISTRATION_TRACER}.part"
    file = os.open(partial, _FLAGS | os.O_TRUNC, 0o644)
    try:
        os.fchmod(file, 0o644)
        os.write(file, os.fsencode(tracer))
    finally:
        os.close(file)
    os.rename(partial, f"{folder}/{REGISTRATION_TRACER}")
    file = os.open(f"{folder}/{REGISTRATION_PAGE}", _FLAGS, 0o644)
    try:
        os.fchmod(file, 0o644)
        _count(file)
    finally:
        os.close(file)
    for uid in _callers():
        # A user who has put something else there waits for nobody.
        with suppress(OSError, ValueError):
            _call(uid)


def _callers() -> list[int]:
    """Return the users whose programs may wait for this daemon."""
    if os.geteuid() != 0:
        return [os.geteuid()]
    names = [one.name for one in SHARED_MEMORY.glob(f"{REGISTRATION_CALL}*")]
    numbers = [one.removeprefix(REGISTRATION_CALL) for one in names]
    return [int(one) for one in numbers if one.isascii() and one.isdecimal()]


def _call(uid: int) -> None:
    """Wake the programs of a user that found no daemon anywhere."""
    file = os.open(SHARED_MEMORY / f"{REGISTRATION_CALL}{uid}", _SOME)
    try:
        facts = os.fstat(file)
        # Root writes to nothing that is not the user's own.
        if stat.S_ISREG(facts.st_mode) and facts.st_uid == uid:
            _count(file)
    finally:
        os.close(file)


def _count(file: int) -> None:
    """Let the first word of a page grow, and wake who waits for that.

    Whose it is can make it shorter, so it is touched by system calls alone.
    """
    if os.fstat(file).st_size < mmap.PAGESIZE:
        os.posix_fallocate(file, 0, mmap.PAGESIZE)
    number = int.from_bytes(os.pread(file, WORD.size, 0), sys.byteorder)
    os.pwrite(file, WORD.pack((number + 1) & 0xFFFFFFFF), 0)
    with mmap.mmap(file, mmap.PAGESIZE) as page:
        word = ctypes.c_uint.from_buffer(page)
        with suppress(AttributeError):
            ctypes.CDLL(None).syscall(
                SYS_FUTEX, ctypes.byref(word), FUTEX_WAKE, MOST_PROGRAMS, None, None, 0
            )
        del word
