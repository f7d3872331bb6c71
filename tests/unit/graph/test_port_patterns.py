"""Patterns of port names."""

from __future__ import annotations

import pytest

from vestige.graph.port_patterns import is_port_pattern, matches


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("*", "", True),
        ("*", "out", True),
        ("out", "out", True),
        ("out", "outer", False),
        ("in*", "in0", True),
        ("in*", "min0", False),
        ("*0", "in10", True),
        ("*a*a*", "banana", True),
        ("*a*b*", "banana", False),
        ("ab*bc", "abc", False),
        ("a**c", "abc", True),
        (r"a\*", "a*", True),
        (r"a\*", "ab", False),
        (r"\?\[", "?[", True),
    ],
)
def test_stars_stand_for_any_text(pattern, name, expected):
    """All other characters stand for themselves."""
    assert matches(pattern, name) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a*", True), ("", False), ("a?", False), ("[a]", False), (r"\?", True)],
)
def test_signs_for_later_need_a_backslash(text, expected):
    """So that they can become patterns."""
    assert is_port_pattern(text) is expected
