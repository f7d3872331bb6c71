"""The actions of triggers, and how often they are done."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ..protocol import Values
from ..refusals import refused

__all__ = ["Action", "RatePolicy", "SnapshotOutput", "read_actions"]

MOST_ACTIONS = 64
SESSION_TYPES = ("start-session", "stop-session", "rotate-session", "snapshot-session")
FAILURES = (
    "total execution failures",
    "Aggregated count of errors encountered when executing the action",
)
"""What a count of errors is called, and what is said of it."""


@dataclass(frozen=True)
class RatePolicy:
    """How many times a trigger fires for an action to be done."""

    type: str = "every-n"
    """``every-n`` or ``once-after-n``."""

    count: int = 1

    def is_due(self, requests: int) -> bool:
        """Tell whether an action is done now.

        Args:
            requests: How often it was asked for, with this time.
        """
        if self.type == "every-n":
            return requests % self.count == 0
        return requests == self.count


@dataclass(frozen=True)
class SnapshotOutput:
    """Where a snapshot is written, if not where the session says."""

    name: str | None = None
    max_size: int | None = None
    """Bytes."""

    path: str | None = None
    url: str | None = None
    ctrl_url: str | None = None
    data_url: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can say of it."""
        members = ("name", "max_size", "path", "url", "ctrl_url", "data_url")
        found = {name: getattr(self, name) for name in members}
        return {name: one for name, one in found.items() if one is not None}


@dataclass
class Action:
    """An action, with what became of it so far."""

    type: str
    """``notify`` or one of :data:`SESSION_TYPES`."""

    session: str | None = None
    rate_policy: RatePolicy = RatePolicy()
    output: SnapshotOutput | None = None
    requests: int = 0
    """How often the trigger has fired."""

    failures: int = 0

    def to_json(self, *, with_errors: bool = True) -> dict[str, Any]:
        """Return what JSON can say of it.

        Args:
            with_errors: Whether its failures are told.
        """
        found: dict[str, Any] = {"type": self.type}
        if self.session is not None:
            found["session"] = self.session
        policy = self.rate_policy
        found["rate_policy"] = {"type": policy.type, "count": policy.count}
        if self.output is not None:
            found["output"] = self.output.to_json()
        if with_errors:
            name, description = FAILURES
            count = {"name": name, "description": description, "value": self.failures}
            found["errors"] = [count]
        return found


def read_actions(values: Values | None) -> tuple[list[Action], bool]:
    """Return the actions that a client sent.

    Args:
        values: The members of the action.

    Returns:
        The actions, and whether they came as a list.

    Raises:
        SessionError: There is none.
    """
    if values is None:
        raise refused("INVALID_TRIGGER", "expected an 'action'")
    if values.text("type") != "list":
        return [_action(values)], False
    actions = values.members("actions")
    if not 0 < len(actions) <= MOST_ACTIONS:
        raise refused("INVALID_TRIGGER", f"expected 1 to {MOST_ACTIONS} actions")
    return [*map(_action, actions)], True


def _action(values: Values) -> Action:
    kind = values.choice("type", {"notify", *SESSION_TYPES})
    policy = RatePolicy()
    given = values.member("rate_policy")
    if given is not None:
        count = given.count("count")
        policy = RatePolicy(given.choice("type", {"every-n", "once-after-n"}), count)
        if count == 0:
            raise refused("INVALID", "expected a 'count' above 0")
    if kind == "notify":
        return Action(kind, rate_policy=policy)
    output = values.member("output") if kind == "snapshot-session" else None
    return Action(
        kind,
        values.text("session"),
        policy,
        None if output is None else _output(output),
    )


def _output(values: Values) -> SnapshotOutput:
    size = values.count("max_size", 0)
    found = SnapshotOutput(
        values.optional_text("name"),
        size or None,
        values.optional_text("path"),
        values.optional_text("url"),
        values.optional_text("ctrl_url"),
        values.optional_text("data_url"),
    )
    places = (found.path, found.url, found.ctrl_url)
    if sum(one is not None for one in places) != 1:
        raise refused("INVALID", "expected one of 'path', 'url' and 'ctrl_url'")
    if (found.ctrl_url is None) != (found.data_url is None):
        raise refused("INVALID", "expected 'data_url' beside 'ctrl_url'")
    if found.path is not None and not PurePosixPath(found.path).is_absolute():
        raise refused("INVALID", "expected an absolute 'path'")
    return found
