"""A trigger: a condition, and what is done when it is satisfied."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from ..names import check_named
from ..protocol import Values
from ..refusals import refused
from .actions import Action, read_actions
from .conditions import Condition, EventRuleMatches, read_condition

__all__ = ["Trigger", "read_trigger"]

LARGEST_UID = (1 << 32) - 2
"""One more is for system calls: no user."""
DISCARDED = (
    "discarded tracer messages",
    (
        "Count of messages discarded by the tracer due to a communication error with "
        "the session daemon"
    ),
)
"""What a count of errors is called, and what is said of it."""


@dataclass(eq=False)
class Trigger:
    """A trigger of a user."""

    name: str
    uid: int
    condition: Condition
    actions: list[Action]
    is_list: bool = True
    """Whether its actions were given as a list."""

    is_anonymous: bool = False
    """Whether only programs see it, that have registered it without a name."""

    token: int = 0
    """What tells it from all others of a daemon, also from those that are gone."""

    discarded: int = 0
    """Matches that programs could not tell."""

    was_met: dict[str, bool] = field(default_factory=dict)
    """Whether its condition was met at last, of each session that it looks at."""

    _stored: tuple[list[list[int]], str] | None = None
    """What was written of it, with these counts."""

    def to_json(self, *, with_errors: bool = True) -> dict[str, Any]:
        """Return what JSON can say of it.

        Args:
            with_errors: Whether counts of errors are told.
        """
        condition = self.condition.to_json()
        actions = [one.to_json(with_errors=with_errors) for one in self.actions]
        if with_errors:
            condition["errors"] = []
            if isinstance(self.condition, EventRuleMatches):
                name, about = DISCARDED
                condition["errors"] = [
                    {"name": name, "description": about, "value": self.discarded}
                ]
        found: dict[str, Any] = {
            "name": self.name,
            **({"is_anonymous": True} if self.is_anonymous else {}),
            "owner_uid": self.uid,
            "condition": condition,
            "action": {"type": "list", "actions": actions}
            if self.is_list
            else actions[0],
        }
        if with_errors:
            found["errors"] = []
        return found

    def notifies(self) -> bool:
        """Tell whether subscribers are told when it fires."""
        return any(one.type == "notify" for one in self.actions)

    def to_store(self) -> str:
        """Return what the next daemon needs, as JSON.

        All triggers are written when one of them changes, and nearly all as they were.
        """
        counts = [[one.requests, one.failures] for one in self.actions]
        if self._stored is None or self._stored[0] != counts:
            values = {**self.to_json(with_errors=False), "counts": counts}
            self._stored = (counts, json.dumps(values))
        return self._stored[1]


def read_trigger(values: Values, uid: int) -> Trigger:
    """Return a trigger that a client sent.

    Args:
        values: Its members; without a name, it is empty in what is returned.
        uid: Whose it is if they do not say so.

    Raises:
        SessionError: It is none.
    """
    condition = values.member("condition")
    if condition is None:
        raise refused("INVALID_TRIGGER", "expected a 'condition'")
    actions, is_list = read_actions(values.member("action"))
    name = values.optional_text("name") or ""
    if name:
        check_named(name)
    owner = values.number("owner_uid", uid)
    if not 0 <= owner <= LARGEST_UID:
        raise refused("INVALID", "expected a user as 'owner_uid'")
    made = Trigger(name, owner, read_condition(condition), actions, is_list)
    made.is_anonymous = values.flag("is_anonymous")
    return made


def restored_trigger(values: dict[str, Any]) -> Trigger:
    """Return a trigger that :meth:`Trigger.to_store` described.

    Args:
        values: The description.

    Raises:
        SessionError: It is none.
        KeyError: As above.
        TypeError: As above.
        ValueError: As above.
    """
    trigger = read_trigger(Values(values), values["owner_uid"])
    for action, (requests, failures) in zip(
        trigger.actions, values["counts"], strict=True
    ):
        action.requests, action.failures = int(requests), int(failures)
    return trigger
