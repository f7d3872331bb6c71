"""Fitting the environment of a recording to its program, which runs as without it."""

from __future__ import annotations

import os

from ....inspect.dynamic_linker import (
    CLASS_64,
    dynamic_linker,
    needed_libraries,
    needed_names,
    static_tls,
)
from ....inspect.programs import find_program

__all__ = ["fit_environment"]

SANITIZER = "ASAN_OPTIONS"
TUNABLES = "GLIBC_TUNABLES"
STATIC_TLS = "glibc.rtld.optional_static_tls"
FREE_STATIC_TLS = 512
"""What there is by default; see "Dynamic Linking Tunables" in glibc's manual."""
USUAL_STATIC_TLS = 4096
"""Enough for the allocators of programs that this one starts. It takes room from the
stacks of threads, which may have 16 KB."""
MOST_STATIC_TLS = 16 << 20
OURS = ("LD_AUDIT", "LD_PRELOAD")
SMALL = frozenset(
    {
        "ld-linux-x86-64.so.2",
        "libc.so.6",
        "libdl.so.2",
        "libgcc_s.so.1",
        "libm.so.6",
        "libpthread.so.0",
        "librt.so.1",
        "libstdc++.so.6",
    }
)
"""Libraries that all together need less than there is by default."""


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
    if path is not None and is_elf and not _needs_little(path):
        libraries = needed_libraries(path, dynamic_linker(header))
        needed = sum(static_tls(_read(library, 4096)) for library in libraries)
    wanted = max(USUAL_STATIC_TLS, needed + FREE_STATIC_TLS)
    _append(environment, TUNABLES, f"{STATIC_TLS}={min(wanted, MOST_STATIC_TLS)}")


def _needs_little(program: str) -> bool:
    """Tell whether a program has no libraries but those of compilers.

    Most small ones do not, and to ask the dynamic linker takes as long as they run.
    """
    names = needed_names(program)
    return names is not None and names <= SMALL and "LD_PRELOAD" not in os.environ


def _append(environment: dict[str, str], variable: str, setting: str) -> None:
    before = environment.get(variable)
    name = setting.partition("=")[0]
    if before and name in before:
        return
    environment[variable] = f"{before}:{setting}" if before else setting


def _read(path: str, size: int) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except OSError:
        return b""
