"""What stands in for ``typing`` while the package runs."""

from __future__ import annotations

import copy
import inspect
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


@pytest.mark.parametrize("count", [1, 3, 4, 5, 20])
def test_the_first_instances_of_a_named_tuple_are_like_all_others(count):
    """A class is compiled when it has some."""

    class Fresh(NamedTuple):
        """A point."""

        x: int
        y: int = 7

    class Special(Fresh):
        """A point of a subclass."""

    made = [kind(*words) for kind in (Fresh, Special) for words in [(1,)] * count]
    named = [kind(y=2, x=1) for kind in (Fresh, Special) for _ in range(count)]

    assert {*made} == {(1, 7)}
    assert {*named} == {(1, 2)}
    assert {*map(type, made)} == {*map(type, named)} == {Fresh, Special}


@pytest.mark.parametrize("before", [0, 20])
@pytest.mark.parametrize(
    ("values", "names"), [((), {}), ((1, 2, 3), {}), ((1,), {"x": 1}), ((1,), {"z": 1})]
)
def test_wrong_arguments_of_a_named_tuple_are_refused(before, values, names):
    """Also those of the first instance, with the words of the library."""

    class Fresh(NamedTuple):
        x: int
        y: int = 7

    for _ in range(before):
        Fresh(1)
    with pytest.raises(TypeError) as theirs:
        Theirs(*values, **names)
    with pytest.raises(TypeError) as ours:
        Fresh(*values, **names)

    error = str(ours.value).replace("Fresh", "Theirs")
    assert error.split(".")[-1] == str(theirs.value).split(".")[-1]


def test_a_named_tuple_can_be_looked_into():
    """Its signature, its fields in a match, its dictionary, its copies."""
    one = Ours(3)

    assert str(inspect.signature(Ours)) == "(x, y=None)"
    assert one._asdict() == {"x": 3, "y": None}
    assert copy.copy(one) == copy.deepcopy(one) == Ours._make([3, None])
    match one:
        case Ours(x, y):
            assert (x, y) == (3, None)
    with pytest.raises(ValueError, match="'z'"):
        one._replace(z=1)
    with pytest.raises(TypeError, match="Expected 2 arguments, got 1"):
        Ours._make([1])


def test_a_default_comes_before_no_field_without_one():
    """As in the library."""
    with pytest.raises(TypeError, match="without a default"):

        class _Wrong(NamedTuple):
            x: int = 1
            y: int


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
