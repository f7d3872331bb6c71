"""Where the files of an object are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from vestige.debuginfo.files import search_path


def test_the_places_are_those_of_the_manual():
    """GDB's example: /usr/bin/ls, link ls.debug, build ID abcdef1234."""
    directories = [Path("/usr/lib/debug")]

    places = [
        *search_path.build_id_places(directories, bytes.fromhex("abcdef1234")),
        *search_path.debug_link_places(directories, "/usr/bin", "ls.debug"),
    ]

    assert [str(place) for place in places] == [
        "/usr/lib/debug/.build-id/ab/cdef1234.debug",
        "/usr/bin/ls.debug",
        "/usr/bin/.debug/ls.debug",
        "/usr/lib/debug/usr/bin/ls.debug",
    ]


def test_a_prefix_moves_the_object_and_is_tried_last_below_global_directories():
    """First as GDB does it, then as Babeltrace 2 does."""
    places = search_path.debug_link_places(
        [Path("/debug")], "/usr/bin", "ls.debug", ["/target/usr/bin"]
    )

    assert [str(place) for place in places] == [
        "/target/usr/bin/ls.debug",
        "/target/usr/bin/.debug/ls.debug",
        "/debug/usr/bin/ls.debug",
        "/debug/target/usr/bin/ls.debug",
    ]


def test_a_build_id_of_one_byte_names_no_file():
    """There is nothing left for the file name."""
    assert list(search_path.build_id_places([Path("/debug")], b"\xab")) == []


@pytest.mark.parametrize(
    "path", ["", "lib/a.so", "[vdso]", "/a\0b", "/..", "/lib/../../etc/a", "/lib/.."]
)
def test_paths_that_could_lead_elsewhere_are_refused(path):
    """Traces are untrusted: with a target prefix nothing outside of it is read."""
    assert search_path.check_target_path(path) is not None


@pytest.mark.parametrize("path", ["/lib/a.so", "/lib/..a", "/a b/ü.so"])
def test_ordinary_paths_are_fit_for_use(path):
    """Names may hold dots, spaces and any letters."""
    assert search_path.check_target_path(path) is None


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc/passwd", "a\0"])
def test_link_names_with_directories_are_refused(name):
    """A debug link holds a bare file name."""
    assert search_path.check_link_name(name) is not None
