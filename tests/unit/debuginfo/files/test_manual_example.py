"""The example of the GDB manual: four places, their order, and each reversal of it.

The program is ``/usr/bin/ls``, its debug link ``ls.debug``, its build ID
``abcdef1234``; the only global debug directory is ``/usr/lib/debug``.
"""

from __future__ import annotations

from itertools import combinations

import pytest

from support.separate_debug_files import MISSING, PLACES, Target, run
from vestige.debuginfo import DebugSource, Outcome, PlaceText

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}")

PAIRS = list(combinations(range(len(PLACES)), 2))


@pytest.fixture
def target(tmp_path):
    """The program, stripped, with its debug file kept aside."""
    target = Target(tmp_path)
    target.strip()
    return target


def found_at(target, *directories):
    """Return the last place of the search, as named on the target."""
    found = target.finder(*directories).find(target.mapping())
    return found.attempts[-1].path.removeprefix(str(target.root))


def damage(target, place):
    """Change one byte of a debug file that no table of the file describes."""
    path = target.path(place)
    content = bytearray(path.read_bytes())
    content[9] ^= 1  # padding in the ELF identification
    path.write_bytes(content)


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("newer", [0, 1])
def test_of_two_places_the_earlier_one_is_used(target, first, second, newer):
    """Whichever of the two was written last."""
    places = (PLACES[first], PLACES[second])
    target.install(places[1 - newer])
    target.install(places[newer])

    assert found_at(target) == PLACES[first]
    assert target.text(target.mapping()) == PlaceText(
        f"ls+{target.twice + 4:#x}", "twice+0x4", "twice.c:2"
    )


@pytest.mark.parametrize(("first", "second"), [p for p in PAIRS if p[0] > 0])
def test_one_byte_changed_in_the_earlier_place_leads_to_the_later(
    target, first, second
):
    """The CRC of the debug link tells them apart; the search goes on."""
    target.install(PLACES[first])
    damage(target, PLACES[first])
    target.install(PLACES[second])

    assert found_at(target) == PLACES[second]
    found = target.finder().find(target.mapping())
    outcomes = {attempt.path: attempt.outcome for attempt in found.attempts}
    assert outcomes[str(target.path(PLACES[first]))] is Outcome.OTHER_CRC


@pytest.mark.parametrize("second", [1, 2, 3])
def test_another_build_id_in_the_first_place_leads_to_a_later_one(target, second):
    """The file under the name of the build ID is that of another program."""
    target.install(PLACES[second])
    target.path(PLACES[0]).parent.mkdir(parents=True)
    source = target.root / "twice.c"
    other = ("-g", "-shared", "-fPIC", "-Wl,--build-id=0x1234abcdef")
    run("gcc", *other, source, "-o", target.path(PLACES[0]))

    found = target.finder().find(target.mapping())

    assert found.attempts[1].outcome is Outcome.OTHER_BUILD_ID
    assert found.attempts[1].detail == "1234abcdef instead of abcdef1234"
    assert found.attempts[-1].path == str(target.path(PLACES[second]))
    assert found.source is DebugSource.DEBUG_LINK


def test_wrong_files_in_all_places_leave_the_symbols_of_the_object(target):
    """Each is told, with both checksums."""
    for place in PLACES[1:]:
        target.install(place)
        damage(target, place)

    found = target.finder().find(target.mapping())

    assert found.source is DebugSource.SYMBOLS_ONLY
    refused = [one for one in found.attempts if one.outcome is Outcome.OTHER_CRC]
    assert [one.path for one in refused] == [str(target.path(p)) for p in PLACES[1:]]
    assert all(" instead of " in one.detail for one in refused)


def test_the_build_id_is_tried_in_each_directory_before_any_debug_link(target):
    """Two global directories, the file by build ID in the second."""
    target.install("/b/.build-id/ab/cdef1234.debug")
    target.install(PLACES[1])

    assert found_at(target, "/a", "/b") == "/b/.build-id/ab/cdef1234.debug"


def test_the_debug_link_is_tried_below_each_directory(target):
    """Two global directories, the file by debug link in the second."""
    target.install("/b/usr/bin/ls.debug")

    assert found_at(target, "/a", "/b") == "/b/usr/bin/ls.debug"


@pytest.mark.parametrize("name", ["a.debug", "ab.debug", "abc.debug", "abcd.debug"])
def test_a_debug_link_is_read_whatever_its_padding(tmp_path, name):
    """The CRC stands at the next multiple of four bytes."""
    target = Target(tmp_path)
    target.debug = target.debug.rename(target.root / name)
    target.strip()
    target.install(f"/usr/bin/.debug/{name}")

    assert found_at(target) == f"/usr/bin/.debug/{name}"


def test_a_debug_link_without_a_name_is_refused(target):
    """The section holds nothing but zero bytes and a CRC."""
    section = target.root / "link"
    section.write_bytes(b"\0\0\0\0\1\2\3\4")
    run("objcopy", f"--update-section=.gnu_debuglink={section}", target.object)
    target.install(PLACES[3])

    found = target.finder().find(target.mapping())

    assert found.source is DebugSource.SYMBOLS_ONLY
    linked = [one for one in found.attempts if one.kind.name == "DEBUG_LINK"]
    assert {one.outcome for one in linked} <= {Outcome.REFUSED_PATH}


def test_the_crc_of_a_large_file_is_that_of_all_of_it(target):
    """A debug file of 40 MB with a hole, whose last byte then changes."""
    large = target.debug.read_bytes() + bytes(40 << 20) + b"!"
    target.debug.write_bytes(large)
    run("objcopy", "--remove-section=.gnu_debuglink", target.object)
    run("objcopy", f"--add-gnu-debuglink={target.debug}", target.object)
    target.install(PLACES[1])
    assert found_at(target) == PLACES[1]

    target.path(PLACES[1]).write_bytes(large[:-1] + b"?")

    found = target.finder().find(target.mapping())
    assert Outcome.OTHER_CRC in {one.outcome for one in found.attempts}
    assert found.source is DebugSource.SYMBOLS_ONLY
