"""Conditions of sessions and channels: what timers see, and rotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from ...record.backends.channel_counts import Usage
from ..model import Session
from .book import TriggerBook
from .conditions import BufferUsage, ConsumedSize, Rotation
from .trigger import Trigger

__all__ = ["KERNEL_TRACER", "Fire", "Sample", "SessionConditions"]

KERNEL_TRACER = "kernel"
"""What records channels of the kernel's domain."""

Fire = Callable[[Trigger, dict[str, Any]], None]


class Sample(NamedTuple):
    """What a monitor timer has seen of the buffers of a channel."""

    session: str
    channel: str
    tracer: str
    """What records in the programs whose buffers these are, or the kernel."""

    usages: dict[int, Usage]
    """Of each user or process that has buffers; those of the kernel are of nobody."""

    @property
    def domain(self) -> str:
        """As conditions have it."""
        return "KERNEL" if self.tracer == KERNEL_TRACER else "UST"


class SessionConditions:
    """Lets triggers fire whose conditions are those of sessions.

    Args:
        triggers: All triggers.
        fire: Has the actions of a trigger done.
    """

    def __init__(self, triggers: TriggerBook, fire: Fire) -> None:
        self._triggers = triggers
        self._fire = fire
        self._samples: dict[tuple[str, str, str], Sample] = {}
        """The last one of each session, channel and tracer."""
        self._gone: Counter[str] = Counter()
        """By session: bytes that were taken from buffers that are gone."""
        self._users: dict[str, int] = {}
        """By session."""

    def sampled(self, session: Session, sample: Sample) -> None:
        """Look at buffers that a timer has looked at.

        Args:
            session: Whose they are.
            sample: What it has seen.
        """
        key = sample[:3]
        earlier = self._samples[key].usages if key in self._samples else {}
        self._samples[key] = sample
        self._users[session.name] = session.uid
        for owner, usage in earlier.items():
            now = sample.usages.get(owner)
            if now is None or now.consumed < usage.consumed:
                self._gone[session.name] += usage.consumed
        for trigger in self._of(session, BufferUsage):
            condition = trigger.condition
            assert isinstance(condition, BufferUsage)  # noqa: S101 - asked for
            if (condition.channel, condition.domain) != (sample.channel, sample.domain):
                continue
            for owner, usage in sample.usages.items():
                was_met = owner in earlier and _is_met(condition, earlier[owner])
                if _is_met(condition, usage) and not was_met:
                    self._fire(trigger, _evaluation(condition, usage))
        self._look_at_size(session)

    def _look_at_size(self, session: Session) -> None:
        consumed = self._gone[session.name] + sum(
            usage.consumed
            for one in self._samples.values()
            if one.session == session.name
            for usage in one.usages.values()
        )
        for trigger in self._of(session, ConsumedSize):
            condition = trigger.condition
            assert isinstance(condition, ConsumedSize)  # noqa: S101 - asked for
            is_met = consumed >= condition.threshold_bytes
            was_met = trigger.was_met.get(session.name, False)
            trigger.was_met[session.name] = is_met
            if is_met and not was_met:
                self._fire(trigger, {"type": condition.type, "bytes": consumed})

    def rotation(
        self, session: Session, kind: str, number: int, location: str | None = None
    ) -> None:
        """Note that a session is rotated, or has been.

        Args:
            session: The session.
            kind: ``ongoing`` or ``completed``.
            number: Of the rotation, from 0.
            location: The archive.
        """
        for trigger in self._of(session, Rotation):
            condition = trigger.condition
            assert isinstance(condition, Rotation)  # noqa: S101 - asked for
            if condition.type != f"session-rotation-{kind}":
                continue
            told: dict[str, Any] = {"type": condition.type, "rotation": number}
            if kind == "completed":
                told["location"] = location
            self._fire(trigger, told)

    def _of(
        self, session: Session, kind: type[BufferUsage | ConsumedSize | Rotation]
    ) -> list[Trigger]:
        """Return the triggers that look at a session, and may."""
        return [
            one
            for one in self._triggers.with_condition(kind)
            if isinstance(one.condition, kind)
            and one.condition.session == session.name
            and one.uid in {0, session.uid}
        ]

    def evaluation(self, trigger: Trigger) -> dict[str, Any] | None:
        """Return why the condition of a trigger is met now, as far as that is known.

        Args:
            trigger: The trigger.
        """
        condition = trigger.condition
        if not isinstance(condition, BufferUsage):
            return None
        if trigger.uid not in {0, self._users.get(condition.session)}:
            return None
        meant = (condition.session, condition.channel, condition.domain)
        for one in self._samples.values():
            is_meant = (one.session, one.channel, one.domain) == meant
            for usage in one.usages.values() if is_meant else ():
                if _is_met(condition, usage):
                    return _evaluation(condition, usage)
        return None

    def forget(self, session: Session) -> None:
        """Forget a session that is gone.

        Args:
            session: The session.
        """
        for key in [one for one in self._samples if one[0] == session.name]:
            del self._samples[key]
        del self._gone[session.name]
        self._users.pop(session.name, None)
        for trigger in self._triggers:
            trigger.was_met.pop(session.name, None)


def _is_met(condition: BufferUsage, usage: Usage) -> bool:
    threshold = condition.threshold_bytes
    if threshold is None:
        threshold = int((condition.threshold_ratio or 0.0) * usage.capacity)
    if condition.type == "buffer-usage-high":
        return usage.fullest >= threshold
    # All of its rings have to be so empty.
    return usage.fullest <= threshold


def _evaluation(condition: BufferUsage, usage: Usage) -> dict[str, Any]:
    ratio = usage.fullest / usage.capacity if usage.capacity else 0.0
    return {"type": condition.type, "bytes": usage.fullest, "ratio": ratio}
