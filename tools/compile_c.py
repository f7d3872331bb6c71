"""Let the compiler check all C of Vestige: warnings are errors here, and GCC looks for leaks.

A user's build goes on after a warning, since another compiler may have others.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from native_parts import Part, extension, native_parts

ROOT = Path(__file__).resolve().parent.parent
STRICT = ("-Werror", "-Wmissing-prototypes", "-Wstrict-prototypes")
ANALYZER = ("-fanalyzer",)
"""Follows paths through functions: memory that is lost, used after it is freed, or not there."""
OTHER_MACHINES = ("aarch64-linux-gnu-gcc",)
"""Compilers for machines that records are announced on, see ``tracer/stream/announce.h``."""


def compiler() -> list[str]:
    """Return the command that compiles C, and its first options."""
    return shlex.split(os.environ.get("CC", "cc")) or ["cc"]


def has_analyzer(command: list[str]) -> bool:
    """Tell whether the compiler is one that analyzes."""
    done = subprocess.run(
        [*command, *ANALYZER, "-fsyntax-only", "-x", "c", os.devnull],
        capture_output=True,
        check=False,
    )
    return done.returncode == 0


def commands(parts: Iterator[Part], command: list[str]) -> Iterator[list[str]]:
    """Yield the command that checks each source file of some parts.

    What is analyzed is the same for all machines: once will do.
    """
    is_first = command[0] not in OTHER_MACHINES
    extra = ANALYZER if is_first and has_analyzer(command) else ()
    for part in parts:
        flags = [
            flag
            for flag in part.flags
            if flag != "-shared" and not flag.startswith("-Wl,")
        ]
        for source in part.sources:
            yield [
                *command,
                *flags,
                *STRICT,
                *extra,
                "-c",
                str(source),
                "-o",
                os.devnull,
            ]


def all_parts() -> Iterator[Part]:
    """Yield all that is compiled from C."""
    yield from native_parts("0")
    yield extension("0")


def complaints(parts: Iterator[Part], command: list[str]) -> list[str]:
    """Return what a compiler says of the sources of some parts.

    Args:
        parts: What is compiled; paths are below the working directory.
        command: The compiler, and its first options.

    Returns:
        A text for each file of which it says something.
    """

    def check(words: list[str]) -> str:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.stderr

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [text for text in pool.map(check, commands(parts, command)) if text]


def main() -> int:
    """Print what the compiler says; return 1 if that is anything."""
    os.chdir(ROOT)
    told = complaints(all_parts(), compiler())
    for other in OTHER_MACHINES:
        # The extension needs an interpreter's headers for that machine.
        if shutil.which(other):
            told += complaints(native_parts("0"), [other])
    sys.stderr.write("".join(told))
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
