"""From addresses in mapped objects to places."""

from __future__ import annotations

import pytest

from vestige.debuginfo import (
    DebugSource,
    Frame,
    Mapping,
    Place,
    PlaceText,
    Reason,
    Unresolved,
)
from vestige.errors import DebugInfoError

BUILD_ID = bytes.fromhex("abcdef1234")
APP = Mapping(0x10000, 0x1000, "/bin/app", is_pic=True)
MAIN = ("main", 4, "/src", "app.c", 12, 3, [], "dwarf", None, None)
BY_BUILD_ID = "/usr/lib/debug/.build-id/ab/cdef1234.debug"


def test_a_place_has_function_line_and_object(disk):
    """What the symbol table answers, and where it came from."""
    disk.add("/bin/app", has_dwarf=True, rows={0x234: MAIN})

    place = disk.resolver().resolve(APP, 0x10234)

    assert (place.function, place.offset, place.source_path, place.line) == (
        "main",
        4,
        "/src/app.c",
        12,
    )
    assert (place.source, place.shortfall) == (DebugSource.OBJECT, None)
    assert (place.binary.mapping, place.binary.offset) == (APP, 0x234)


def test_the_file_address_counts_from_the_first_segment(disk):
    """An object may be linked at any address."""
    disk.add("/bin/app", has_dwarf=True, link_base=0x400000, rows={0x400234: MAIN})

    assert disk.resolver().resolve(APP, 0x10234).function == "main"


def test_a_dlopen_event_states_the_load_bias(disk):
    """Then the link address is in the base already."""
    disk.add("/bin/app", has_dwarf=True, link_base=0x200, rows={0x234: MAIN})
    mapping = Mapping(0x10000, 0x1000, "/bin/app", is_pic=True, base_is_bias=True)

    assert disk.resolver().resolve(mapping, 0x10234).function == "main"


@pytest.mark.parametrize("recorded", [False, None])
def test_a_fixed_executable_is_looked_up_by_its_address(disk, recorded):
    """Where the trace does not say what it is, the file does."""
    disk.add(
        "/bin/app",
        has_dwarf=True,
        is_pic=False,
        link_base=0x10000,
        rows={0x10234: MAIN},
    )
    mapping = Mapping(0x10000, 0x1000, "/bin/app", is_pic=recorded)

    place = disk.resolver().resolve(mapping, 0x10234)

    assert (place.function, place.binary.is_pic) == ("main", False)


def test_addresses_of_narrow_objects_wrap_at_their_width(disk):
    """A 32-bit object cannot have a longer address."""
    disk.add("/bin/app", has_dwarf=True, bits=32, link_base=0xFFFFFF00, rows={0: MAIN})

    assert disk.resolver().resolve(APP, 0x10100).function == "main"


def test_a_debug_file_alone_is_enough(disk):
    """It has the same addresses as the object; the build ID proves that it fits."""
    disk.add(
        BY_BUILD_ID,
        build_id=BUILD_ID,
        has_dwarf=True,
        link_base=0x400000,
        rows={0x400234: MAIN},
    )
    mapping = Mapping(0x10000, 0x1000, "/bin/app", is_pic=True, build_id=BUILD_ID)
    resolver = disk.resolver()

    place = resolver.resolve(mapping, 0x10234)

    assert resolver.text(place) == PlaceText("app+0x234", "main+0x4", "app.c:12")


def test_the_symbol_table_gets_the_object_beside_its_debug_file(disk):
    """Symbols may be split between the two."""
    main = disk.add("/bin/app", build_id=BUILD_ID)
    debug = disk.add(BY_BUILD_ID, build_id=BUILD_ID, has_dwarf=True)

    disk.resolver().resolve(APP, 0x10234)

    assert [(table.debug, table.main) for table in disk.tables] == [(debug, main)]


def test_many_addresses_make_one_call_for_each_object(disk):
    """Repeated addresses are asked once, and never again."""
    disk.add("/bin/app", has_dwarf=True, rows={0x234: MAIN})
    disk.add("/lib/a.so", has_dwarf=True)
    library = Mapping(0x20000, 0x1000, "/lib/a.so", is_pic=True)
    resolver = disk.resolver()
    pairs = [(APP, 0x10234), (library, 0x20001), (APP, 0x10111), (APP, 0x10234)]

    places = resolver.resolve_many(pairs)
    resolver.resolve_many(pairs)

    assert [place.function for place in places] == ["main", None, None, "main"]
    assert [table.calls for table in disk.tables] == [[[0x234, 0x111]], [[1]]]


def test_processes_share_answers_about_one_file(disk):
    """Wherever they map it."""
    disk.add("/bin/app", has_dwarf=True, rows={0x234: MAIN})
    elsewhere = Mapping(0x50000, 0x1000, "/bin/app", is_pic=True)

    places = disk.resolver().resolve_many([(APP, 0x10234), (elsewhere, 0x50234)])

    assert [place.binary.address for place in places] == [0x10234, 0x50234]
    assert [table.calls for table in disk.tables] == [[[0x234]]]


def test_another_object_at_the_same_base_gets_no_old_answer(disk):
    """As after dlclose and dlopen of another library."""
    disk.add("/lib/a.so", has_dwarf=True, rows={0x10: ("a", *MAIN[1:])})
    disk.add("/lib/b.so", has_dwarf=True, rows={0x10: ("b", *MAIN[1:])})
    resolver = disk.resolver()
    mappings = [Mapping(0x7000, 0x100, f"/lib/{name}.so") for name in "ab"]

    places = [resolver.resolve(mapping, 0x7010) for mapping in mappings]

    assert [place.function for place in places] == ["a", "b"]


def test_no_object_means_no_place(disk):
    """The reason of the image is handed on."""
    no_dump = Unresolved(Reason.NO_STATE_DUMP)
    resolver = disk.resolver()

    assert resolver.resolve(None, 5) == Unresolved(Reason.NO_OBJECT)
    assert resolver.resolve(no_dump, 5) is no_dump
    assert resolver.text(no_dump) == PlaceText("", "", "")


def test_a_missing_file_without_recorded_identity_leaves_the_object_name(disk):
    """The trace itself says where the address lies."""
    resolver = disk.resolver()

    place = resolver.resolve(APP, 0x10234)

    assert place.shortfall.reason is Reason.FILE_MISSING
    assert resolver.text(place) == PlaceText("app+0x234", "", "")


@pytest.mark.parametrize("kind", ["missing", "other", "no ELF file"])
def test_an_object_that_cannot_be_identified_has_no_texts(disk, kind):
    """All are empty, yet the mapping stays known to programs."""
    if kind == "other":
        disk.add("/bin/app", build_id=b"\x01\x02", has_dwarf=True, rows={0x234: MAIN})
    elif kind != "missing":
        disk.write("/bin/app")
    mapping = Mapping(0x10000, 0x1000, "/bin/app", is_pic=True, build_id=BUILD_ID)
    resolver = disk.resolver()

    place = resolver.resolve(mapping, 0x10234)

    assert resolver.text(place) == PlaceText("", "", "")
    assert place.binary.mapping == mapping
    assert (
        place.shortfall.reason
        is {
            "missing": Reason.FILE_MISSING,
            "other": Reason.OTHER_FILE,
            "no ELF file": Reason.UNUSABLE_FILE,
        }[kind]
    )


def test_a_stripped_object_keeps_its_name_in_the_text(disk):
    """There are no symbols, but the object is the right one."""
    row = (None, 0, None, None, None, None, [], "none", "no-symbols", None)
    disk.add("/bin/app", build_id=BUILD_ID, rows={0x234: row})
    mapping = Mapping(0x10000, 0x1000, "/bin/app", is_pic=True, build_id=BUILD_ID)
    resolver = disk.resolver()

    place = resolver.resolve(mapping, 0x10234)

    assert resolver.text(place) == PlaceText("app+0x234", "", "")
    assert place.shortfall == Unresolved(Reason.NO_SYMBOLS)


def test_symbols_without_debug_information_give_a_function_only(disk):
    """The reason for the missing line names the source."""
    row = ("main", 4, None, None, None, None, [], "symtab", None, None)
    disk.add("/bin/app", has_symbols=True, rows={0x234: row})
    resolver = disk.resolver()

    place = resolver.resolve(APP, 0x10234)

    assert resolver.text(place) == PlaceText("app+0x234", "main+0x4", "")
    assert place.shortfall.reason is Reason.NO_LINE


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("no-symbols", Reason.NO_SYMBOLS),
        ("outside-of-text", Reason.OUTSIDE_OF_TEXT),
        ("no-function-there", Reason.NO_FUNCTION),
        ("damaged-debug-info", Reason.DAMAGED_DEBUG_INFO),
        ("something new", Reason.NO_FUNCTION),
        (None, Reason.NO_FUNCTION),
    ],
)
def test_the_reason_of_the_symbol_table_is_handed_on(disk, said, reason):
    """Also one that this version does not know."""
    row = (None, 0, None, None, None, None, [], "", said, None)
    disk.add("/bin/app", has_dwarf=True, rows={0x234: row})

    assert disk.resolver().resolve(APP, 0x10234).shortfall.reason is reason


def test_an_unusable_file_is_a_reason_and_others_still_resolve(disk, monkeypatch):
    """Both when its table is made and when it is asked."""
    disk.add("/bin/app", has_dwarf=True)
    disk.add("/lib/a.so", has_dwarf=True)
    disk.add("/lib/b.so", has_dwarf=True, rows={0x10: MAIN})
    made = disk.table

    def fail(*_):
        raise DebugInfoError("the line table is cut")

    def table(debug, main, **files):
        if debug.path.name == "app":
            fail()
        result = made(debug, main, **files)
        if debug.path.name == "a.so":
            result.lookup = fail
        return result

    monkeypatch.setattr(disk, "table", table)
    pairs = [
        (APP, 0x10234),
        (Mapping(0x20000, 0x1000, "/lib/a.so"), 0x20010),
        (Mapping(0x30000, 0x1000, "/lib/b.so"), 0x30010),
    ]

    places = disk.resolver().resolve_many(pairs)

    unusable = Unresolved(Reason.UNUSABLE_FILE, "the line table is cut")
    assert [place.shortfall for place in places] == [unusable, unusable, None]


def inlined(*frames):
    """Return an answer of a symbol table with inlined calls."""
    return (
        "caller",
        9,
        "/inc",
        "inner.h",
        99,
        1,
        list(frames),
        "dwarf",
        None,
        "caller",
    )


def resolved(disk, row):
    """Resolve an address that has this answer."""
    disk.add("/bin/app", has_dwarf=True, rows={0x234: row})
    return disk.resolver().resolve(APP, 0x10234)


def test_inlined_frames_are_kept_and_the_line_is_the_innermost(disk):
    """As the line table says; the function is the outermost."""
    frames = [("inner", "/inc/inner.h", 99), ("caller", "/src/app.c", 30)]

    place = resolved(disk, inlined(*frames))

    assert place.frames == (Frame(*frames[0]), Frame(*frames[1]))
    assert (place.function, place.source_path, place.line) == (
        "caller",
        "/inc/inner.h",
        99,
    )


def test_linkage_names_are_handed_on(disk):
    """Of the function and of each inlined call."""
    frames = [
        ("app::inner()", "/inc/inner.h", 99, "_ZN3app5innerEv"),
        ("caller", "/src/app.c", 30, None),
    ]

    place = resolved(disk, inlined(*frames))

    assert place.linkage_name == "caller"
    assert [frame.linkage_name for frame in place.frames] == ["_ZN3app5innerEv", None]


@pytest.mark.parametrize(
    "helper",
    [
        "lttng_ust_tracepoint_cb_app___start",
        "__tracepoint_cb_app___start",
        "lttng_ust__event_probe__app___start",
        "__event_probe__app___start",
    ],
)
def test_a_tracepoint_is_where_it_is_called(disk, helper):
    """The helpers that LTTng inlines there are skipped."""
    frames = [
        ("small", "/inc/urcu.h", 7),
        (helper, "/inc/tracepoint.h", 99),
        ("caller", "/src/app.c", 30),
    ]

    place = resolved(disk, inlined(*frames))

    assert (place.directory, place.file, place.line) == ("/src", "app.c", 30)
    assert place.frames == (Frame("caller", "/src/app.c", 30),)
    assert (place.function, place.offset) == ("caller", 9)


def test_a_tracepoint_in_an_inlined_function_is_in_that_function(disk):
    """Only the helpers are skipped."""
    frames = [
        ("lttng_ust_tracepoint_cb_app___start", "/inc/tracepoint.h", 99),
        ("step", "step.c", 5),
        ("caller", "/src/app.c", 30),
    ]

    place = resolved(disk, inlined(*frames))

    assert (place.directory, place.file, place.line) == (None, "step.c", 5)
    assert [frame.function for frame in place.frames] == ["step", "caller"]


def test_a_helper_that_is_not_inlined_is_an_ordinary_function(disk):
    """Without optimisation the call site is in another frame of the stack."""
    helper = "lttng_ust_tracepoint_cb_app___start"

    place = resolved(disk, inlined((helper, "/inc/tracepoint.h", 99)))

    assert (place.source_path, place.line) == ("/inc/inner.h", 99)


def test_a_call_site_without_file_leaves_the_line_unknown(disk):
    """A line number alone means nothing."""
    frames = [("__tracepoint_cb_a", "/inc/t.h", 99), ("caller", None, None)]

    place = resolved(disk, inlined(*frames))

    assert isinstance(place, Place)
    assert (place.source_path, place.line) == (None, None)
    assert place.shortfall.reason is Reason.NO_LINE


def test_texts_with_full_paths(disk):
    """The object's path on this machine, and the whole path of the source."""
    disk.add("/bin/app", has_dwarf=True, rows={0x234: MAIN})
    resolver = disk.resolver(full_path=True)

    text = resolver.text(resolver.resolve(APP, 0x10234))

    assert text == PlaceText(f"{disk.root}/bin/app+0x234", "main+0x4", "/src/app.c:12")
