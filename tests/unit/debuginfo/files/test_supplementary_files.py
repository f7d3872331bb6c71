"""The files that a debug file refers to: dwz, packages, split and packed symbols."""

from __future__ import annotations

import pytest

from vestige.debuginfo import AttemptKind, DebugSource, Mapping, Outcome
from vestige.errors import DebugInfoError

BUILD_ID = bytes.fromhex("abcdef1234")
SHARED_ID = bytes.fromhex("5aa5")
OTHER_ID = bytes.fromhex("1234abcdef")
PATH = "/usr/bin/ls"
DEBUG = "/usr/lib/debug/.build-id/ab/cdef1234.debug"


def ls():
    """Return the mapping of an object."""
    return Mapping(0x1000, 0x1000, PATH, is_pic=True, build_id=BUILD_ID)


def tried(disk, found, kind):
    """List the attempts of one kind."""
    root = str(disk.root)
    return [
        (attempt.path.removeprefix(root), attempt.outcome.name)
        for attempt in found.attempts
        if attempt.kind is kind
    ]


def add_debug_file(disk, **attributes):
    """Add a stripped object and its debug file."""
    disk.add(PATH, build_id=BUILD_ID)
    return disk.add(DEBUG, build_id=BUILD_ID, has_dwarf=True, **attributes)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        (b"../../.dwz/coreutils", "/usr/lib/debug/.dwz/coreutils"),
        (b"shared", "/usr/lib/debug/.build-id/ab/shared"),
        (b"/usr/lib/debug/.dwz/coreutils", "/usr/lib/debug/.dwz/coreutils"),
        (b"/elsewhere/.dwz/coreutils", "/usr/lib/debug/.dwz/coreutils"),
        (b"/elsewhere/coreutils", "/usr/lib/debug/elsewhere/coreutils"),
        (b"gone", "/usr/lib/debug/.build-id/5a/a5.debug"),
    ],
)
def test_a_supplementary_file_is_found_in_each_of_its_places(disk, name, place):
    """Relative to the debug file, below the global directory, by build ID."""
    debug = add_debug_file(disk, debug_alt_link=(name, SHARED_ID))
    shared = disk.add(place, build_id=SHARED_ID)

    found = disk.finder().find(ls())

    assert (found.debug, found.supplement) == (debug, shared)
    assert found.source is DebugSource.BUILD_ID
    last = found.attempts[-1]
    assert (last.kind, last.outcome) == (AttemptKind.SUPPLEMENT, Outcome.USED)


def test_a_supplementary_file_must_have_the_build_id(disk):
    """Another one is passed over, and the search goes on."""
    add_debug_file(disk, debug_alt_link=(b"../../.dwz/a", SHARED_ID))
    disk.add("/usr/lib/debug/.dwz/a", build_id=OTHER_ID)
    shared = disk.add("/usr/lib/debug/.build-id/5a/a5.debug", build_id=SHARED_ID)

    found = disk.finder().find(ls())

    assert found.supplement is shared
    outcomes = [outcome for _, outcome in tried(disk, found, AttemptKind.SUPPLEMENT)]
    assert outcomes[0] == "OTHER_BUILD_ID"
    assert outcomes[-1] == "USED"


def test_without_the_supplementary_file_the_debug_file_is_used(disk):
    """The log says where it was looked for."""
    debug = add_debug_file(disk, debug_alt_link=(b"../../.dwz/a", SHARED_ID))

    found = disk.finder().find(ls())

    assert (found.debug, found.supplement) == (debug, None)
    places = tried(disk, found, AttemptKind.SUPPLEMENT)
    assert {outcome for _, outcome in places} == {"MISSING"}
    assert places[-1][0] == "/usr/lib/debug/.build-id/5a/a5.debug"


def test_the_symbol_table_gets_all_files(disk):
    """Whatever was found beside the debug file."""
    add_debug_file(
        disk,
        debug_alt_link=(b"shared", SHARED_ID),
        split_units=[(7, b"a.dwo", b"/build")],
    )
    shared = disk.add("/usr/lib/debug/.build-id/ab/shared", build_id=SHARED_ID)
    dwo = disk.write("/build/a.dwo")
    finder = disk.finder()

    finder.files.symbol_table(finder.find(ls()))

    assert disk.tables[-1].files == {
        "supplement": shared,
        "mini": None,
        "package": None,
        "split": [(7, str(dwo))],
    }


@pytest.mark.parametrize(
    "place",
    [
        "/usr/bin/ls.dwp",
        "/usr/lib/debug/.build-id/ab/cdef1234.debug.dwp",
        "/usr/lib/debug/.build-id/ab/cdef1234.dwp",
        "/usr/lib/debug/usr/bin/ls.dwp",
    ],
)
def test_a_package_is_found_in_each_of_its_places(disk, place):
    """Then no split file is looked for: it has all of them."""
    add_debug_file(disk, split_units=[(7, b"a.dwo", b"/build")])
    disk.write("/build/a.dwo")
    package = disk.add(place)

    found = disk.finder().find(ls())

    assert (found.package, found.split) == (package, ())
    assert (place, "USED") in tried(disk, found, AttemptKind.PACKAGE)


def test_a_package_is_not_looked_for_where_a_trace_leads_upwards(disk):
    """Its path of the object is not believed when the object is not there."""
    disk.add(
        "/usr/lib/debug/.build-id/ab/cdef1234.debug",
        build_id=BUILD_ID,
        has_dwarf=True,
        split_units=[(7, b"a.dwo", b"/build")],
    )
    disk.add("/secret/ls.dwp")

    found = disk.finder().find(
        Mapping(0x1000, 0x1000, "/../../../secret/ls", build_id=BUILD_ID)
    )

    assert found.package is None
    assert not any("secret" in one.path for one in found.attempts[1:])


def test_one_file_at_two_paths_has_the_split_files_of_each(disk):
    """Only beside one of the two are there any."""
    disk.add("/one/app", has_dwarf=True, split_units=[(7, b"a.dwo", b"/build")])
    disk.path("/two").mkdir()
    disk.path("/two/app").hardlink_to(disk.path("/one/app"))
    dwo = disk.write("/two/a.dwo")
    finder = disk.finder()

    for name, expected in (("/one/app", []), ("/two/app", [(7, str(dwo))])):
        table = finder.files.symbol_table(finder.find(Mapping(0x1000, 0x1000, name)))
        assert table.files["split"] == expected


def test_a_package_with_another_build_id_is_passed_over(disk):
    """Most packages have none, and are told apart by their units."""
    add_debug_file(disk, split_units=[(7, b"a.dwo", b"/build")])
    disk.add("/usr/bin/ls.dwp", build_id=OTHER_ID)
    dwo = disk.write("/build/a.dwo")

    found = disk.finder().find(ls())

    assert (found.package, found.split) == (None, ((7, dwo),))


@pytest.mark.parametrize(
    ("name", "directory", "place"),
    [
        (b"obj/a.dwo", b"/build", "/build/obj/a.dwo"),
        (b"../obj/a.dwo", b"/build/src", "/build/obj/a.dwo"),
        (b"/build/obj/a.dwo", b"/src", "/build/obj/a.dwo"),
        (b"obj/a.dwo", b"/build", "/usr/bin/obj/a.dwo"),
        (b"obj/a.dwo", b"/build", "/usr/bin/a.dwo"),
        (b"obj/a.dwo", b"/build", "/usr/lib/debug/build/obj/a.dwo"),
        (b"obj/a.dwo", b"/build", "/usr/lib/debug/obj/a.dwo"),
        (b"a.dwo", b"", "/usr/bin/a.dwo"),
    ],
)
def test_a_split_file_is_found_in_each_of_its_places(disk, name, directory, place):
    """Where it was written, next to the object, below the global directory."""
    add_debug_file(disk, split_units=[(7, name, directory)])
    dwo = disk.write(place)

    found = disk.finder().find(ls())

    assert found.split == ((7, dwo),)


def test_a_split_file_that_is_no_file_is_passed_over(disk):
    """Such as a directory of that name."""
    add_debug_file(disk, split_units=[(7, b"a.dwo", b"/build")])
    disk.path("/build/a.dwo").mkdir(parents=True)
    dwo = disk.write("/usr/bin/a.dwo")

    found = disk.finder().find(ls())

    assert found.split == ((7, dwo),)
    assert tried(disk, found, AttemptKind.SPLIT)[0] == ("/build/a.dwo", "NOT_A_FILE")


def test_the_log_of_many_split_files_stays_short(disk):
    """A browser has 30,000 of them."""
    units = [(n, b"%d.dwo" % n, b"/build") for n in range(1000)]
    add_debug_file(disk, split_units=units)
    disk.write("/build/999.dwo")

    found = disk.finder().find(ls())

    assert [dwo_id for dwo_id, _ in found.split] == [999]
    places = tried(disk, found, AttemptKind.SPLIT)
    assert len(places) == 65
    assert found.attempts[-1].detail.endswith(
        "more places tried, 1 files found altogether"
    )


def test_damaged_units_are_told(disk):
    """The debug file itself is still used."""
    debug = add_debug_file(disk)

    class Cut(type(debug)):
        @property
        def split_units(self):
            """Fail as a parser does on a cut section."""
            raise DebugInfoError("the section .debug_info is cut")

        @split_units.setter
        def split_units(self, value):
            pass

    debug.__class__ = Cut

    found = disk.finder().find(ls())

    assert found.debug is debug
    assert found.attempts[-1].reason == (
        "not a usable ELF file: the section .debug_info is cut"
    )


def test_packed_symbols_are_used_when_there_is_no_debug_file(disk):
    """As Fedora's programs have them."""
    main = disk.add(PATH, build_id=BUILD_ID)
    main.mini = type(main)()

    found = disk.finder().find(ls())

    assert (found.debug, found.mini) == (main, main.mini)
    assert found.source is DebugSource.MINI
    assert tried(disk, found, AttemptKind.MINI) == [(PATH, "USED")]


@pytest.mark.parametrize("place", [PATH, DEBUG])
def test_a_full_symbol_table_outweighs_packed_symbols(disk, place):
    """That of the object, or of its debug file without DWARF."""
    main = disk.add(PATH, build_id=BUILD_ID, has_symbols=place == PATH)
    main.mini = type(main)()
    if place == DEBUG:
        disk.add(DEBUG, build_id=BUILD_ID, has_symbols=True)

    found = disk.finder().find(ls())

    assert (found.mini, found.source) == (None, DebugSource.SYMBOLS_ONLY)


def test_packed_symbols_that_cannot_be_unpacked_are_told(disk):
    """The exported symbols are left."""
    main = disk.add(PATH, build_id=BUILD_ID)

    def fail():
        raise DebugInfoError("the data of .gnu_debugdata ends early")

    main.mini_debug_info = fail

    found = disk.finder().find(ls())

    assert (found.debug, found.source) == (main, DebugSource.SYMBOLS_ONLY)
    assert tried(disk, found, AttemptKind.MINI) == [(PATH, "UNUSABLE")]
