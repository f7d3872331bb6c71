"""The model: frozen values, equal when their parts are."""

from __future__ import annotations

import dataclasses

import pytest

from vestige import model
from vestige.model import (
    ClockClass,
    EnumerationFieldClass,
    EnumerationMapping,
    IntegerFieldClass,
    Member,
    StringFieldClass,
    StructureFieldClass,
)

BYTE = IntegerFieldClass(alignment=8, visible=True, size=8, signed=False, base=10)
TEXT = StringFieldClass(alignment=8, visible=True)


@pytest.mark.parametrize("name", model.__all__)
def test_every_part_is_a_frozen_value(name):
    """Nobody can change what the metadata said; no part has a dictionary of its own."""
    part = getattr(model, name)

    assert dataclasses.is_dataclass(part)
    assert part.__dataclass_params__.frozen
    assert not hasattr(object.__new__(part), "__dict__")


def test_a_part_cannot_be_changed():
    """Also not by mistake."""
    clock = ClockClass("monotonic", 10**9, 0, 0)

    with pytest.raises(dataclasses.FrozenInstanceError):
        clock.frequency = 1


def test_a_clock_has_the_defaults_of_the_specification():
    """Precision 1, no identity, not absolute (CTF 1.8.3, section 8)."""
    clock = ClockClass("monotonic", 10**9, 3, 4)

    assert (clock.offset_seconds, clock.offset_cycles) == (3, 4)
    assert (clock.precision, clock.uuid, clock.description) == (1, None, None)
    assert clock.absolute is False


def test_a_member_is_found_by_its_name():
    """Or None, for a name that the structure does not have."""
    first, second = Member("a", BYTE), Member("b", TEXT)
    structure = StructureFieldClass(alignment=8, visible=True, members=(first, second))

    assert structure.member("a") is first
    assert structure.member("b") is second
    assert structure.member("c") is None


def test_an_enumeration_is_an_integer_with_labels():
    """What handles integers handles enumerations."""
    mappings = (EnumerationMapping("LOW", 0, 3), EnumerationMapping("ANY", 0, 255))
    made = EnumerationFieldClass(
        alignment=8, visible=True, size=8, signed=False, base=10, mappings=mappings
    )

    assert isinstance(made, IntegerFieldClass)
    assert made != BYTE
    assert dataclasses.replace(made) == made
