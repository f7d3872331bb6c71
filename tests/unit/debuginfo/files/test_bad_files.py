"""What may lie at the path of an object or a debug file instead of one.

Each is reported with its reason, and the other objects of a process still resolve.
"""

from __future__ import annotations

import os
import shutil
import socket
import struct
import warnings

import pytest

from support.separate_debug_files import BASE, MISSING, PATH, PLACES, Target
from vestige.debuginfo import (
    DebugFileFinder,
    DebugInfoOptions,
    DebugSource,
    Mapping,
    Outcome,
    Place,
    Reason,
    Resolver,
    SymbolTable,
    find,
)

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}")

OTHER = "/usr/lib/libother.so"
OTHER_BASE = BASE + 0x100000


@pytest.fixture
def target(tmp_path):
    """A program and, next to it, another object that is intact."""
    target = Target(tmp_path)
    target.path(OTHER).parent.mkdir(parents=True)
    shutil.copy(target.object, target.path(OTHER))
    return target


def fifo(path):
    """Put a FIFO that nobody writes to."""
    os.mkfifo(path)


def listening_socket(path):
    """Put a socket; its name may be longer than the system allows."""
    here = os.getcwd()  # noqa: PTH109
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def link_to_itself(path):
    """Put a symbolic link that leads to itself."""
    path.symlink_to(path.name)


def dangling_link(path):
    """Put a symbolic link that leads nowhere."""
    path.symlink_to("gone")


def empty(path):
    """Put a file of 0 bytes."""
    path.touch()


def text(path):
    """Put a file that is no object."""
    path.write_text("#!/bin/sh\n")


def head(path):
    """Put the first bytes of an object."""
    path.write_bytes(b"\x7fELF\2\1\1")


def hole(path):
    """Put an object whose debug information is a hole of 4 TiB."""
    size = 1 << 42
    names = b"\0.debug_info\0"
    header = struct.pack(
        "<16sHHIQQQIHHHHHH",
        *(b"\x7fELF\2\1\1", 3, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64, 3, 1),
    )
    section = struct.Struct("<IIQQQQIIQQ")
    sections = [
        section.pack(*[0] * 10),
        section.pack(0, 3, 0, 0, 256, len(names), 0, 0, 1, 0),
        section.pack(1, 1, 0, 0, 4096, size, 0, 0, 1, 0),
    ]
    path.write_bytes(header + b"".join(sections) + names)
    os.truncate(path, 4096 + size)


BAD = {
    fifo: Outcome.NOT_A_FILE,
    listening_socket: Outcome.NOT_A_FILE,
    lambda path: path.mkdir(): Outcome.NOT_A_FILE,
    lambda path: path.symlink_to("/dev/zero"): Outcome.NOT_A_FILE,
    link_to_itself: Outcome.UNREADABLE,
    dangling_link: Outcome.MISSING,
    empty: Outcome.UNUSABLE,
    text: Outcome.UNUSABLE,
    head: Outcome.UNUSABLE,
}


def resolve_both(target, **facts):
    """Resolve an address of the program, and one of the other object."""
    resolver = Resolver(target.finder())
    ours = target.mapping(**facts)
    other = Mapping(OTHER_BASE, 0x10000, OTHER, is_pic=True)
    return resolver.resolve_many(
        [
            (ours, BASE + target.twice + 4),
            (other, OTHER_BASE + target.twice + 4),
        ]
    )


@pytest.mark.parametrize("place", [PATH, PLACES[2]])
def test_debug_information_in_a_hole_takes_no_memory_and_no_time(target, place):
    """A file may be as long as it likes without a byte on its disk."""
    if place != PATH:
        target.strip()
    path = target.path(place)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    hole(path)

    found = target.finder().find(target.mapping())
    ours, other = resolve_both(target)

    tried = {one.path: one for one in found.attempts}
    assert tried[str(path)].outcome in (Outcome.UNUSABLE, Outcome.UNREADABLE)
    assert ours.line is None
    assert other.line == 2


@pytest.mark.parametrize(("make", "outcome"), BAD.items())
def test_a_bad_object_is_reported_and_others_resolve(target, make, outcome):
    """Nothing waits, and nothing is raised."""
    target.object.unlink()
    make(target.object)

    found = target.finder().find(target.mapping())
    ours, other = resolve_both(target)

    assert found.object_refusal.outcome is outcome
    assert ours.function is None
    assert ours.shortfall.reason in (Reason.UNUSABLE_FILE, Reason.FILE_MISSING)
    assert PATH in ours.shortfall.detail
    assert (other.function, other.line) == ("twice", 2)


@pytest.mark.parametrize(("make", "outcome"), BAD.items())
@pytest.mark.parametrize("place", [PLACES[0], PLACES[2]])
def test_a_bad_debug_file_is_passed_over(target, make, outcome, place):
    """The next place has the right one."""
    target.strip()
    target.path(place).parent.mkdir(parents=True, exist_ok=True)
    make(target.path(place))
    target.install(PLACES[3])

    found = target.finder().find(target.mapping())

    outcomes = {attempt.path: attempt.outcome for attempt in found.attempts}
    assert outcomes[str(target.path(place))] is outcome
    assert found.attempts[-1].path == str(target.path(PLACES[3]))
    assert found.source is DebugSource.DEBUG_LINK


def test_a_loop_of_debug_directories_ends(target):
    """``/usr/lib/debug`` and its ``.build-id`` lead to themselves."""
    target.strip()
    debug = target.path("/usr/lib/debug")
    debug.symlink_to("debug")
    target.path("/b").mkdir()
    target.path("/b/.build-id").symlink_to("../b/.build-id")
    target.install("/c/usr/bin/ls.debug")

    found = target.finder("/usr/lib/debug", "/b", "/c").find(target.mapping())

    loops = [a for a in found.attempts if a.outcome is Outcome.UNREADABLE]
    assert [attempt.detail for attempt in loops] == (
        ["Too many levels of symbolic links"] * len(loops)
    )
    assert len(loops) >= 3
    assert found.attempts[-1].outcome is Outcome.USED


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("locked", ["file", "directory"])
def test_what_may_not_be_read_is_reported(target, tmp_path, locked):
    """Checked as another user, since everything is open to the superuser."""
    path = target.object if locked == "file" else target.object.parent
    path.chmod(0)
    for directory in (tmp_path, *tmp_path.parents[:2]):
        directory.chmod(0o755)

    refusal = _as_nobody(lambda: target.finder().find(target.mapping()).object_refusal)
    path.chmod(0o755)

    outcome, reason = refusal
    assert outcome in ("UNREADABLE", "UNUSABLE")
    assert "ermission denied" in reason


def _as_nobody(ask):
    # Root opens everything: ask in a child that has given up its rights.
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # The pool of the core may have threads; the child uses none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            refusal = ask()
            os.write(writing, f"{refusal.outcome.name}|{refusal.reason}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as answer:
        return answer.read().split("|", 1)


@pytest.mark.parametrize(
    "name", ["a\nb", "a\x1b[31mb", "é", os.fsdecode(b"a\xffb"), " ", "a:b=c", "-g"]
)
def test_names_may_hold_any_bytes(target, name):
    """A log has one line for each attempt all the same."""
    odd = target.object.with_name(name)
    target.object.rename(odd)

    found = find(odd, options=DebugInfoOptions(debug_directories=()))
    table = SymbolTable.open(odd, DebugInfoOptions(debug_directories=()))

    assert found.source is DebugSource.OBJECT
    assert table.lookup([target.twice + 4])[0].line == 2
    assert len(str(found.attempts[0]).splitlines()) == 1
    assert str(found.attempts[0]).isprintable()


def test_a_name_longer_than_any_file_is_reported(target):
    """The system says so."""
    mapping = Mapping(BASE, 0x1000, f"/{'a' * 5000}", is_pic=True)

    assert target.finder().find(mapping).object_refusal.outcome is Outcome.UNREADABLE


def test_a_build_id_longer_than_any_file_name_is_reported(target):
    """It comes from the trace."""
    found = target.finder().find(target.mapping(build_id=bytes(4000)))

    tried = [one for one in found.attempts if one.kind.name == "BUILD_ID"]
    assert [one.outcome for one in tried] == [Outcome.UNREADABLE]


def test_a_file_that_is_replaced_while_open_still_answers(target):
    """The old contents are read to the end, as they were identified."""
    finder = DebugFileFinder([], [("/", target.root)])
    found = finder.find(target.mapping())
    target.object.with_suffix(".new").write_text("another file")
    target.object.with_suffix(".new").rename(target.object)

    place = Resolver(finder).resolve(target.mapping(), BASE + target.twice + 4)

    assert found.source is DebugSource.OBJECT
    assert (place.function, place.line) == ("twice", 2)


@pytest.mark.parametrize("kept", [0, 10, 64, 2000])
def test_a_file_that_is_cut_while_open_is_reported(target, kept):
    """Reading ends with an error, never with a signal."""
    finder = DebugFileFinder([], [("/", target.root)])
    finder.find(target.mapping())
    os.truncate(target.object, kept)

    resolver = Resolver(finder)
    ours = resolver.resolve(target.mapping(), BASE + target.twice + 4)
    other = resolver.resolve(
        Mapping(OTHER_BASE, 0x10000, OTHER, is_pic=True), OTHER_BASE + target.twice + 4
    )

    assert isinstance(ours, Place)
    assert ours.function is None or ours.function == "twice"
    assert ours.function == "twice" or ours.shortfall is not None
    assert other.line == 2
