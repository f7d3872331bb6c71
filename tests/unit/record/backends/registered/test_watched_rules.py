"""Which rules of triggers there is room for."""

from __future__ import annotations

from vestige.record.backends.lttng_ust.plan import NotifierPlan, RulePlan
from vestige.record.backends.registered.watched_rules import fair_choice


def plan(token: int, uid: int) -> NotifierPlan:
    """Return a rule."""
    return NotifierPlan(token, uid, RulePlan("a"))


def test_a_user_with_many_rules_leaves_room_for_others() -> None:
    """Each user has the first ones; they stay in their order."""
    many = [plan(number, 7) for number in range(10)]
    others = [plan(10, 8), plan(11, 9), plan(12, 9)]

    assert fair_choice([*many, *others], 13) == (*many, *others)
    chosen = [one.token for one in fair_choice([*many, *others], 6)]
    assert chosen == [0, 1, 2, 10, 11, 12]
