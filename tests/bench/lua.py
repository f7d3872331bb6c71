"""A real program to record: Lua, from Debian's source package, with all functions instrumented or none."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.traces import OUTPUT

PACKAGE = "lua5.4"
MAINS = frozenset({"lua.c", "luac.c"})
FLAGS = ("-O2", "-g", "-DLUA_USE_POSIX")
HOOKS = ("-finstrument-functions",)
SECONDS = 300.0

SOURCES = """\
Types: deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""


class SourceError(Exception):
    """The source package cannot be had or built."""


def build_lua(*, has_hooks: bool = True) -> Path:
    """Return the program that runs scripts; it is made unless it is there.

    Args:
        has_hooks: Whether its functions call a recorder.

    Raises:
        SourceError: The sources cannot be fetched or compiled.
    """
    program = OUTPUT / ("timed-lua" if has_hooks else "plain-lua")
    driver = Path(__file__).resolve().parent / "timed_lua.c"
    if program.exists() and program.stat().st_mtime > driver.stat().st_mtime:
        return program
    folder = _sources()
    units = sorted(path for path in folder.glob("*.c") if path.name not in MAINS)
    partial = program.with_suffix(".part")
    files = ["-o", str(partial), str(driver), *map(str, units)]
    flags = (*FLAGS, *HOOKS) if has_hooks else FLAGS
    _run(["gcc", *flags, f"-I{folder}", *files, "-lm", "-ldl", "-Wl,-E"])
    partial.replace(program)
    return program


def _sources() -> Path:
    """Return the folder with the sources of Lua."""
    folder = OUTPUT / PACKAGE
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=OUTPUT) as name:
            with tarfile.open(_download(Path(name))) as archive:
                archive.extractall(Path(name) / "unpacked", filter="data")
            [top] = (Path(name) / "unpacked").iterdir()
            shutil.move(top, folder)
    return folder / "src"


def _download(directory: Path) -> Path:
    """Fetch the source package with apt, which checks it, and without its own settings."""
    if shutil.which("apt-get") is None:
        raise SourceError("apt-get is not installed: no source package")
    listing = directory / "debian.sources"
    listing.write_text(SOURCES)
    for name in ("lists", "archives"):
        (directory / name / "partial").mkdir(parents=True)
    settings = {
        "Dir::Etc::SourceList": listing,
        "Dir::Etc::SourceParts": os.devnull,
        "Dir::State::Lists": directory / "lists",
        "Dir::Cache": directory,
        "APT::Sandbox::User": "root",
    }
    options = [f"-o{name}={value}" for name, value in settings.items()]
    _run(["apt-get", "-qq", *options, "update"], directory)
    _run(["apt-get", "-qq", *options, "source", "--download-only", PACKAGE], directory)
    return next(directory.glob("*.orig.tar.*"))


def _run(command: Sequence[str], directory: Path | None = None) -> None:
    try:
        subprocess.run(
            command, cwd=directory, check=True, capture_output=True, timeout=SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SourceError(f"{command[0]}: {error}") from error
