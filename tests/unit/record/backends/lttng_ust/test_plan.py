"""What sessions want of programs."""

from __future__ import annotations

import pytest

from vestige.record.backends.lttng_ust.plan import (
    ChannelPlan,
    ContextPlan,
    RulePlan,
    with_objects_apart,
)


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


def test_what_tells_of_objects_has_a_channel_of_its_own():
    """Whatever rule takes it, and once; all else stays where it is."""
    vtid = ContextPlan("VTID")
    all_of_them = RulePlan("*", exclusions=("x*",))
    of_state = RulePlan("lttng_ust_statedump:*")
    channels = (
        ChannelPlan("a", 4096, 4, contexts=(vtid,), rules=((all_of_them, True),)),
        ChannelPlan("b", 4096, 4, rules=((of_state, False), (RulePlan("b:*"), True))),
    )
    first, second, objects = with_objects_apart(channels)
    others = ("lttng_ust_statedump:*", "lttng_ust_lib:*")
    assert first.rules == ((RulePlan("*", exclusions=("x*", *others)), True),)
    assert second.rules == ((RulePlan("b:*"), True),)
    assert objects.tells_of_objects
    assert objects.is_overwriting
    assert [one.kind for one in objects.contexts] == ["VPID", "IP", "VTID"]
    found = {rule.name: is_on for rule, is_on in objects.rules if rule.exclusions}
    assert found == dict.fromkeys(others, True)
    assert (of_state, False) in objects.rules


def test_its_name_is_no_other_channels():
    """Somebody may have called one so."""
    channels = (ChannelPlan("vestige-objects", 4096, 4),)
    assert with_objects_apart(channels)[-1].name == "vestige-objects-"
    assert with_objects_apart(channels)[-1].rules == ()
