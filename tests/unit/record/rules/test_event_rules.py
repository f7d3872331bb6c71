"""Rules that choose events, as options tell them."""

from __future__ import annotations

import pytest

from vestige.errors import SelectionError
from vestige.record.rules.event_rules import (
    HIGHEST,
    LOWEST,
    MOST_PATTERNS,
    EventRule,
    compile_rules,
    split_names,
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a:b", ["a:b"]),
        ("a:b,c:d", ["a:b", "c:d"]),
        (r"a:b\,c,d:*", [r"a:b\,c", "d:*"]),
        (r"a:b\\,c:d", [r"a:b\\", "c:d"]),
        ("a:b,", ["a:b", ""]),
    ],
)
def test_lists_of_names(text, names):
    """A backslash takes its meaning from a comma."""
    assert split_names(text) == names


@pytest.mark.parametrize(
    ("pattern", "taken", "left"),
    [
        ("app:*", ["app:", "app:read"], ["application:read", "app"]),
        ("*", ["a:b"], []),
        ("*:read", ["a:read", "a:b:read"], ["a:reader"]),
        ("a*c:d*f", ["abc:def", "ac:df"], ["abc:de"]),
        (r"app:\*", ["app:*"], ["app:read"]),
        (r"app:\?\[x]", ["app:?[x]"], ["app:a[x]", "app:?x"]),
        (r"app:a\,b", ["app:a,b"], []),
        (r"app:a\\b", [r"app:a\b"], ["app:ab"]),
        ("app:[rw]ead", ["app:read"], ["app:lead"]),
        ("App:read", ["App:read"], ["app:read"]),
    ],
)
def test_patterns_match_full_names(pattern, taken, left):
    """Provider, colon and name."""
    (rule,) = compile_rules([pattern])

    assert [name for name in [*taken, *left] if rule.takes_name(name, 13)] == taken


def test_exclusions():
    """Are patterns, too; several, with commas or without."""
    (rule,) = compile_rules([EventRule("app:*", exclude=("app:a*,app:b", "app:c"))])
    names = ["app:a", "app:ab", "app:b", "app:bc", "app:c", "app:d"]

    assert [name for name in names if rule.takes_name(name, 0)] == ["app:bc", "app:d"]


@pytest.mark.parametrize(
    ("level", "number"),
    [
        ("EMERG", 0),
        ("WARNING", 4),
        ("INFO", 6),
        ("info", 6),
        ("TRACE_INFO", 6),
        ("LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO", 6),
        ("DEBUG_LINE", 13),
        ("TRACE_DEBUG", 14),
        ("6", 6),
        (6, 6),
    ],
)
def test_log_levels(level, number):
    """By name, by the name in a program, by number."""
    (least,) = compile_rules([EventRule("a:*", level=level)])
    (only,) = compile_rules([EventRule("a:*", only_level=level)])

    assert least.levels == (LOWEST, number)
    assert only.levels == (number, number)
    assert least.takes_name("a:b", number)
    assert not least.takes_name("a:b", number + 1)
    assert least.takes_name("a:b", number - 1)
    assert not only.takes_name("a:b", number - 1)


def test_all_levels_without_a_condition():
    """Also those of other numbers."""
    (rule,) = compile_rules(["a:*"])

    assert rule.levels == (LOWEST, HIGHEST)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("", "no event matches ''"),
        ("func_entry", "no event matches 'func_entry': expected PROVIDER:NAME"),
        (":name", "no event matches ':name'"),
        ("app:", "no event matches 'app:'"),
        ("a:b,", "no event matches ''"),
        ("a:b\\", "expected a character after the last"),
        ("a:\0", "expected no character of code 0"),
        (EventRule("a:*", level="LOUD"), "no log level 'LOUD': expected 0 to 14"),
        (EventRule("a:*", level=15), "no log level '15'"),
        (EventRule("a:*", level=-1), "no log level '-1'"),
        (EventRule("a:*", level="INFO", only_level=3), "not both"),
        (EventRule("a:*", filter="1 +"), r"filter '1 \+', column 3"),
    ],
)
def test_what_is_no_rule(rule, expected):
    """Is refused, and told what would be one."""
    with pytest.raises(SelectionError, match=expected):
        compile_rules([rule])


def test_too_many_patterns():
    """The tracer has room for so many."""
    assert len(compile_rules(["a:b"] * MOST_PATTERNS)) == MOST_PATTERNS
    with pytest.raises(SelectionError, match="1,025 patterns of events"):
        compile_rules(["a:b"] * MOST_PATTERNS + ["a:c"])
