"""Files of ``/proc`` and ``/sys``, which may be gone at any time."""

from __future__ import annotations

import os

__all__ = ["read_file", "read_small", "terminated", "words_after"]

_AT_ONCE = 1 << 16


def read_file(path: str) -> bytes:
    """Return what a file holds.

    Args:
        path: Its path.

    Raises:
        OSError: It is gone, or it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(descriptor, _AT_ONCE):
            parts.append(part)
    finally:
        os.close(descriptor)
    return b"".join(parts)


def read_small(path: str) -> bytes:
    """Return what a file holds that the kernel makes in one go.

    Args:
        path: Its path.

    Raises:
        OSError: It is gone, or it cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _AT_ONCE)
    finally:
        os.close(descriptor)


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
