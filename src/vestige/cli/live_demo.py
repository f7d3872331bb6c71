"""The program of the demo that is compiled and recorded on the spot."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from .._typing import NamedTuple
from ..errors import CommandError

__all__ = ["LiveDemo", "compile_demo", "compiler"]

SOURCES = Path(__file__).resolve().parents[1] / "demo" / "live"
"""Where the package keeps the program, its library and its plugin."""
COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-g", "-O1", "-finstrument-functions", "-fPIC")
STEPS = (
    ("-shared", "-o", "libpricing.so", "pricing.c"),
    ("-shared", "-o", "libdiscount.so", "discount.c"),
    (
        *("-o", "shop", "shop.c", "-L.", "-lpricing"),
        *("-Wl,-rpath,$ORIGIN", "-ldl"),
    ),
)
"""Arguments of the compiler, for each of the three objects."""
SECONDS = 60.0
"""No step takes so long."""


class LiveDemo(NamedTuple):
    """A program that has just been compiled."""

    program: Path
    """The program."""
    commands: list[str]
    """The command lines that made it, without their directory."""


def compiler() -> list[str] | None:
    """Return the C compiler: ``$CC``, or the first that is installed."""
    words = shlex.split(os.environ.get("CC", ""))
    if words and shutil.which(words[0]):
        return words
    found = (shutil.which(name) for name in COMPILERS)
    return next(([path] for path in found if path), None)


def compile_demo(directory: Path) -> LiveDemo:
    """Compile the program, its library and its plugin.

    Args:
        directory: Where sources and objects are to be.

    Returns:
        What was made.

    Raises:
        CommandError: There is no compiler, or it failed.
    """
    command = compiler()
    if command is None:
        raise CommandError("no C compiler (cc, gcc or clang) is installed")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for source in SOURCES.iterdir():
            shutil.copyfile(source, directory / source.name)
    except OSError as error:
        raise CommandError(f"{directory}: {error.strerror}") from error
    commands = []
    for step in STEPS:
        words = [*command, *FLAGS, *step]
        _run(words, directory)
        commands.append(shlex.join([Path(words[0]).name, *words[1:]]))
    return LiveDemo(directory / "shop", commands)


def _run(words: list[str], directory: Path) -> None:
    """Run the compiler."""
    try:
        done = subprocess.run(
            words,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CommandError(f"{words[0]}: {error}") from error
    if done.returncode:
        last = (done.stdout.strip() or "no message").splitlines()[-1]
        raise CommandError(f"{shlex.join(words)}: status {done.returncode}: {last}")
