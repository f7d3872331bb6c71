"""What sessions want of programs."""

from __future__ import annotations

import pytest

from vestige.record.backends.lttng_ust.plan import RulePlan


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("*", ["lttng_ust_statedump:*"]),
        ("lttng*", ["lttng_ust_statedump:*"]),
        ("*_*", ["lttng_ust_statedump:*"]),
        ("*:start", ["lttng_ust_statedump:start"]),
        (
            "*_statedump:b*",
            ["lttng_ust_statedump:bin_info", "lttng_ust_statedump:build_id"],
        ),
        ("app:*", []),
        ("lttng_ust_lib:*", []),
        (r"\*", []),
        (r"lttng_ust_statedump\:end", ["lttng_ust_statedump:end"]),
        ("[a-z]*", []),
        ("", []),
        ("\\", []),
    ],
)
def test_the_part_for_the_state_dump_is_what_a_rule_takes_of_it(name, expected):
    """With the same conditions."""
    rule = RulePlan(name, "RANGE", 13, "a > 1", ("b:*",))

    assert rule.for_state() == [rule._replace(name=one) for one in expected]
