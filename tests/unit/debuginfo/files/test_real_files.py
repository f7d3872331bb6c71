"""The finder and the resolver on files that the system's own tools have made."""

from __future__ import annotations

from itertools import pairwise

import pytest

from support.separate_debug_files import BUILD_ID, MISSING, PLACES, Target, run
from vestige.debuginfo import DebugSource, Outcome, PlaceText

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}")


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
