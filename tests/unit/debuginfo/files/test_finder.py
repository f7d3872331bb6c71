"""Which files are found for an object, in which order, and what is refused."""

from __future__ import annotations

import os

import pytest

from vestige.debuginfo import DebugSource, Mapping, Outcome

BUILD_ID = bytes.fromhex("abcdef1234")
OTHER_ID = bytes.fromhex("1234abcdef")
PATH = "/usr/bin/ls"
BY_BUILD_ID = "/usr/lib/debug/.build-id/ab/cdef1234.debug"
BY_LINK = (
    "/usr/bin/ls.debug",
    "/usr/bin/.debug/ls.debug",
    "/usr/lib/debug/usr/bin/ls.debug",
)


def ls(**facts):
    """Return the mapping of the GDB manual's example."""
    return Mapping(0x1000, 0x1000, PATH, is_pic=True, **facts)


def link_to(debug):
    """Return the debug link that fits a fake debug file."""
    return ("ls.debug", debug.crc)


def test_an_object_with_dwarf_needs_no_other_file(disk):
    """It comes first, also when debug files lie in all other places."""
    main = disk.add(PATH, build_id=BUILD_ID, has_dwarf=True)
    disk.add(BY_BUILD_ID, build_id=BUILD_ID, has_dwarf=True)

    found = disk.finder().find(ls(build_id=BUILD_ID))

    assert (found.object, found.debug, found.source) == (
        main,
        main,
        DebugSource.OBJECT,
    )
    assert disk.tried(found) == [(PATH, "USED")]


def test_all_places_are_tried_in_the_order_of_the_manual(disk):
    """GDB's example, with nothing but the stripped object on the disk."""
    disk.add(PATH, build_id=BUILD_ID)

    found = disk.finder().find(ls(build_id=BUILD_ID, debug_link=("ls.debug", 1)))

    below = f"/usr/lib/debug{disk.root}/usr/bin/ls.debug"
    assert found.source is DebugSource.SYMBOLS_ONLY
    assert disk.tried(found) == [
        (PATH, "NO_DWARF"),
        (BY_BUILD_ID, "MISSING"),
        *((place, "MISSING") for place in (*BY_LINK, below)),
    ]


@pytest.mark.parametrize("first", range(4))
def test_an_earlier_place_wins(disk, first):
    """Each place of the example is used when those before it are empty."""
    disk.add(PATH, build_id=BUILD_ID)
    places = (BY_BUILD_ID, *BY_LINK)[first:]
    files = [disk.write(place, b"object") for place in places]
    debug = disk.add(places[0], build_id=BUILD_ID, has_dwarf=True)
    for file in files:
        file.write_bytes(files[0].read_bytes())

    found = disk.finder().find(ls(build_id=BUILD_ID, debug_link=link_to(debug)))

    assert found.debug is debug
    assert disk.tried(found)[-1] == (places[0], "USED")
    assert found.source is (DebugSource.DEBUG_LINK if first else DebugSource.BUILD_ID)


def test_build_id_and_link_of_the_object_are_used_when_the_trace_has_none(disk):
    """As GDB does: the stripped object names its debug files."""
    disk.add(PATH, build_id=BUILD_ID, debug_link=(b"ls.debug", 1))

    tried = [name for name, _ in disk.tried(disk.finder().find(ls()))]

    assert tried[1:3] == [BY_BUILD_ID, BY_LINK[0]]


def test_each_debug_directory_is_searched(disk):
    """In their order."""
    disk.add(PATH, build_id=BUILD_ID)
    debug = disk.add(
        "/b/.build-id/ab/cdef1234.debug", build_id=BUILD_ID, has_dwarf=True
    )

    found = disk.finder("/a", "/b").find(ls(build_id=BUILD_ID))

    assert found.debug is debug
    assert disk.tried(found)[1:] == [
        ("/a/.build-id/ab/cdef1234.debug", "MISSING"),
        ("/b/.build-id/ab/cdef1234.debug", "USED"),
    ]


def test_a_wrong_crc_goes_on_searching(disk):
    """A file of another build in an earlier place does not hide the right one."""
    disk.add(PATH)
    disk.add(BY_LINK[0], has_dwarf=True)
    right = disk.add(BY_LINK[2], has_dwarf=True)

    found = disk.finder().find(ls(debug_link=link_to(right)))

    assert found.debug is right
    assert disk.tried(found)[1:] == [
        (BY_LINK[0], "OTHER_CRC"),
        (BY_LINK[1], "MISSING"),
        (BY_LINK[2], "USED"),
    ]
    assert f"instead of {right.crc:08x}" in found.attempts[1].detail


def test_a_debug_file_of_a_loose_object_must_have_its_sections(disk):
    """Addresses in it are those of sections, which both must have in one order."""
    sections = [(".text", 0x100000, 64), (".init.text", 0x100080, 8)]
    loose = {"is_relocatable": True, "build_id": BUILD_ID}
    disk.add(PATH, **loose, code_sections=sections)
    disk.add(BY_BUILD_ID, **loose, has_dwarf=True, code_sections=sections[::-1])

    found = disk.finder().find(ls(build_id=BUILD_ID))

    assert found.source is DebugSource.SYMBOLS_ONLY
    assert disk.tried(found) == [(PATH, "NO_DWARF"), (BY_BUILD_ID, "OTHER_CONTENTS")]


def test_a_debug_file_found_by_build_id_must_carry_it(disk):
    """The search goes on after one that does not."""
    disk.add(PATH, build_id=BUILD_ID)
    disk.add(BY_BUILD_ID, build_id=OTHER_ID, has_dwarf=True)
    linked = disk.add(BY_LINK[0], has_dwarf=True)

    found = disk.finder().find(ls(build_id=BUILD_ID, debug_link=link_to(linked)))

    assert (found.debug, found.source) == (linked, DebugSource.DEBUG_LINK)
    assert disk.tried(found)[1] == (BY_BUILD_ID, "OTHER_BUILD_ID")


def test_a_linked_debug_file_of_another_build_is_refused(disk):
    """A CRC alone does not outweigh a different build ID."""
    main = disk.add(PATH, build_id=BUILD_ID)
    linked = disk.add(BY_LINK[0], build_id=OTHER_ID, has_dwarf=True)

    found = disk.finder().find(ls(build_id=BUILD_ID, debug_link=link_to(linked)))

    assert found.debug is main
    assert (BY_LINK[0], "OTHER_BUILD_ID") in disk.tried(found)


@pytest.mark.parametrize("build_id", [OTHER_ID, None, BUILD_ID[:2]])
def test_an_object_of_another_build_is_not_used_at_all(disk, build_id):
    """Neither its symbols nor its debug link; a file without build ID counts too."""
    disk.add(
        PATH,
        build_id=build_id,
        has_dwarf=True,
        has_symbols=True,
        debug_link=(b"ls.debug", 1),
    )

    found = disk.finder().find(ls(build_id=BUILD_ID))

    assert (found.object, found.debug) == (None, None)
    assert found.is_other_file
    assert disk.tried(found) == [(PATH, "OTHER_BUILD_ID"), (BY_BUILD_ID, "MISSING")]


def test_a_debug_file_is_found_without_the_object(disk):
    """To read a trace on another machine its debug files are enough."""
    debug = disk.add(BY_BUILD_ID, build_id=BUILD_ID, has_dwarf=True)

    found = disk.finder().find(ls(build_id=BUILD_ID))

    assert (found.object, found.debug) == (None, debug)
    assert found.object_refusal.outcome is Outcome.MISSING
    assert not found.is_other_file


def test_a_debug_file_without_dwarf_goes_on_searching(disk):
    """It may still serve for its symbols, when nothing better is found."""
    disk.add(PATH, build_id=BUILD_ID, has_symbols=True)
    symbols = disk.add(BY_BUILD_ID, build_id=BUILD_ID, has_symbols=True)

    found = disk.finder().find(ls(build_id=BUILD_ID, debug_link=("ls.debug", 1)))

    assert (found.debug, found.source) == (symbols, DebugSource.SYMBOLS_ONLY)
    assert len(found.attempts) == 6


def test_an_object_without_dwarf_is_the_last_resort(disk):
    """It may have symbols, if only those that it exports."""
    main = disk.add(PATH)

    found = disk.finder().find(ls())

    assert (found.debug, found.source) == (main, DebugSource.SYMBOLS_ONLY)
    assert found.object_refusal is None


def test_damaged_debug_information_goes_on_searching(disk, damaged_object):
    """In the object as well as in a debug file."""
    disk.add(PATH, kind=damaged_object, build_id=BUILD_ID)
    disk.add(BY_BUILD_ID, kind=damaged_object, build_id=BUILD_ID)
    linked = disk.add(BY_LINK[0], has_dwarf=True)

    found = disk.finder().find(ls(build_id=BUILD_ID, debug_link=link_to(linked)))

    assert found.debug is linked
    assert [outcome for _, outcome in disk.tried(found)] == [
        "UNUSABLE",
        "UNUSABLE",
        "USED",
    ]


def test_files_that_are_no_elf_files_are_refused_with_the_reason(disk):
    """The parser's own words are kept."""
    disk.write(PATH)

    found = disk.finder().find(ls())

    assert found.attempts[0].outcome is Outcome.UNUSABLE
    assert found.attempts[0].detail == "not an ELF file"


def test_a_fifo_and_a_directory_are_never_opened(disk):
    """Opening a FIFO would wait for ever."""
    disk.path("/usr/bin").mkdir(parents=True)
    os.mkfifo(disk.path(PATH))
    disk.path(BY_BUILD_ID).mkdir(parents=True)

    found = disk.finder().find(ls(build_id=BUILD_ID))

    assert disk.tried(found) == [(PATH, "NOT_A_FILE"), (BY_BUILD_ID, "NOT_A_FILE")]
    assert disk.opened == []


def test_a_loop_of_symbolic_links_is_an_attempt_with_a_reason(disk):
    """The search goes on after it."""
    disk.add(PATH, build_id=BUILD_ID)
    loop = disk.path(BY_BUILD_ID)
    loop.parent.mkdir(parents=True)
    loop.symlink_to(loop.name)

    found = disk.finder().find(ls(build_id=BUILD_ID))

    assert found.attempts[1].outcome is Outcome.UNREADABLE
    assert "symbolic links" in found.attempts[1].detail


def test_a_name_that_is_too_long_is_an_attempt_with_a_reason(disk):
    """Names come from traces."""
    found = disk.finder().find(Mapping(0, 1, f"/{'a' * 5000}"))

    assert found.attempts[0].outcome is Outcome.UNREADABLE


def test_a_name_that_cannot_be_encoded_is_refused(disk):
    """A decoder may leave half of a surrogate pair."""
    found = disk.finder().find(Mapping(0, 1, "/lib/\ud800"))

    assert found.attempts[0].outcome is Outcome.REFUSED_PATH


def test_symbolic_links_to_debug_files_are_followed(disk):
    """Distributions link from build IDs to files."""
    disk.add(PATH, build_id=BUILD_ID)
    debug = disk.add("/store/ls", build_id=BUILD_ID, has_dwarf=True)
    link = disk.path(BY_BUILD_ID)
    link.parent.mkdir(parents=True)
    link.symlink_to(disk.path("/store/ls"))

    assert disk.finder().find(ls(build_id=BUILD_ID)).debug is debug


def test_the_directory_of_the_real_file_is_searched_too(disk):
    """The debug file of a linked program lies beside the program."""
    disk.add("/opt/real/ls", debug_link=(b"ls.debug", 1))
    disk.path("/usr/bin").mkdir(parents=True)
    disk.path(PATH).symlink_to(disk.path("/opt/real/ls"))

    tried = [name for name, _ in disk.tried(disk.finder().find(ls()))]

    assert tried[5:8] == [
        "/opt/real/ls.debug",
        "/opt/real/.debug/ls.debug",
        "/usr/lib/debug/opt/real/ls.debug",
    ]


def test_paths_of_the_trace_cannot_leave_the_prefix(disk):
    """Such a path is refused unread, and names no directory for a debug link."""
    disk.add("/secret", has_dwarf=True)

    found = disk.finder().find(
        Mapping(0, 1, "/usr/../../secret", debug_link=("secret", 1))
    )

    assert [attempt.outcome for attempt in found.attempts] == [Outcome.REFUSED_PATH]
    assert disk.opened == []


def test_a_refused_path_leaves_the_build_id(disk):
    """The debug file does not depend on where the object was."""
    debug = disk.add(BY_BUILD_ID, build_id=BUILD_ID, has_dwarf=True)

    found = disk.finder().find(Mapping(0, 1, "relative/ls", build_id=BUILD_ID))

    assert found.debug is debug


def test_a_link_name_with_a_directory_is_refused(disk):
    """It is logged, and nothing is opened for it."""
    disk.add(PATH)

    found = disk.finder().find(ls(debug_link=("../../secret", 1)))

    assert disk.tried(found)[1:] == [("../../secret", "REFUSED_PATH")]


@pytest.mark.parametrize(
    ("size", "modified", "is_other"),
    [(1, 1, True), (18, 1, False), (1, 500, False)],
)
def test_a_replaced_file_is_known_by_size_and_time(disk, size, modified, is_other):
    """For traces without build IDs; one of the two may differ for other reasons."""
    disk.add(PATH, has_dwarf=True)
    os.utime(disk.path(PATH), (500, 500))
    assert disk.path(PATH).stat().st_size == 18

    found = disk.finder().find(Mapping(0x1000, size, PATH, modified=modified))

    assert found.is_other_file is is_other


def test_results_and_files_are_kept(disk):
    """A second search opens nothing; a second path to a file opens it once."""
    disk.add(PATH, has_dwarf=True)
    os.link(disk.path(PATH), disk.path("/usr/bin/dir"))
    finder = disk.finder()

    first = finder.find(ls())
    again = finder.find(Mapping(0x9000, 0x10, PATH))
    other = finder.find(Mapping(0x9000, 0x10, "/usr/bin/dir"))

    assert again is first
    assert other.object is first.object
    assert len(disk.opened) == 1


def test_a_search_without_prefix_starts_at_the_root(disk):
    """The path of the trace is the path on this machine."""
    main = disk.add(PATH, has_dwarf=True)
    path = str(disk.path(PATH))

    assert disk.finder(prefix=False).find(Mapping(0, 1, path)).object is main


def test_an_attempt_reads_as_a_sentence_part(disk):
    """For the log that people see."""
    found = disk.finder().find(ls())

    assert str(found.attempts[0]) == (
        f"{disk.path(PATH)} (the object itself): no such file"
    )
