"""A recording event rule, as the daemon has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .kernel_places import place_text

__all__ = ["RecordingEventRule"]


class RecordingEventRule(NamedTuple):
    """What a channel records: events that meet all conditions."""

    name: str
    """The pattern of names as it was given; of a probe, the name of its event."""

    is_enabled: bool

    type: str = "tracepoint"
    """In the domain of the kernel also ``syscall``, ``probe``, ``function`` or
    ``userspace-probe``."""

    location: str | None = None
    """Of a probe: where it is, as :meth:`.KernelChannel.enable_event` takes it."""

    filter: str | None = None
    level: int | None = None
    """The least severe log level."""

    only_level: int | None = None
    """The only log level."""

    exclude: tuple[str, ...] = ()
    """Patterns of names that are left out."""

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> RecordingEventRule:
        """Return what the daemon says of a rule.

        Args:
            answer: The members of :class:`vestige.daemon.model.EventRule`.
        """
        place = answer["location"]
        level = answer["level"]
        return cls(
            answer["name"],
            answer["enabled"],
            answer["type"].lower().replace("_", "-"),
            None if place is None else place_text(place),
            answer["filter"],
            level if answer["level_type"] == "RANGE" else None,
            level if answer["level_type"] == "SINGLE" else None,
            tuple(answer["exclusions"]),
        )
