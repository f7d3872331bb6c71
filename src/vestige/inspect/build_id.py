"""The build ID of a program, read at once; see elf(5)."""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from .dynamic_linker import numbers_at, segments

if TYPE_CHECKING:
    from typing import BinaryIO

__all__ = ["build_id_of_notes", "read_build_id"]

NOTE = 4
"""``PT_NOTE``."""
LARGEST_NOTES = 1 << 16
"""Bytes that are looked at."""
OWNER, KIND = b"GNU\0", 3
"""Who names the kinds of notes, and ``NT_GNU_BUILD_ID``."""
NOTE_HEAD = 12


def read_build_id(file: BinaryIO) -> bytes:
    """Return the build ID of a 64-bit object.

    Args:
        file: The object, open for reading; its position is changed.

    Returns:
        The ID; empty where there is none, or it is no such object.
    """
    try:
        header = file.read(4096)
        for kind, place, _, length, _, alignment in segments(header):
            if kind == NOTE:
                file.seek(place)
                notes = file.read(min(length, LARGEST_NOTES))
                found = build_id_of_notes(notes, 8 if alignment == 8 else 4)  # noqa: PLR2004
                if found:
                    return found
    except (OSError, OverflowError, ValueError):
        pass
    return b""


def build_id_of_notes(notes: bytes, alignment: int = 4) -> bytes:
    """Return the build ID among notes.

    Args:
        notes: The bytes of a section or segment of notes.
        alignment: The bytes that names and contents are aligned to.

    Returns:
        The ID; empty where there is none.

    Raises:
        ValueError: A note goes on behind the end.
    """
    at = 0
    while at + NOTE_HEAD <= len(notes):
        name, size, kind = numbers_at(notes, at, 4, 3)
        start = at + NOTE_HEAD
        content = start + -(-name // alignment) * alignment
        if kind == KIND and notes[start : start + name] == OWNER:
            return notes[content : content + size]
        at = content + -(-size // alignment) * alignment
    return b""
