"""What the dynamic linker does with a program, without running it; see ld.so(8)."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

__all__ = ["CLASS_64", "dynamic_linker", "needed_libraries", "static_tls"]

INTERPRETER = 3
"""``PT_INTERP`` of elf(5)."""
TLS = 7
"""``PT_TLS``."""
CLASS_64 = b"\2"
"""``ELFCLASS64``."""


def _segments(header: bytes) -> Iterator[tuple[int, int, int, int, int]]:
    """Return kind, offset, size in the file and in memory, and alignment."""
    if len(header) < 64 or header[4:5] != CLASS_64:  # noqa: PLR2004 - bytes
        return
    offset = struct.unpack_from("=Q", header, 32)[0]
    size, count = struct.unpack_from("=HH", header, 54)
    for index in range(count):
        at = offset + index * size
        if at + 56 > len(header):
            return
        kind, _, place, _, _, length, memory, alignment = struct.unpack_from(
            "=IIQQQQQQ", header, at
        )
        yield kind, place, length, memory, alignment


def dynamic_linker(header: bytes) -> str | None:
    """Return the dynamic linker of a program, if it is that of the GNU C library.

    Args:
        header: The first bytes of the program.

    Returns:
        Its path.
    """
    for kind, place, length, _, _ in _segments(header):
        if kind == INTERPRETER:
            path = os.fsdecode(header[place : place + length].rstrip(b"\0"))
            return path if path.rpartition("/")[2].startswith("ld-linux") else None
    return None


def static_tls(header: bytes) -> int:
    """Return how much thread-local storage an object needs in each thread.

    Args:
        header: Its first bytes.

    Returns:
        Bytes, with what its alignment may add.
    """
    return sum(
        memory + alignment
        for kind, _, _, memory, alignment in _segments(header)
        if kind == TLS
    )


def needed_libraries(program: Path, linker: str | None) -> Iterator[str]:
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
            [linker, "--list", os.fspath(program.absolute())],
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
