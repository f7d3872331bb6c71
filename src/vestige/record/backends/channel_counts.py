"""What was recorded to a channel, as one can see it while programs record."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..._typing import NamedTuple

__all__ = [
    "NO_COUNTS",
    "ChannelCounts",
    "OnUsage",
    "Usage",
    "by_channel",
    "ignore_usage",
]


class ChannelCounts(NamedTuple):
    """Counts of a channel; all but the fill of its rings only grow."""

    bytes: int = 0
    """Bytes of packets that were written to files."""

    discarded_events: int = 0
    """Event records without room."""

    lost_packets: int = 0
    """Packets that are not in the files."""

    buffered: int = 0
    """Bytes in rings that were not written yet."""

    buffer_size: int = 0
    """Bytes of all rings."""

    fill: float = 0.0
    """How full the fullest ring is, from 0 to 1."""

    def plus(self, other: ChannelCounts) -> ChannelCounts:
        """Return the counts of both together.

        Args:
            other: Those of other rings of the channel.
        """
        return ChannelCounts(
            self.bytes + other.bytes,
            self.discarded_events + other.discarded_events,
            self.lost_packets + other.lost_packets,
            self.buffered + other.buffered,
            self.buffer_size + other.buffer_size,
            max(self.fill, other.fill),
        )


NO_COUNTS = ChannelCounts()


class Usage(NamedTuple):
    """How full the rings of a channel were when they were looked at.

    They are those of a user, or of a process.
    """

    fullest: int
    """Bytes in the fullest ring that nobody has taken yet."""

    capacity: int
    """Bytes of a ring."""

    consumed: int
    """Bytes that were taken from all rings so far."""


OnUsage = Callable[[str, str, dict[int, Usage]], None]
"""Called with a session, a channel, and how full its rings are, by their owners."""


def ignore_usage(session: str, channel: str, usages: dict[int, Usage]) -> None:
    """Do nothing: nobody wants to know.

    Args:
        session: The session.
        channel: The channel.
        usages: How full its rings are.
    """


def by_channel(
    found: Iterable[tuple[str, ChannelCounts]],
) -> dict[str, ChannelCounts]:
    """Add up the counts of each channel.

    Args:
        found: Names of channels, each of them any number of times, with counts.
    """
    sums: dict[str, ChannelCounts] = {}
    for name, counts in found:
        sums[name] = sums.get(name, NO_COUNTS).plus(counts)
    return sums
