"""The GDB manual's example with real files: a stripped library and its debug file."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from vestige.debuginfo import DebugFileFinder, Mapping, PlaceText, Resolver
from vestige.units import Address

TOOLS = ("gcc", "objcopy", "strip", "nm")
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]

SOURCE = """\
int twice(int value)
{
    return value * 2;
}
"""
BUILD_ID = "abcdef1234"
PATH = "/usr/bin/ls"
PLACES = (
    "/usr/lib/debug/.build-id/ab/cdef1234.debug",
    "/usr/bin/ls.debug",
    "/usr/bin/.debug/ls.debug",
    "/usr/lib/debug/usr/bin/ls.debug",
)
BASE = 0x7F0000000000


def run(*command: str | Path) -> str:
    """Run a tool and return its output."""
    arguments = [str(part) for part in command]
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


class Target:
    """A target's file system with one library, and its debug file kept aside."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.object = self.path(PATH)
        self.debug = root / "ls.debug"
        self.object.parent.mkdir(parents=True)
        source = root / "twice.c"
        source.write_text(SOURCE)
        options = ("-g", "-shared", "-fPIC", f"-Wl,--build-id=0x{BUILD_ID}")
        run("gcc", *options, source, "-o", self.object)
        run("objcopy", "--only-keep-debug", self.object, self.debug)
        symbols = run("nm", self.object).splitlines()
        self.twice = next(int(s.split()[0], 16) for s in symbols if "T twice" in s)

    def path(self, name: str) -> Path:
        """Return the path on this machine of an absolute name on the target."""
        return self.root / name.lstrip("/")

    def strip(self) -> None:
        """Strip the library, leaving a debug link in it."""
        run("strip", self.object)
        run("objcopy", f"--add-gnu-debuglink={self.debug}", self.object)

    def install(self, name: str, padding: bytes = b"") -> None:
        """Put the debug file, or a changed copy of it, at a place."""
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_bytes(self.debug.read_bytes() + padding)

    def finder(self, *directories: str) -> DebugFileFinder:
        """Make a finder with the parsers of the Rust core."""
        names = directories or ("/usr/lib/debug",)
        return DebugFileFinder([self.path(name) for name in names], [("/", self.root)])

    def mapping(self, **facts: Any) -> Mapping:
        """Return the library as a trace describes it."""
        return Mapping(Address(BASE), 0x10000, PATH, is_pic=True, **facts)

    def text(self, mapping: Mapping) -> PlaceText:
        """Resolve the fourth byte of the function and write it as text."""
        resolver = Resolver(self.finder())
        return resolver.text(resolver.resolve(mapping, Address(BASE + self.twice + 4)))
