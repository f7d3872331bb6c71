"""Where programs look for a daemon: a page to wait on, and the path of the tracer."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from contextlib import suppress

from ._agreement import REGISTRATION_PAGE, REGISTRATION_TRACER

__all__ = ["announce"]

SYS_FUTEX, FUTEX_WAKE = 202, 1
MOST_PROGRAMS = (1 << 31) - 1
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
        if os.fstat(file).st_size < mmap.PAGESIZE:
            os.ftruncate(file, mmap.PAGESIZE)
        page = mmap.mmap(file, mmap.PAGESIZE)
    finally:
        os.close(file)
    with page:
        _count(page)


def _count(page: mmap.mmap) -> None:
    """Let the first word grow, and wake who waits for that."""
    (number,) = struct.unpack_from("=I", page)
    struct.pack_into("=I", page, 0, (number + 1) & 0xFFFFFFFF)
    word = ctypes.c_uint.from_buffer(page)
    with suppress(AttributeError):
        ctypes.CDLL(None).syscall(
            SYS_FUTEX, ctypes.byref(word), FUTEX_WAKE, MOST_PROGRAMS, None, None, 0
        )
    del word
