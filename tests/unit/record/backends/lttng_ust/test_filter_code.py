"""Filters are translated to the byte code of LTTng-UST."""

from __future__ import annotations

import pytest

from vestige.errors import SelectionError
from vestige.record.backends.lttng_ust.filter_code import filter_code


def test_a_comparison():
    """A name in the table behind the code, a number, the comparison."""
    code, names_at = filter_code("n == 5")
    assert code[:names_at] == (
        b"\x3b\xff\xff" + b"\x41" + (5).to_bytes(8, "little") + b"\x0c\x01"
    )
    # The place of the instruction, then the name.
    assert code[names_at:] == b"\x00\x00n\0"


def test_logical_operators_skip_their_right_side():
    """To where the result is, by an absolute place."""
    code, names_at = filter_code("a && b")
    assert code[:names_at] == (b"\x3b\xff\xff\x43\x39\x0b\x00\x3b\xff\xff\x43\x01")
    assert code[names_at:] == b"\x00\x00a\0\x07\x00b\0"


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ('s == "a\\\\b"', b"\x40a\\\\b\0"),
        ('s == "a\\*b"', b"\x40a\\*b\0"),
        ('s == "a*b\\*"', b"\x4ca*b\\*\0"),
    ],
)
def test_only_stars_of_a_pattern_stay_stars(text, operand):
    """All others are escaped."""
    code, names_at = filter_code(text)
    assert operand in code[:names_at]


def test_contexts_and_elements():
    """Contexts are found by their whole names, elements step by step."""
    code, names_at = filter_code("$ctx.vpid > 1 || $app.p:t == 1 || a[3] == 1")
    assert code[:names_at].count(b"\x46\xff\xff") == 2
    assert b"\x51\x52" in code[:names_at]
    assert b"\x55" + (3).to_bytes(8, "little") + b"\x56" in code[:names_at]
    assert code[names_at:].count(b"$ctx.vpid\0") == 1
    assert b"$app.p:t\0" in code[names_at:]


def test_what_is_no_filter_is_refused():
    """As everywhere."""
    with pytest.raises(SelectionError):
        filter_code("a +")
