"""What was recorded to a channel, as one can see it while programs record."""

from __future__ import annotations

from collections.abc import Iterable

from ..._typing import NamedTuple

__all__ = ["NO_COUNTS", "ChannelCounts", "by_channel"]


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
