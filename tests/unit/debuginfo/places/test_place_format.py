"""Places that the core looks up and writes: as the resolver does it, one by one."""

from __future__ import annotations

import os
import random

import pytest

from vestige import core
from vestige.debuginfo import Mapping, ProcessImages, Reason, Unresolved
from vestige.debuginfo.object_file import is_bulk_reader
from vestige.debuginfo.places.formatting import encodable
from vestige.debuginfo.places.found_object import FoundObject

HELPERS = [
    "lttng_ust_tracepoint_cb_",
    "lttng_ust__event_probe__",
    "__tracepoint_cb_",
    "__event_probe__",
]
"""How the names of the helpers of a tracepoint begin."""

BASE = 0x10000
NAMES = (
    None,
    "",
    "main",
    "ns::f(int) const",
    "ünïcode",
    *(f"{one}x" for one in HELPERS),
)
DIRECTORIES = (None, "", "/", "/src", "/src/", "relative", "/a//b")
FILES = (None, "", "a.c", "sub/a.c", "/abs/a.c", "/a.c", "ends/", "//a.c", "d//a.c")
LINES = (None, 0, 1, 77, 0xFFFFFFFF)
LINKAGE = (None, "", "_Z1fi")
OFFSETS = (0, 1, 0x194, -0x2E, -(1 << 63), (1 << 63) - 1)
PATHS = (
    "/bin/app",
    "/bin/a+b",
    "/",
    "/bin/",
    os.fsdecode(b"/bin/\xff\xc3\xa4\xed\xb2\x80"),
)


def random_row(chance):
    """Return a row as a symbol table may answer."""
    function = chance.choice(NAMES)
    file = chance.choice(FILES)
    frames = [
        tuple(map(chance.choice, (NAMES, FILES, LINES, LINKAGE)))
        for _ in range(chance.choice((0, 0, 2, 3, 4)))
    ]
    return (
        function,
        chance.choice(OFFSETS),
        None if file is None else chance.choice(DIRECTORIES),
        file,
        None if file is None else chance.choice(LINES),
        None,
        frames,
        "dwarf",
        None if function is not None else "no-function-there",
        None if function is None else chance.choice(LINKAGE),
    )


@pytest.mark.parametrize("full_path", [False, True])
@pytest.mark.parametrize("demangle", [False, True])
@pytest.mark.parametrize("hide_helpers", [False, True])
def test_the_core_writes_places_as_the_resolver_does(
    disk, full_path, demangle, hide_helpers
):
    """For any answer of a symbol table, whatever the object is called."""
    seed = f"{full_path}{demangle}{hide_helpers}"
    chance = random.Random(seed)  # noqa: S311 - no secret
    helpers = HELPERS if hide_helpers else []
    options = {"full_path": full_path, "demangle": demangle}
    for _ in range(300):
        row, ip = random_row(chance), BASE + chance.choice((0, 0x234))
        path, is_pic = chance.choice(PATHS), chance.choice((True, False))
        link_base, bits = chance.choice((0, 0x400000)), chance.choice((32, 64))
        rows = disk.add("/any", is_pic=is_pic, link_base=link_base, bits=bits)
        mapping = Mapping(
            BASE, 0x1000, path, is_pic, base_is_bias=chance.choice((True, False))
        )
        files = found_files(disk, mapping, rows)
        found = FoundObject(mapping, path, files, disk.table(rows, None))
        rows.rows = {found.file_address(ip): row}
        resolver = disk.resolver(**options, hide_helpers=hide_helpers)
        resolver._objects[mapping] = found
        expected = encodable(resolver.text(resolver.resolve(mapping, ip)))

        form = found.form(**options, helpers=helpers)

        assert tuple(form.texts(ip, row)) == expected, (path, row)


def found_files(disk, mapping, opened):
    """Return a search's answer that has the object."""
    found = disk.finder().find(mapping)
    return type(found)(opened, opened, found.source, ())


def test_what_is_known_of_the_object_alone_is_written():
    """Where it has no symbols at all."""
    form = core.PlaceFormat(
        "app", base=BASE, shift=0, mask=0, full_path=False, demangle=True, helpers=[]
    )

    assert form.texts(BASE + 0x10) == ["app+0x10", "", ""]


@pytest.mark.parametrize(
    ("address", "base", "last"),
    [
        (0, None, 0xFFF),
        (0x1000, 0x1000, 0x1FFF),
        (0x1FFF, 0x1000, 0x1FFF),
        (0x2000, None, 0x4FFF),
        (0x5000, 0x5000, 0x5FFF),
        (0x6000, None, (1 << 64) - 1),
    ],
)
def test_an_answer_holds_up_to_the_next_object(address, base, last):
    """So that all addresses there are one group."""
    images = ProcessImages()
    for start in (0x5000, 0x1000):
        images.of(1).map_object(Mapping(start, 0x1000, "/bin/app"))

    found, end = images.find_range(1, address)

    assert end == last
    assert found == images.find(1, address)
    assert getattr(found, "base", None) == base


def test_a_process_without_state_dump_has_one_answer():
    """For all its addresses."""
    unknown = Unresolved(Reason.NO_STATE_DUMP)

    assert ProcessImages().find_range(1, 5) == (unknown, (1 << 64) - 1)


def test_tables_of_rows_are_told_from_those_of_the_core(disk):
    """They cannot add places by themselves."""
    table = disk.table(disk.add("/bin/app"), None)

    assert not is_bulk_reader(table)
