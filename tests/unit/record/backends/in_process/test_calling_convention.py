"""Where arguments are by the calling convention of x86-64."""

from __future__ import annotations

from vestige.record.backends.in_process.calling_convention import conventional_places

INT = ("int", 4)
REAL = ("float", 8)
EXTENDED = ("float", 16)
SMALL = ("other", 16)
LARGE = ("other", 24)


def test_registers_are_taken_in_turn_and_then_the_stack():
    """Each kind has registers of its own; what is left over is in order."""
    places = conventional_places([INT] * 7 + [REAL] * 9 + [INT], None)
    assert places[:7] == [5, 4, 1, 2, 8, 9, "stack+0"]
    assert places[7:] == [*range(17, 25), "stack+8", "stack+16"]


def test_what_is_large_is_on_the_stack():
    """Long doubles at multiples of their size."""
    assert conventional_places([LARGE, INT, EXTENDED, INT], INT) == [
        "stack+0",
        5,
        "stack+32",
        4,
    ]


def test_what_depends_on_a_structure_is_not_told():
    """Small ones may be in registers of either kind, a large result takes the first."""
    assert conventional_places([INT, SMALL, INT], None) == [5, None, None]
    assert conventional_places([INT], LARGE) == [4]
    assert conventional_places([INT], SMALL) == [None]
