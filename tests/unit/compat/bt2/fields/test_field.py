"""Fields behave as the numbers, texts and containers that they are."""

from __future__ import annotations

import numbers

import pytest

from vestige.compat import bt2
from vestige.compat.bt2.fields import field as fields
from vestige.compat.bt2.fields import field_classes
from vestige.compat.bt2.fields.field import field_of
from vestige.compat.bt2.fields.field_classes import (
    _DynamicArrayFieldClassConst,
    _OptionFieldClassConst,
    _SignedEnumerationFieldClassConst,
    _StringFieldClassConst,
    _StructureFieldClassConst,
    _StructureFieldClassMemberConst,
    _UnsignedIntegerFieldClassConst,
    _VariantFieldClassOptionConst,
    _VariantFieldClassWithUnsignedIntegerSelectorConst,
    const_field_class,
)
from vestige.compat.bt2.fields.made_field_classes import FieldClassFactory
from vestige.compat.bt2.fields.made_fields import field_of_class

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


def test_made_fields_are_fields_that_can_be_read() -> None:
    """Scripts ask for the class of such a field, whoever made it."""
    kinds = FieldClassFactory()
    number = kinds.create_unsigned_integer_field_class(8)
    for made in (
        kinds.create_bool_field_class(),
        kinds.create_bit_array_field_class(8),
        number,
        kinds.create_signed_enumeration_field_class(8),
        kinds.create_single_precision_real_field_class(),
        kinds.create_string_field_class(),
        kinds.create_structure_field_class([("n", number)]),
        kinds.create_static_array_field_class(number, 2),
        kinds.create_dynamic_array_field_class(number),
        kinds.create_option_without_selector_field_class(number),
        kinds.create_variant_field_class(),
    ):
        field = field_of_class(made)
        assert isinstance(field, const_field_class(made)._field_type)
        assert field.cls is made
    assert isinstance(field_of_class(number), bt2._IntegerFieldConst)


def test_made_fields_refuse_what_they_cannot_hold() -> None:
    """Bits keep as many as there are, and containers take no plain number."""
    kinds = FieldClassFactory()
    row = kinds.create_structure_field_class([("n", kinds.create_bool_field_class())])
    bits = field_of_class(kinds.create_bit_array_field_class(8))
    rows = field_of_class(kinds.create_static_array_field_class(row, 2))
    variant_class = kinds.create_variant_field_class()
    variant_class.append_option("row", row)

    bits.value_as_integer = 0x1FE
    assert bits.value_as_integer == 0xFE
    assert bits != 0xFE
    with pytest.raises(TypeError):
        bits.value_as_integer = "eleven"
    with pytest.raises(TypeError, match="only numbers and texts"):
        rows[1] = 23
    with pytest.raises(TypeError, match="'int' is not a 'str'"):
        field_of_class(row)[3]
    assert len(field_of_class(variant_class)) == 1
    with pytest.raises(NotImplementedError):
        bool(field_of_class(variant_class))


def test_made_enumerations_show_their_labels() -> None:
    """As those that are read do."""
    kind = FieldClassFactory().create_signed_enumeration_field_class(8)
    kind.add_mapping("low", bt2.SignedIntegerRangeSet([(-5, 3)]))
    field = field_of_class(kind)

    field.value = 2

    assert str(field) == "2 (low)"


def test_a_member_tells_the_class_that_it_was_given() -> None:
    """Another structure can have it, too; the read-only view tells a read-only one."""
    kinds = FieldClassFactory()
    number = kinds.create_bool_field_class()
    structure = kinds.create_structure_field_class([("n", number)])

    assert structure["n"].field_class is number
    assert structure.member_at_index(0).field_class is number
    view = const_field_class(structure)["n"].field_class
    assert type(view) is field_classes._BoolFieldClassConst
