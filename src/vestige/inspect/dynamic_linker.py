"""What the dynamic linker does with a program, without running it; see ld.so(8)."""

from __future__ import annotations

import os
import sys

from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "CLASS_64",
    "dynamic_linker",
    "needed_libraries",
    "needed_names",
    "number_at",
    "numbers_at",
    "segments",
    "static_tls",
]

LOADED, DYNAMIC = 1, 2
"""``PT_LOAD`` and ``PT_DYNAMIC`` of elf(5)."""
NEEDED, TEXTS = 1, 5
"""``DT_NEEDED`` and ``DT_STRTAB``."""
LONGEST_NAME = 4096
MOST_ENTRIES = 512
"""Of the dynamic section, that are looked at."""

INTERPRETER = 3
"""``PT_INTERP``."""
TLS = 7
"""``PT_TLS``."""
CLASS_64 = b"\2"
"""``ELFCLASS64``."""


def segments(header: bytes) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Yield the segments of a 64-bit object.

    Args:
        header: Its first bytes, with the table of segments.

    Yields:
        Kind, offset, address, size in the file and in memory, and alignment.
    """
    if len(header) < 64 or header[4:5] != CLASS_64:  # noqa: PLR2004 - bytes
        return
    offset, size, count = number_at(header, 32, 8), *numbers_at(header, 54, 2, 2)
    for index in range(count):
        at = offset + index * size
        if at + 56 > len(header):
            return
        kind = number_at(header, at, 4)
        place, address, _, length, memory, alignment = numbers_at(header, at + 8, 8, 6)
        yield kind, place, address, length, memory, alignment


def number_at(data: bytes, at: int, size: int) -> int:
    """Return a number of this machine's byte order.

    Args:
        data: Bytes of an object.
        at: Where it begins in them; 0 is returned for what lies beyond their end.
        size: Its bytes.
    """
    # Each recording does this, and to import ``struct`` takes longer.
    return int.from_bytes(data[at : at + size], sys.byteorder)


def numbers_at(data: bytes, at: int, size: int, count: int) -> list[int]:
    """Return numbers that follow one another.

    Args:
        data: Bytes of an object.
        at: Where the first begins.
        size: The bytes of each.
        count: How many there are.
    """
    return [number_at(data, at + index * size, size) for index in range(count)]


def dynamic_linker(header: bytes) -> str | None:
    """Return the dynamic linker of a program, if it is that of the GNU C library.

    Args:
        header: The first bytes of the program.

    Returns:
        Its path.
    """
    for kind, place, _, length, _, _ in segments(header):
        if kind == INTERPRETER:
            path = os.fsdecode(header[place : place + length].rstrip(b"\0"))
            return path if path.rpartition("/")[2].startswith("ld-linux") else None
    return None


def needed_names(program: str) -> frozenset[str] | None:
    """Return the names of the libraries that an executable itself asks for.

    Args:
        program: Its path.

    Returns:
        The names; ``None`` where they are not found out so simply.
    """
    try:
        with open(program, "rb") as file:
            header = file.read(4096)
            found = segments(header)
            [(at, size)] = [(one[1], one[3]) for one in found if one[0] == DYNAMIC]
            file.seek(at)
            section = file.read(min(size, MOST_ENTRIES * 16))
            entries = numbers_at(section, 0, 8, len(section) // 8)
            pairs = list(zip(entries[::2], entries[1::2], strict=True))
            [texts] = [value for tag, value in pairs if tag == TEXTS]
            names = set()
            for tag, value in pairs:
                if tag == NEEDED:
                    file.seek(_place_of(texts + value, header))
                    names.add(os.fsdecode(file.read(LONGEST_NAME).partition(b"\0")[0]))
    except (OSError, OverflowError, ValueError):
        return None
    return frozenset(names)


def _place_of(address: int, header: bytes) -> int:
    """Return where in the file the byte is that is loaded at an address.

    Raises:
        ValueError: Nothing is.
    """
    for kind, place, start, length, _, _ in segments(header):
        if kind == LOADED and start <= address < start + length:
            return place + address - start
    raise ValueError("nothing is loaded there")


def static_tls(header: bytes) -> int:
    """Return how much thread-local storage an object needs in each thread.

    Args:
        header: Its first bytes.

    Returns:
        Bytes, with what its alignment may add.
    """
    return sum(
        memory + alignment
        for kind, _, _, _, memory, alignment in segments(header)
        if kind == TLS
    )


def needed_libraries(program: str, linker: str | None) -> Iterator[str]:
    """Ask the dynamic linker which libraries it would load; it runs nothing of them.

    Args:
        program: An executable or a library.
        linker: The dynamic linker.

    Yields:
        The paths of the libraries.
    """
    if linker is None:
        return
    plain = {name: value for name, value in os.environ.items() if name != "LD_AUDIT"}
    reading, writing = os.pipe()
    try:
        child = os.posix_spawn(
            linker,
            [linker, "--list", os.path.abspath(program)],
            plain,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, writing, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )
    except OSError:
        os.close(reading)
        return
    finally:
        os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="surrogateescape") as file:
        lines = file.read().splitlines()
    os.waitpid(child, 0)
    for line in lines:
        # What is preloaded stands alone.
        path = line.rpartition(" => ")[2].rpartition(" (")[0].strip()
        if path.startswith("/"):
            yield path
