"""Which events a recording has."""

from __future__ import annotations

import pytest

from vestige.errors import SelectionError
from vestige.record.backends.in_process.metadata import event_names
from vestige.record.rules.event_rules import EventRule, compile_rules
from vestige.record.rules.events import EVENT_NAMES, Selection, select

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
    """Those of functions have a level; a filter has nothing to look at in them."""
    entries, exits, base_addresses = expected

    assert select(compile_rules([rule]), None) == Selection(
        entries, exits, base_addresses=base_addresses
    )


def test_a_filter_needs_fields():
    """Where only events without any are asked for, it is a mistake."""
    rules = compile_rules([EventRule(f"{FAST}:func_entry", filter="addr == 1")])
    with pytest.raises(SelectionError, match="expected no filter"):
        select(rules, None)


def test_the_metadata_know_what_may_be_chosen():
    """Each name is that of an event class, but for those of base addresses."""
    assert set(EVENT_NAMES) >= {
        name
        for name in event_names()
        if not name.startswith(("vestige:", "vestige_python:"))
    }
