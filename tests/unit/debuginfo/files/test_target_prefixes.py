"""Where directories of the traced machine are found on this one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vestige.debuginfo import (
    DebugFileFinder,
    DebugSource,
    Mapping,
    Outcome,
    TargetPrefix,
    TargetPrefixes,
)

BUILD_ID = bytes.fromhex("abcdef1234")
OTHER_ID = bytes.fromhex("1234abcdef")


def host_paths(path, *prefixes):
    """Return the places of a file of the traced machine."""
    made = TargetPrefixes([TargetPrefix.parse(text) for text in prefixes])
    return [place for place, _ in made.host_paths(path)]


@pytest.mark.parametrize(
    ("text", "target", "host"),
    [
        ("/srv/root", "/", "/srv/root"),
        ("root", "/", "root"),
        ("/app=/srv/build", "/app", "/srv/build"),
        ("/=/srv/a=b", "/", "/srv/a=b"),
        ("/app=out", "/app", "out"),
    ],
)
def test_a_prefix_is_a_directory_or_a_map(text, target, host):
    """A directory alone stands for the root directory."""
    assert TargetPrefix.parse(text) == (target, Path(host))


@pytest.mark.parametrize("text", ["", "=", "/app=", "=/srv", "app=/srv"])
def test_a_prefix_that_says_nothing_is_refused(text):
    """The traced machine's side must be an absolute path."""
    with pytest.raises(ValueError, match="neither a directory nor OLD=NEW"):
        TargetPrefix.parse(text)


def test_all_prefixes_that_fit_are_tried_in_order():
    """Whole components count: ``/app`` is not the beginning of ``/apple``."""
    prefixes = ("/app=/out", "/srv/root", "/app/lib=/libs/")

    assert host_paths("/app/lib/a.so", *prefixes) == [
        "/out/lib/a.so",
        "/srv/root/app/lib/a.so",
        "/libs/a.so",
    ]
    assert host_paths("/apple/a", *prefixes) == ["/srv/root/apple/a"]
    assert host_paths("/app", *prefixes) == ["/out", "/srv/root/app"]


def test_an_object_that_no_prefix_fits_is_where_it_was():
    """As with a map of the sources in a debugger."""
    assert host_paths("/usr/a", "/app=/out") == ["/usr/a"]
    assert host_paths("/usr/a") == ["/usr/a"]


def test_the_root_directory_may_stand_for_itself():
    """Then this machine's own files come after those of a prefix."""
    assert host_paths("/usr/a", "/srv", "/=/") == ["/srv/usr/a", "/usr/a"]


def test_paths_are_mapped_back(tmp_path):
    """A symbolic link may lead out of a prefix: then there is no path."""
    prefix = TargetPrefix("/app", tmp_path)
    root = Path(os.path.realpath(tmp_path))

    assert prefix.target_path(root / "lib") == "/app/lib"
    assert prefix.target_path(root) == "/app"
    assert prefix.target_path(root.parent) is None


def finder_of(disk, *prefixes):
    """Make a finder on a fake disk with prefixes of its directories."""
    pairs = [(target, disk.path(host)) for target, host in prefixes]
    return DebugFileFinder(
        [disk.path("/usr/lib/debug")],
        pairs,
        open_object=disk.open,
        crc_of_file=lambda path: disk.objects[path.read_bytes()].crc,
        build_table=disk.table,
    )


def mapping(**facts):
    """Return an object of the traced machine."""
    return Mapping(0x1000, 0x1000, "/app/bin/a", is_pic=True, **facts)


def test_an_object_is_looked_for_below_each_prefix(disk):
    """The first one that is the traced one counts."""
    disk.add("/one/app/bin/a", build_id=OTHER_ID, has_dwarf=True)
    right = disk.add("/two/app/bin/a", build_id=BUILD_ID, has_dwarf=True)

    found = finder_of(disk, ("/", "/none"), ("/", "/one"), ("/", "/two")).find(
        mapping(build_id=BUILD_ID)
    )

    assert found.object is right
    assert found.host_path == str(disk.path("/two/app/bin/a"))
    assert disk.tried(found) == [
        ("/none/app/bin/a", "MISSING"),
        ("/one/app/bin/a", "OTHER_BUILD_ID"),
        ("/two/app/bin/a", "USED"),
    ]


def test_a_stripped_object_gives_way_to_the_same_one_with_debug_information(disk):
    """A sysroot has the stripped one, the build directory the other."""
    disk.add("/root/app/bin/a", build_id=BUILD_ID)
    built = disk.add("/out/bin/a", build_id=BUILD_ID, has_dwarf=True)

    found = finder_of(disk, ("/", "/root"), ("/app", "/out")).find(mapping())

    assert found.object is built
    assert found.source is DebugSource.OBJECT


def test_a_stripped_object_does_not_give_way_to_another_build(disk):
    """The first one says which build ID it must be."""
    stripped = disk.add("/root/app/bin/a", build_id=BUILD_ID)
    disk.add("/out/bin/a", build_id=OTHER_ID, has_dwarf=True)

    found = finder_of(disk, ("/", "/root"), ("/app", "/out")).find(mapping())

    assert found.object is stripped
    assert found.source is DebugSource.SYMBOLS_ONLY
    assert found.host_path == str(disk.path("/root/app/bin/a"))


def test_the_reason_why_there_is_no_object_is_the_most_telling_one(disk):
    """Another file says more than a missing one."""
    disk.add("/two/app/bin/a", build_id=OTHER_ID)

    found = finder_of(disk, ("/", "/one"), ("/", "/two")).find(
        mapping(build_id=BUILD_ID)
    )

    assert found.object_refusal.outcome is Outcome.OTHER_BUILD_ID
    assert found.is_other_file


def test_the_debug_directory_of_a_sysroot_is_searched(disk):
    """``/usr/lib/debug`` of the traced machine, behind this machine's own."""
    disk.add("/root/app/bin/a", build_id=BUILD_ID)
    there = f"/root{disk.path('/usr/lib/debug')}/.build-id/ab/cdef1234.debug"
    debug = disk.add(there, build_id=BUILD_ID, has_dwarf=True)

    found = finder_of(disk, ("/", "/root")).find(mapping())

    assert found.debug is debug
    assert disk.tried(found)[1:] == [
        ("/usr/lib/debug/.build-id/ab/cdef1234.debug", "MISSING"),
        (there, "USED"),
    ]


def test_a_debug_link_is_looked_for_below_each_prefix(disk):
    """Next to the object there, in ``.debug``, then in the global directory."""
    disk.add("/one/app/bin/a", build_id=BUILD_ID)
    debug = disk.add("/out/bin/.debug/a.debug", has_dwarf=True)

    found = finder_of(disk, ("/", "/one"), ("/app", "/out")).find(
        mapping(debug_link=("a.debug", debug.crc))
    )

    assert found.debug is debug
    linked = [place for place in disk.tried(found) if place[0].endswith("a.debug")]
    assert linked == [
        ("/one/app/bin/a.debug", "MISSING"),
        ("/one/app/bin/.debug/a.debug", "MISSING"),
        ("/out/bin/a.debug", "MISSING"),
        ("/out/bin/.debug/a.debug", "USED"),
    ]
