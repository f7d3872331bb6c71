"""The names of a program's sections, read at once; see elf(5)."""

from __future__ import annotations

from .dynamic_linker import CLASS_64

__all__ = ["section_names"]

LARGEST_NAMES = 1 << 20
"""Bytes; programs have some hundred."""
SECTION_BYTES = 64
"""Of the header of a section."""


def section_names(path: str) -> frozenset[bytes]:
    """Return the names of the sections of a 64-bit program.

    Args:
        path: The program.

    Returns:
        The names; none where it cannot be read, or is no such program.
    """
    try:
        with open(path, "rb") as file:
            header = file.read(64)
            if header[:5] != b"\x7fELF" + CLASS_64:
                return frozenset()
            place, index = _number(header, 40, 8), _number(header, 62, 2)
            file.seek(place + index * SECTION_BYTES)
            section = file.read(SECTION_BYTES)
            file.seek(_number(section, 24, 8))
            names = file.read(min(_number(section, 32, 8), LARGEST_NAMES))
    except (OSError, OverflowError, ValueError):
        return frozenset()
    return frozenset(names.split(b"\0"))


def _number(data: bytes, at: int, size: int) -> int:
    # Each recording does this, and to import ``struct`` takes longer.
    return int.from_bytes(data[at : at + size], "little")
