"""What stands in for ``typing`` while the package runs."""

from __future__ import annotations

import pickle
import typing

import pytest

from vestige._typing import NamedTuple, NewType, cast
from vestige.damage import Damage


class Ours(NamedTuple):
    """A point."""

    x: int
    """Across."""
    y: NoSuchName | None = None  # noqa: F821 - nobody evaluates it

    origin = "upper left"

    @property
    def sum(self):
        """Both together."""
        return self.x + (self.y or 0)

    def __str__(self):
        """Return it in words."""
        return f"{self.x} across"


class Theirs(typing.NamedTuple):
    """A point."""

    x: int
    y: int | None = None


def test_a_named_tuple_is_one_of_the_library_in_all_that_is_used():
    """Fields, defaults, text, comparison, replacement and documentation."""
    one, other = Ours(1), Theirs(1)

    assert one == other == (1, None)
    assert repr(one) == repr(other).replace("Theirs", "Ours")
    assert Ours._fields == Theirs._fields
    assert Ours._field_defaults == Theirs._field_defaults
    assert Ours.__doc__ == Theirs.__doc__
    assert Ours.__bases__ == Theirs.__bases__ == (tuple,)
    assert Ours.__module__ == Theirs.__module__
    assert Ours.__qualname__ == "Ours"
    assert one._replace(y=2) == Ours(x=1, y=2)


def test_a_named_tuple_has_what_its_class_defines():
    """Properties, methods and attributes that are no fields."""
    one = Ours(1, 2)

    assert one.sum == 3
    assert str(one) == "1 across"
    assert Ours.origin == "upper left"


def test_annotations_of_a_named_tuple_are_never_evaluated():
    """They may name what is imported for type checkers alone."""
    assert Ours.__annotations__ == {"x": "int", "y": "NoSuchName | None"}


def test_a_named_tuple_needs_its_fields():
    """As any call does."""
    with pytest.raises(TypeError, match="required positional argument: 'x'"):
        Ours()


def test_a_named_tuple_goes_to_other_processes():
    """Its module and name lead back to it."""
    damage = Damage("stream", 1, 2, "kind", "message")

    copy = pickle.loads(pickle.dumps(damage))  # noqa: S301 - our own

    assert copy == damage
    assert type(copy) is Damage


def test_what_is_for_type_checkers_leaves_values_alone():
    """A cast and a number with a unit."""
    value = object()

    assert cast("int", value) is value
    assert NewType("Seconds", int)(5) == 5
    assert NewType("Seconds", int).__name__ == "Seconds"
