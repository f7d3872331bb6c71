"""The conditions of triggers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..protocol import Values
from ..refusals import refused
from .event_rules import EventRule, Expression, read_expression, read_rule

__all__ = [
    "BufferUsage",
    "Condition",
    "ConsumedSize",
    "EventRuleMatches",
    "Rotation",
    "read_condition",
]

MOST_CAPTURES = 256
DOMAINS = ("UST", "KERNEL")


@dataclass(frozen=True)
class EventRuleMatches:
    """An event is emitted that a rule means."""

    rule: EventRule
    captures: tuple[Expression, ...] = ()
    type = "event-rule-matches"

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can say of it."""
        return {
            "type": self.type,
            "rule": self.rule.to_json(),
            "captures": [one.to_json() for one in self.captures],
        }


@dataclass(frozen=True)
class ConsumedSize:
    """A session has written so much."""

    session: str
    threshold_bytes: int
    type = "session-consumed-size"

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can say of it."""
        return {
            "type": self.type,
            "session": self.session,
            "threshold_bytes": self.threshold_bytes,
        }


@dataclass(frozen=True)
class BufferUsage:
    """A buffer of a channel is as full, or as empty."""

    type: str
    """``buffer-usage-high`` or ``buffer-usage-low``."""

    session: str
    channel: str
    domain: str
    """``UST`` or ``KERNEL``."""

    threshold_bytes: int | None = None
    threshold_ratio: float | None = None
    """From 0 to 1; one of both thresholds is there."""

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can say of it."""
        threshold: dict[str, Any] = {"threshold_bytes": self.threshold_bytes}
        if self.threshold_bytes is None:
            threshold = {"threshold_ratio": self.threshold_ratio}
        return {
            "type": self.type,
            "session": self.session,
            "channel": self.channel,
            "domain": self.domain,
            **threshold,
        }


@dataclass(frozen=True)
class Rotation:
    """A session is rotated, or has been."""

    type: str
    """``session-rotation-ongoing`` or ``session-rotation-completed``."""

    session: str

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can say of it."""
        return {"type": self.type, "session": self.session}


Condition = EventRuleMatches | ConsumedSize | BufferUsage | Rotation
_USAGES = ("buffer-usage-high", "buffer-usage-low")
_ROTATIONS = ("session-rotation-ongoing", "session-rotation-completed")
_TYPES = {EventRuleMatches.type, ConsumedSize.type, *_USAGES, *_ROTATIONS}


def read_condition(values: Values) -> Condition:
    """Return a condition that a client sent.

    Args:
        values: Its members.

    Raises:
        SessionError: It is none.
    """
    kind = values.choice("type", _TYPES)
    if kind == EventRuleMatches.type:
        return _event_rule_matches(values)
    session = values.text("session")
    if kind == ConsumedSize.type:
        return ConsumedSize(session, values.count("threshold_bytes"))
    if kind in _ROTATIONS:
        return Rotation(kind, session)
    return _buffer_usage(kind, session, values)


def _event_rule_matches(values: Values) -> EventRuleMatches:
    rule = values.member("rule")
    if rule is None:
        raise refused("INVALID", "expected a 'rule'")
    captures = values.members("captures")
    if len(captures) > MOST_CAPTURES:
        raise refused("INVALID", f"expected up to {MOST_CAPTURES} captures")
    return EventRuleMatches(read_rule(rule), tuple(map(read_expression, captures)))


def _buffer_usage(kind: str, session: str, values: Values) -> BufferUsage:
    ratio = values.real("threshold_ratio")
    size = None if ratio is not None else values.count("threshold_bytes")
    if ratio is not None and not 0 <= ratio <= 1:
        raise refused("INVALID", "expected a 'threshold_ratio' from 0 to 1")
    domain = values.choice("domain", DOMAINS)
    return BufferUsage(
        kind, session, values.text("channel"), domain, size, threshold_ratio=ratio
    )
