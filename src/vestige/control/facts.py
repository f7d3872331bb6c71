"""What a session says: programs, tracepoints, losses, counts of channels."""

from __future__ import annotations

from collections.abc import Mapping

from .._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

__all__ = ["ChannelStatistics", "Losses", "Program", "Tracepoint"]


class Tracepoint(NamedTuple):
    """A tracepoint of a running program."""

    name: str
    """The full name, ``provider:name``."""

    level: int
    """The log level: 0, the most severe one, to 14."""

    fields: tuple[tuple[str, str], ...] = ()
    """Name and type of each field, if they were asked for."""


class Program(NamedTuple):
    """A running program that has registered with the daemon."""

    pid: int
    """Its process ID."""

    name: str
    """The first word of its command line."""

    tracepoints: tuple[Tracepoint, ...]
    """What it offers."""

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Program:
        """Return what the daemon says of a program.

        Args:
            answer: As :meth:`.backend.Backend.programs` has it.
        """
        points = (
            Tracepoint(
                event["name"],
                event["level"],
                tuple((one["name"], one["type"]) for one in event.get("fields") or ()),
            )
            for event in answer["events"]
        )
        return cls(answer["pid"], answer["name"], tuple(points))


class Losses(NamedTuple):
    """What a session has lost since it was started."""

    discarded: int
    """Events that found no room in their buffers."""

    lost_packets: int
    """Packets that were overwritten, or could not be written."""

    failure: str | None
    """Why a part of the trace could not be written, if that is so."""

    gaps: tuple[tuple[float, float], ...] = ()
    """When programs of LTTng-UST recorded nothing, since the daemon was killed: begin
    and end, in seconds since the epoch. Others go on in the memory that they have."""


class ChannelStatistics(NamedTuple):
    """What a channel has recorded and lost so far."""

    events: int | None
    """Event records in the trace; ``None`` without a trace, or if it is damaged."""

    discarded: int
    """Events that found no room in their buffers."""

    packets: int
    """Packets in the trace."""

    lost_packets: int
    """Packets that were overwritten, or could not be written."""
