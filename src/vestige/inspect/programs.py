"""Finding the program that a name means, what runs a script, and bytes in files."""

from __future__ import annotations

import os

__all__ = ["find_program", "has_bytes", "interpreter_of_script"]

BLOCK = 1 << 16
"""Bytes of a file that are read at once."""


def find_program(name: str, search_path: str | None) -> str | None:
    """Find a program as ``execvp(3)`` does.

    Args:
        name: Its name or path.
        search_path: The value of ``PATH``.

    Returns:
        Its path; ``None`` when there is none.
    """
    if "/" in name:
        return name
    directories = (search_path or os.defpath).split(os.pathsep)
    for directory in directories:
        path = os.path.join(directory or ".", name)
        # Directories that may not be searched are passed over.
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def interpreter_of_script(start: bytes) -> str | None:
    """Return what runs a script; see execve(2).

    Args:
        start: Its first bytes.

    Returns:
        The path of the program, for ``env`` of what that starts; ``None`` when it is no
        script.
    """
    if not start.startswith(b"#!"):
        return None
    words = start[2:].partition(b"\n")[0].split()
    if not words:
        return None
    path = os.fsdecode(words[0])
    if os.path.basename(path) == "env" and len(words) > 1:
        return find_program(os.fsdecode(words[-1]), os.environ.get("PATH")) or path
    return path


def has_bytes(path: str, mark: bytes) -> bool:
    """Tell whether some bytes are in a file.

    Args:
        path: The file.
        mark: The bytes, fewer than 64 KiB.

    Returns:
        Whether they are there, in one piece.

    Raises:
        OSError: The file cannot be read.
    """
    end = b""
    with open(path, "rb", buffering=0) as file:
        while block := file.read(BLOCK):
            if mark in end + block:
                return True
            end = block[1 - len(mark) :]
    return False
