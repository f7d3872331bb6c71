"""Fitting the environment of a recording to its program, which runs as without it."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

from .program_file import find_program

__all__ = ["dynamic_linker", "fit_environment", "needed_libraries"]

SANITIZER = "ASAN_OPTIONS"
TUNABLES = "GLIBC_TUNABLES"
STATIC_TLS = "glibc.rtld.optional_static_tls"
FREE_STATIC_TLS = 512
"""What there is by default; see "Dynamic Linking Tunables" in glibc's manual."""
USUAL_STATIC_TLS = 4096
"""Enough for the allocators of programs that this one starts. It takes room from the
stacks of threads, which may have 16 KB."""
MOST_STATIC_TLS = 16 << 20
INTERPRETER = 3
"""``PT_INTERP`` of elf(5)."""
TLS = 7
"""``PT_TLS``."""
CLASS_64 = b"\2"
OURS = ("LD_AUDIT", "LD_PRELOAD")


def fit_environment(environment: dict[str, str], program: str) -> None:
    """Change what the tracer's variables would otherwise change in the program.

    - AddressSanitizer refuses to be loaded after another library: an option stops that.
    - An auditing library makes the C library lay out thread-local storage before it
      knows the program's libraries: a setting says how much they need.
    - The dynamic linker of a 32-bit program complains of libraries for 64 bits: the
      program gets none.

    Args:
        environment: Of the program; it is changed.
        program: Its name or path.
    """
    _append(environment, SANITIZER, "verify_asan_link_order=0")
    path = find_program(program, environment.get("PATH"))
    header = b"" if path is None else _read(path, 4096)
    is_elf = header.startswith(b"\x7fELF")
    if is_elf and header[4:5] != CLASS_64:
        for variable in OURS:
            environment.pop(variable, None)
        return
    if "LD_AUDIT" not in environment:
        return
    needed = 0
    if path is not None and is_elf:
        libraries = needed_libraries(path, dynamic_linker(header))
        needed = sum(_static_tls(_read(Path(library), 4096)) for library in libraries)
    wanted = max(USUAL_STATIC_TLS, needed + FREE_STATIC_TLS)
    _append(environment, TUNABLES, f"{STATIC_TLS}={min(wanted, MOST_STATIC_TLS)}")


def _append(environment: dict[str, str], variable: str, setting: str) -> None:
    before = environment.get(variable)
    name = setting.partition("=")[0]
    if before and name in before:
        return
    environment[variable] = f"{before}:{setting}" if before else setting


def _read(path: Path, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


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


def _static_tls(header: bytes) -> int:
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
