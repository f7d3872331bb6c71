"""Values of parameters and of answers."""

from __future__ import annotations

import pytest

from vestige.compat import bt2
from vestige.compat.bt2.values.value import const_value, plain_value

PLAIN = {"n": None, "b": True, "i": -1, "r": 0.5, "s": "x", "a": [1, [2]], "m": {}}


def test_values_are_what_they_are_made_of() -> None:
    """All kinds, one in the other; and back."""
    value = bt2.create_value(PLAIN)

    assert value == PLAIN
    assert plain_value(value) == PLAIN
    assert type(value["i"]) is bt2.SignedIntegerValue
    assert type(value["a"][1]) is bt2.ArrayValue
    assert type(value["b"]) is bt2.BoolValue
    with pytest.raises(TypeError, match="cannot create value object from 'object'"):
        bt2.create_value(object())


def test_const_values_cannot_be_changed() -> None:
    """What others change in them is seen."""
    value = bt2.create_value({"a": [1]})
    const = const_value(value)

    value["a"].append(2)

    assert const == {"a": [1, 2]}
    assert type(const["a"]) is bt2._ArrayValueConst
    with pytest.raises(TypeError):
        const["a"] = 1
    with pytest.raises(TypeError):
        hash(const)


def test_numbers_have_ranges() -> None:
    """As those of C."""
    with pytest.raises(ValueError, match="64-bit"):
        bt2.UnsignedIntegerValue(-1)
    assert bt2.UnsignedIntegerValue(1 << 63) == 1 << 63
