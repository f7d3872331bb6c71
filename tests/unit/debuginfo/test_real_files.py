"""The finder and the resolver on files that the system's own tools have made."""

from __future__ import annotations

import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from vestige.debuginfo import (
    DebugFileFinder,
    DebugSource,
    Mapping,
    Outcome,
    PlaceText,
    Resolver,
)

TOOLS = ("gcc", "objcopy", "strip", "nm")
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}")

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


def run(*command):
    """Run a tool and return its output."""
    arguments = [str(part) for part in command]
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


class Target:
    """A target's file system with one library, and its debug file kept aside."""

    def __init__(self, root: Path):
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

    def path(self, name):
        """Return the path on this machine of an absolute name on the target."""
        return self.root / name.lstrip("/")

    def strip(self):
        """Strip the library, leaving a debug link in it."""
        run("strip", self.object)
        run("objcopy", f"--add-gnu-debuglink={self.debug}", self.object)

    def install(self, name, padding=b""):
        """Put the debug file, or a changed copy of it, at a place."""
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_bytes(self.debug.read_bytes() + padding)

    def finder(self):
        """Make a finder with the parsers of the Rust core."""
        return DebugFileFinder([self.path("/usr/lib/debug")], [("/", self.root)])

    def mapping(self, **facts):
        """Return the library as a trace describes it."""
        return Mapping(BASE, 0x10000, PATH, is_pic=True, **facts)

    def text(self, mapping):
        """Resolve the fourth byte of the function and write it as text."""
        resolver = Resolver(self.finder())
        return resolver.text(resolver.resolve(mapping, BASE + self.twice + 4))


@pytest.fixture
def target(tmp_path):
    """A target whose library is not stripped yet."""
    return Target(tmp_path)


def used(found):
    """Return the place that the search ended with."""
    return found.attempts[-1].path


def test_an_unstripped_object_is_used_itself(target):
    """Its own debug information comes first."""
    target.install(PLACES[0])

    found = target.finder().find(target.mapping())

    assert found.source is DebugSource.OBJECT
    assert target.text(target.mapping()).src == "twice.c:2"


@pytest.mark.parametrize("first", range(len(PLACES)))
def test_the_first_place_of_the_manual_that_has_the_file_is_used(target, first):
    """GDB's order, with the places before it empty and those after it filled."""
    target.strip()
    for place in PLACES[first:]:
        target.install(place)

    found = target.finder().find(target.mapping())

    assert used(found) == str(target.path(PLACES[first]))
    assert target.text(target.mapping()) == PlaceText(
        f"ls+{target.twice + 4:#x}", "twice+0x4", "twice.c:2"
    )


@pytest.mark.parametrize(("wrong", "right"), list(pairwise(PLACES[1:])))
def test_a_file_with_a_wrong_crc_is_passed_over(target, wrong, right):
    """One byte more makes it another file."""
    target.strip()
    target.install(wrong, padding=b"!")
    target.install(right)

    found = target.finder().find(target.mapping())

    assert used(found) == str(target.path(right))
    outcomes = {attempt.path: attempt.outcome for attempt in found.attempts}
    assert outcomes[str(target.path(wrong))] is Outcome.OTHER_CRC


def test_a_debug_file_under_a_wrong_build_id_is_passed_over(target):
    """The file's own build ID counts, not its name."""
    target.strip()
    target.install("/usr/lib/debug/.build-id/12/34.debug")
    mapping = target.mapping(build_id=b"\x12\x34")

    found = target.finder().find(mapping)

    assert [attempt.outcome for attempt in found.attempts] == [
        Outcome.OTHER_BUILD_ID,
        Outcome.OTHER_BUILD_ID,
    ]
    assert target.text(mapping) == PlaceText("", "", "")


def test_the_debug_file_alone_resolves(target):
    """The library itself is not on this machine."""
    target.install(PLACES[0])
    target.object.unlink()

    text = target.text(target.mapping(build_id=bytes.fromhex(BUILD_ID)))

    assert text == PlaceText(f"ls+{target.twice + 4:#x}", "twice+0x4", "twice.c:2")


def test_a_debug_file_cut_short_is_passed_over(target):
    """It is reported as unusable, and the next place is tried."""
    target.strip()
    target.install(PLACES[0])
    whole = target.path(PLACES[0]).read_bytes()
    target.path(PLACES[0]).write_bytes(whole[: len(whole) // 2])
    target.install(PLACES[1])

    found = target.finder().find(target.mapping())

    assert found.attempts[1].outcome is Outcome.UNUSABLE
    assert used(found) == str(target.path(PLACES[1]))


def test_symbols_alone_give_the_function(target):
    """As after ``strip -g``."""
    run("strip", "-g", target.object)

    assert target.text(target.mapping()) == PlaceText(
        f"ls+{target.twice + 4:#x}", "twice+0x4", ""
    )


def test_an_empty_file_is_unusable(target):
    """As a failed copy leaves it."""
    target.object.write_bytes(b"")

    found = target.finder().find(target.mapping())

    assert found.attempts[0].outcome is Outcome.UNUSABLE
