"""Whether a compiler has left places at the entries of a program's functions."""

from __future__ import annotations

import os

from .dynamic_linker import CLASS_64, number_at
from .programs import find_program, interpreter_of_script

__all__ = ["executable_of", "has_sites"]

SITES = frozenset({b"__patchable_function_entries", b"__mcount_loc"})
"""Sections with the places, as ``-fpatchable-function-entry`` makes them."""
LARGEST_NAMES = 1 << 20
"""Bytes of the names of all sections; programs have some hundred."""
SECTION_BYTES = 64
"""Of the header of a section, see elf(5)."""


def executable_of(program: str) -> str | None:
    """Find the ELF file that runs.

    Args:
        program: The name or path of a program, or of a script.

    Returns:
        Its path; ``None`` when there is none, or it cannot be read.
    """
    path = find_program(program, os.environ.get("PATH"))
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            start = file.read(256)
    except OSError:
        return None
    return interpreter_of_script(start) or path


def has_sites(program: str) -> bool:
    """Tell whether a program has such places.

    Args:
        program: Its name or path.

    Returns:
        Whether it has sections for them; not where it cannot be read.
    """
    path = executable_of(program)
    return path is not None and not SITES.isdisjoint(_section_names(path))


def _section_names(path: str) -> list[bytes]:
    """Return the names of the sections of a 64-bit program, all at once."""
    try:
        with open(path, "rb") as file:
            header = file.read(64)
            if header[:5] != b"\x7fELF" + CLASS_64:
                return []
            place, index = number_at(header, 40, 8), number_at(header, 62, 2)
            file.seek(place + index * SECTION_BYTES)
            section = file.read(SECTION_BYTES)
            file.seek(number_at(section, 24, 8))
            names = file.read(min(number_at(section, 32, 8), LARGEST_NAMES))
    except (OSError, OverflowError, ValueError):
        return []
    return names.split(b"\0")
