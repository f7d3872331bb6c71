"""Patterns of functions, as the tracer reads them."""

from __future__ import annotations

import pytest

from vestige.errors import SelectionError
from vestige.record import RecordingOptions
from vestige.record.rules.function_patterns import encode_patterns


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("parse_*", ":parse_*"),
        ("libfoo.so*:parse_[a-f]?", "libfoo.so*:parse_[a-f]?"),
        ("ns::Class::*", ":ns%3A%3AClass%3A%3A*"),
        ("app:ns::f", "app:ns%3A%3Af"),
        ("operator new", ":operator%20new"),
        ("a::operator()", ":a%3A%3Aoperator%28%29"),
        ("a::operator<<", ":a%3A%3Aoperator%3C%3C"),
        ("(anonymous namespace)::f", ":%28anonymous%20namespace%29%3A%3Af"),
        ("größe,50%", ":gr%C3%B6%C3%9Fe%2C50%25"),
        ("0x1000-0x10Ff", ":=1000-10ff"),
        ("lib.so:0X1000", "lib.so:=1000-1001"),
    ],
)
def test_a_pattern_is_one_word(pattern, expected):
    """Without what separates words of the tracer's variable."""
    assert encode_patterns([pattern], []) == (expected, "")
    assert encode_patterns([], [pattern, "x"]) == ("", f"{expected},:x")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", "expected [OBJECT:]NAME"),
        ("lib.so:", "expected [OBJECT:]NAME"),
        (":f", "expected [OBJECT:]NAME"),
        ("f(int)", "without parameters"),
        ("A<int>::f", "without template arguments"),
        ("0x10-20", "expected 0xSTART-0xEND"),
        ("0x", "expected 0xSTART-0xEND"),
        ("0x20-0x20", "an end above the start"),
    ],
)
def test_a_pattern_that_can_match_nothing(pattern, expected):
    """Is named."""
    with pytest.raises(SelectionError) as raised:
        RecordingOptions(exclude=(pattern,))

    assert str(raised.value).startswith(f"'{pattern}': ")
    assert expected in str(raised.value)


@pytest.mark.parametrize("patterns", [["f"] * 257, ["f" * 16_000]])
def test_the_tracer_has_room_for_so_many(patterns):
    """More are refused."""
    with pytest.raises(SelectionError, match="patterns of functions: expected up to"):
        RecordingOptions(include=tuple(patterns))
