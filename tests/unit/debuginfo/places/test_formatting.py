"""The exact texts of ``bin``, ``func`` and ``src``."""

from __future__ import annotations

import pytest

from vestige.debuginfo import (
    Binary,
    DebugSource,
    Mapping,
    Place,
    PlaceText,
    Reason,
    Unresolved,
    format_place,
)


def place_in(path="/opt/my-program", address=0x4B7FDD23, base=0, is_pic=False, **parts):
    """Return a place with the parts that a test is about."""
    mapping = Mapping(base, 0x10000, path, is_pic=is_pic)
    is_identified = parts.pop("is_identified", True)
    binary = Binary(mapping, address, path, is_pic, is_identified)
    return Place(binary, DebugSource.OBJECT, **parts)


def test_a_fixed_executable_shows_the_address():
    """The form of the manual's example."""
    assert format_place(place_in()).bin == "my-program@0x4b7fdd23"


def test_position_independent_code_shows_the_distance_from_its_base():
    """The other example of the manual."""
    place = place_in(base=0x7F0000000000, address=0x7F0000018D7C, is_pic=True)

    assert format_place(place).bin == "my-program+0x18d7c"


@pytest.mark.parametrize(("is_pic", "expected"), [(True, "a+0"), (False, "a@0")])
def test_zero_has_no_prefix(is_pic, expected):
    """As C prints it."""
    place = place_in(path="/a", address=0, is_pic=is_pic)

    assert format_place(place).bin == expected


@pytest.mark.parametrize(
    ("offset", "expected"),
    [(0x194, "load_user_config+0x194"), (0, "load_user_config+0")],
)
def test_a_function_shows_the_distance_from_its_entry(offset, expected):
    """Also at the entry."""
    place = place_in(function="load_user_config", offset=offset)

    assert format_place(place).func == expected


@pytest.mark.parametrize(
    ("directory", "file", "short", "full"),
    [
        ("/src", "user-config.c", "user-config.c:1025", "/src/user-config.c:1025"),
        ("/", "a.c", "a.c:1025", "/a.c:1025"),
        ("/src", "sub/a.c", "a.c:1025", "/src/sub/a.c:1025"),
        ("/src", "/abs/a.c", "a.c:1025", "/abs/a.c:1025"),
        (None, "a.c", "a.c:1025", "a.c:1025"),
        ("/src", None, "", ""),
    ],
)
def test_a_source_line(directory, file, short, full):
    """The last component, or all that is known of the path."""
    place = place_in(directory=directory, file=file, line=1025)

    assert format_place(place).src == short
    assert format_place(place, full_path=True).src == full


def test_a_file_without_line_is_no_source_line():
    """Code that the compiler made up belongs to no line."""
    assert format_place(place_in(file="a.c", line=None)).src == ""


@pytest.mark.parametrize(
    ("path", "short"), [("/opt/my-program", "my-program"), ("/opt/", "/opt/")]
)
def test_the_name_of_the_object(path, short):
    """The last component, or the path when that is empty."""
    assert format_place(place_in(path=path)).bin.partition("@")[0] == short
    assert format_place(place_in(path=path), full_path=True).bin.startswith(path)


def test_parts_may_be_empty():
    """Each for itself."""
    assert format_place(place_in(function="f")) == PlaceText(
        "my-program@0x4b7fdd23", "f+0", ""
    )


def test_all_parts_are_empty_for_another_object_or_none():
    """The texts of an address that cannot be looked up."""
    empty = PlaceText("", "", "")

    assert format_place(place_in(is_identified=False, function="f")) == empty
    assert format_place(Unresolved(Reason.NO_OBJECT)) == empty


def test_reasons_read_as_phrases():
    """With the detail behind, when there is one."""
    assert str(Unresolved(Reason.NO_OBJECT)) == "no object mapped there"
    assert str(Unresolved(Reason.FILE_MISSING, "/a")) == "file missing: /a"
