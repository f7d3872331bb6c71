"""Which events a recording has."""

from __future__ import annotations

import pytest

from vestige.errors import SelectionError
from vestige.record.backends.in_process.metadata import event_names
from vestige.record.rules.event_rules import EventRule, compile_rules
from vestige.record.rules.events import (
    EVENT_NAMES,
    Selection,
    function_rules,
    select,
)

FAST = "lttng_ust_cyg_profile_fast"
VERBOSE = "lttng_ust_cyg_profile"


@pytest.mark.parametrize(
    ("patterns", "functions", "expected"),
    [
        ([], None, ("fast", "fast", False)),
        ([], "verbose", ("verbose", "verbose", False)),
        ([], "off", ("off", "off", False)),
        (["*"], None, ("fast", "fast", True)),
        (["*"], "verbose", ("verbose", "verbose", True)),
        (["*"], "off", ("off", "off", True)),
        ([f"{FAST}:*"], None, ("fast", "fast", False)),
        ([f"{VERBOSE}:*"], None, ("verbose", "verbose", False)),
        ([f"{VERBOSE}:func_exit", "ust_baddr:*"], None, ("off", "verbose", True)),
        (["*:func_entry"], None, ("fast", "off", False)),
        (["ust_baddr:*"], None, ("off", "off", True)),
        (["ust_baddr:*"], "fast", ("fast", "fast", True)),
        (["lttng_ust_statedump:*"], None, ("off", "off", False)),
        (["lttng_ust_lib:[lu]*load"], None, ("off", "off", False)),
    ],
)
def test_patterns_choose_events(patterns, functions, expected):
    """Those of functions and base addresses; all others are always there."""
    entries, exits, base_addresses = expected

    assert select(compile_rules(patterns), functions) == Selection(
        entries, exits, base_addresses=base_addresses
    )


def test_other_names_are_those_of_tracepoints():
    """Nobody knows them before the program runs."""
    rules = compile_rules(["foo:*", "UST_BADDR:*"])

    assert select(rules, None) == Selection("off", "off", base_addresses=False)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (EventRule("*", exclude=("*:func_exit",)), ("fast", "off", True)),
        (EventRule("*", level="INFO"), ("off", "off", False)),
        (EventRule("*", level="DEBUG_FUNCTION"), ("fast", "fast", False)),
        (EventRule("*", only_level=13), ("off", "off", True)),
        (EventRule("*", filter="number == 1"), ("off", "off", False)),
    ],
)
def test_conditions_hold_for_all_events(rule, expected):
    """Those of functions have a level, and no number."""
    entries, exits, base_addresses = expected

    assert select(compile_rules([rule]), None) == Selection(
        entries, exits, base_addresses=base_addresses
    )


@pytest.mark.parametrize(
    ("rules", "functions", "expected"),
    [
        ([EventRule(f"{FAST}:*", filter="addr == 1")], None, ("fast", "off")),
        ([EventRule(f"{VERBOSE}:*", filter="addr == 1")], None, ("verbose", "verbose")),
        ([EventRule("*", filter="addr == 1")], None, ("fast", "off")),
        ([EventRule("*", filter="$ctx.vtid == 1")], None, ("fast", "fast")),
        ([EventRule("*", filter="size == 1")], None, ("off", "off")),
        ([EventRule("*", filter="size == 1")], "fast", ("fast", "fast")),
        ([EventRule(f"{FAST}:*", filter="call_site > 1")], None, ("off", "off")),
        ([EventRule(f"{FAST}:*", filter="call_site > 1")], "verbose", ("verbose",) * 2),
        ([EventRule(f"{FAST}:func_entry")], "verbose", ("verbose", "off")),
    ],
)
def test_filters_of_functions_need_their_fields(rules, functions, expected):
    """What has none of them is not recorded, as if no rule took it."""
    entries, exits, _ = select(compile_rules(rules), functions)

    assert (entries, exits) == expected


@pytest.mark.parametrize("functions", ["fast", "verbose"])
def test_rules_are_for_the_form_that_is_asked_for(functions):
    """Which one they name, or whether they name none."""
    provider = FAST if functions == "fast" else VERBOSE
    conditions = {"level": "DEBUG", "filter": "addr == 1"}
    rules = compile_rules([EventRule(f"{VERBOSE}*:func_entry", **conditions)])
    own = compile_rules([EventRule(f"{provider}:func_entry", **conditions)])
    others = compile_rules(["app:*"])

    (found,) = (*rules, *function_rules(rules, functions))[-1:]
    assert (found.levels, found.code) == (own[0].levels, own[0].code)
    assert found.takes_name(own[0].glob, 12)
    assert [one.glob for one in function_rules(others, functions)] == [f"{provider}:*"]
    assert function_rules(others, "off") == function_rules(others, None) == ()


def test_what_addresses_need_has_no_filter():
    """Names would be missing."""
    rules = compile_rules([EventRule("ust_baddr:push", filter="size == 1")])
    with pytest.raises(SelectionError, match="expected no filter"):
        select(rules, None)


def test_the_metadata_know_what_may_be_chosen():
    """Each name is that of an event class, but for those of base addresses."""
    assert set(EVENT_NAMES) >= {
        name
        for name in event_names()
        if not name.startswith(("vestige:", "vestige_library:", "vestige_python:"))
    }
