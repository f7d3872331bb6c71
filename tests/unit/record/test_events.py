"""Which events a recording has."""

from __future__ import annotations

import pytest

from vestige.errors import SelectionError
from vestige.record.events import EVENT_NAMES, Selection, select
from vestige.record.metadata import event_names

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

    assert select(patterns, functions) == Selection(
        entries, exits, base_addresses=base_addresses
    )


@pytest.mark.parametrize("pattern", ["foo:*", "", "UST_BADDR:*", "func_entry"])
def test_a_pattern_that_matches_nothing(pattern):
    """Is refused, with the names that there are."""
    with pytest.raises(SelectionError) as raised:
        select(["*", pattern], None)

    assert f"no event matches '{pattern}'" in str(raised.value)
    assert all(name in str(raised.value) for name in EVENT_NAMES)


def test_the_metadata_know_what_may_be_chosen():
    """Each name is that of an event class, but for those of base addresses."""
    assert set(EVENT_NAMES) >= {
        name
        for name in event_names()
        if not name.startswith(("vestige:", "vestige_python:"))
    }
