"""Fields behave as the numbers, texts and containers that they are."""

from __future__ import annotations

import numbers

import pytest

from vestige.compat.bt2 import field_classes, fields
from vestige.compat.bt2.field_classes import (
    _DynamicArrayFieldClassConst,
    _OptionFieldClassConst,
    _SignedEnumerationFieldClassConst,
    _StringFieldClassConst,
    _StructureFieldClassConst,
    _StructureFieldClassMemberConst,
    _UnsignedIntegerFieldClassConst,
    _VariantFieldClassOptionConst,
    _VariantFieldClassWithUnsignedIntegerSelectorConst,
)
from vestige.compat.bt2.fields import field_of

INTEGER = _UnsignedIntegerFieldClassConst(field_value_range=8)


def test_numbers() -> None:
    """They compute with plain numbers and with each other; results are plain."""
    five = field_of(5, INTEGER)

    assert isinstance(five, numbers.Integral)
    assert (five + 1, 1 + five, five - 7, 7 - five) == (6, 6, -2, 2)
    assert (five * five, 2**five, five / 2, five // 2, -five) == (25, 32, 2.5, 2, -5)
    assert (five % 3, 11 % five, divmod(five, 3), five << 1, five & 4) == (
        *(2, 1, (1, 2)),
        *(10, 4),
    )
    assert five == 5.0
    assert five != "5"
    assert 4 < five <= 5
    assert {5: "it"}[five] == "it"
    assert (int(five), float(five), repr(five), f"{five:03}") == (5, 5.0, "5", "005")
    assert [*range(9)][five] == 5
    assert type(five + five) is int
    with pytest.raises(TypeError, match="unorderable types"):
        five < "6"  # noqa: B015 - asking is the test


def test_reals() -> None:
    """They are no integers."""
    half = field_of(0.5, field_classes._DoublePrecisionRealFieldClassConst())

    assert isinstance(half, numbers.Real)
    assert not isinstance(half, numbers.Integral)
    assert half * 2 == 1
    assert round(half) == 0


def test_strings() -> None:
    """They compare with texts."""
    text = field_of("abc", _StringFieldClassConst())

    assert text == "abc" < text + "d" if hasattr(text, "__add__") else text == "abc"
    assert text < "abd"
    assert (text[1], len(text), str(text), repr(text)) == ("b", 3, "abc", "'abc'")
    assert {"abc": 1}[text] == 1


def test_enumerations() -> None:
    """They know the labels of their values."""
    found = _SignedEnumerationFieldClassConst(
        mappings={"low": [(-5, 0)], "even": [(0, 0), (2, 2)]}
    )

    assert field_of(0, found).labels == ["low", "even"]
    assert field_of(7, found).labels == []
    assert repr(field_of(2, found)) == "2 (even)"
    assert found["even"].ranges.contains_value(2)
    assert isinstance(field_of(0, found), fields._SignedIntegerFieldConst)


def test_containers() -> None:
    """What is in them are fields, whatever is asked for."""
    array = _DynamicArrayFieldClassConst(element_field_class=INTEGER)
    option = _OptionFieldClassConst(field_class=INTEGER)
    variant = _VariantFieldClassWithUnsignedIntegerSelectorConst(
        options=[
            _VariantFieldClassOptionConst(name="a", field_class=INTEGER, ranges=[]),
            _VariantFieldClassOptionConst(name="b", field_class=array, ranges=[]),
        ]
    )
    structure = _StructureFieldClassConst(
        members=[
            _StructureFieldClassMemberConst(name=name, field_class=one)
            for name, one in (("o", option), ("v", variant))
        ]
    )

    field = field_of({"o": None, "v": (1, [1, 2])}, structure)

    assert field == {"o": None, "v": [1, 2]}
    assert not field["o"].has_field
    assert field["v"].selected_option_index == 1
    assert type(field["v"].selected_option[1]) is fields._UnsignedIntegerFieldConst
    assert field.member_at_index(1) == [1, 2]
    assert repr(field) == "{'o': None, 'v': [1, 2]}"
    assert len(field) == 2
    with pytest.raises(IndexError, match="out of range"):
        field["v"].selected_option[2]
    with pytest.raises(TypeError, match="does not support item assignment"):
        field["o2"] = 1
