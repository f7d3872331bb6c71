"""What sessions want of programs."""

from __future__ import annotations

import pytest

from vestige.record.backends.lttng_ust.plan import (
    ChannelPlan,
    ContextPlan,
    RulePlan,
    SessionPlan,
    with_objects_apart,
)

IP, VPID = ContextPlan("IP"), ContextPlan("VPID")
EVERYTHING = {"start", "bin_info", "build_id", "debug_link", "procname", "end"}


def session(*channels, output="/o"):
    """Return a session of such channels."""
    where = (output, "/rings", False, True, False)
    return SessionPlan("s", 0, 0, 0.0, *where, channels, (None, None, None))


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (RulePlan("*"), EVERYTHING),
        (RulePlan("lttng_ust_statedump:b*"), {"bin_info", "build_id"}),
        (RulePlan("app:*"), set()),
        (RulePlan("*", "RANGE", 13), EVERYTHING),
        (RulePlan("*", "RANGE", 12), set()),
        (RulePlan("*", "SINGLE", 13), EVERYTHING),
        (RulePlan("*", "SINGLE", 14), set()),
        (RulePlan("*", exclusions=("lttng_ust_statedump:*",)), set()),
        (RulePlan("*", exclusions=("*:procname", "a")), EVERYTHING - {"procname"}),
    ],
)
def test_the_daemon_tells_what_rules_take_of_a_state_dump(rule, expected):
    """If addresses and their processes are recorded, and both are enabled."""
    channel = ChannelPlan("c", 4096, 4, contexts=(IP, VPID), rules=((rule, True),))
    assert session(channel).state_events() == expected
    assert session(channel._replace(contexts=(VPID,))).state_events() == (
        # What traces function calls may be recorded.
        expected if rule.name == "*" else set()
    )
    assert not session(channel._replace(contexts=(IP,))).state_events()
    assert not session(channel._replace(is_enabled=False)).state_events()
    assert not session(channel._replace(rules=((rule, False),))).state_events()


def test_of_snapshots_only_contexts_that_somebody_wants_count():
    """The channel for objects has them always."""
    rules = ((RulePlan("app:*"), True), (RulePlan("lttng_ust_statedump:*"), True))
    plain = ChannelPlan("c", 4096, 4, rules=rules)
    assert not session(*with_objects_apart((plain,))).state_events()
    wanted = plain._replace(contexts=(IP, VPID))
    assert session(*with_objects_apart((wanted,))).state_events() == EVERYTHING


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
