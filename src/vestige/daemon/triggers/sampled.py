"""Conditions of sessions and channels: what timers see, and rotations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..model import Session
from .book import TriggerBook
from .conditions import BufferUsage, ConsumedSize, Rotation
from .trigger import Trigger

__all__ = ["Fire", "Sample", "SessionConditions"]

Fire = Callable[[Trigger, dict[str, Any]], None]


class Sample(NamedTuple):
    """What a monitor timer has seen of the buffers of a channel."""

    session: str
    channel: str
    owner: int
    """Which of its buffers: those of a user, or of a process."""

    lowest: int
    """Bytes in the emptiest ring."""

    highest: int
    """In the fullest."""

    capacity: int
    """Of each ring, bytes."""

    consumed: int
    """Bytes that were taken from all of them so far."""


class SessionConditions:
    """Lets triggers fire whose conditions are those of sessions.

    Args:
        triggers: All triggers.
        fire: Has the actions of a trigger done.
    """

    def __init__(self, triggers: TriggerBook, fire: Fire) -> None:
        self._triggers = triggers
        self._fire = fire
        self._samples: dict[tuple[str, str, int], Sample] = {}
        """The last ones."""

    def sampled(self, session: Session, sample: Sample) -> None:
        """Look at buffers that a timer has looked at.

        Args:
            session: Whose they are.
            sample: What it has seen.
        """
        key = (sample.session, sample.channel, sample.owner)
        before = self._samples.get(key)
        self._samples[key] = sample
        for trigger in self._of(session, BufferUsage):
            condition = trigger.condition
            assert isinstance(condition, BufferUsage)  # noqa: S101 - asked for
            if condition.channel != sample.channel or condition.domain != "UST":
                continue
            was_met = before is not None and _is_met(condition, before)
            if _is_met(condition, sample) and not was_met:
                self._fire(trigger, _usage(condition, sample))
        self._look_at_size(session)

    def _look_at_size(self, session: Session) -> None:
        consumed = sum(
            one.consumed
            for one in self._samples.values()
            if one.session == session.name
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
        if isinstance(condition, BufferUsage):
            for one in self._samples.values():
                is_meant = (one.session, one.channel) == (
                    condition.session,
                    condition.channel,
                )
                if is_meant and _is_met(condition, one):
                    return _usage(condition, one)
        return None

    def forget(self, session: Session) -> None:
        """Forget a session that is gone.

        Args:
            session: The session.
        """
        for key in [one for one in self._samples if one[0] == session.name]:
            del self._samples[key]
        for trigger in self._triggers:
            trigger.was_met.pop(session.name, None)


def _is_met(condition: BufferUsage, sample: Sample) -> bool:
    threshold: float
    if condition.threshold_bytes is not None:
        threshold = condition.threshold_bytes
    else:
        threshold = (condition.threshold_ratio or 0.0) * sample.capacity
    if condition.type == "buffer-usage-high":
        return sample.highest >= threshold
    return sample.lowest <= threshold


def _usage(condition: BufferUsage, sample: Sample) -> dict[str, Any]:
    is_high = condition.type == "buffer-usage-high"
    used = sample.highest if is_high else sample.lowest
    ratio = used / sample.capacity if sample.capacity else 0.0
    return {"type": condition.type, "bytes": used, "ratio": ratio}
