"""Files of ``/proc`` and ``/sys``, which may be gone at any time."""

from __future__ import annotations

import os

__all__ = [
    "is_in_pid_namespace",
    "read_file",
    "terminated",
    "threads_of",
    "words_after",
]

_AT_ONCE = 1 << 16
_MOST = 1 << 25
"""Bytes of a file that are read: a process may have mapped 65,530 files, each with a
path of 4,095 bytes."""
_FIRST_NAMESPACE = 0xEFFFFFFC
"""The number of the machine's PID namespace (Linux, ``include/linux/proc_ns.h``)."""


def is_in_pid_namespace() -> bool:
    """Tell whether processes have other IDs here than the kernel's events do."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino != _FIRST_NAMESPACE
    except OSError:
        # Nobody knows.
        return False


def threads_of(process: int) -> list[int]:
    """Return the threads of a process; one that is not there yet has its own ID.

    Args:
        process: Its ID.
    """
    try:
        return [process, *map(int, os.listdir(f"/proc/{process}/task"))]
    except OSError:
        return [process]


def read_file(path: str, *, is_small: bool = False) -> bytes:
    """Return what a file holds, up to 32 MiB of it.

    Args:
        path: Its path.
        is_small: Whether the kernel makes all of it in one go.

    Raises:
        OSError: It is gone, or it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = [os.read(descriptor, _AT_ONCE)]
        size = len(parts[0])
        while parts[-1] and size < _MOST and not is_small:
            parts.append(os.read(descriptor, _AT_ONCE))
            size += len(parts[-1])
    finally:
        os.close(descriptor)
    return b"".join(parts)


def words_after(key: bytes, text: bytes) -> list[bytes]:
    """Return the words of a line.

    Args:
        key: How the line begins.
        text: All lines.

    Returns:
        What is behind the key; nothing: there is no such line.
    """
    begin = 0 if text.startswith(key) else text.find(b"\n" + key) + 1
    if begin == 0 and not text.startswith(key):
        return []
    end = text.find(b"\n", begin)
    return text[begin + len(key) : end if end >= 0 else None].split()


def terminated(value: bytes) -> bytes:
    """Return a text as a record has it, with a zero behind it."""
    return value.replace(b"\0", b"") + b"\0"
