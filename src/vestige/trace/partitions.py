"""Cutting a selection into pieces of time that are read apart from each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from ..graph import Selection, Stream

__all__ = ["latest_beginning", "partition_times"]


def partition_times(
    streams: Iterable[Stream], selection: Selection, count: int
) -> list[tuple[int | None, int | None]]:
    """Find times that cut the packets of a selection into parts of about equal size.

    Every cut is the beginning of a packet. A packet of another data stream may reach
    over it: both parts read it, and each keeps the event records of its own time.

    Args:
        streams: The data streams.
        selection: Which event records are wanted.
        count: How many parts are wanted.

    Returns:
        At most so many pairs of a begin and an end, both included, that follow each
        other without a gap. The first begin and the last end are those of the
        selection.
    """
    packets = sorted(_packets(streams, selection))
    total = sum(size for _, size in packets)
    cuts: list[int] = []
    before = part = 0
    for begin, size in packets:
        # The part in which this packet would begin if packets could be cut anywhere.
        due = before * count // max(total, 1)
        if due > part and begin > (cuts[-1] if cuts else packets[0][0]):
            cuts.append(begin)
            part = due
        before += size
    edges = [selection.begin, *cuts, None]
    return [
        (begin, selection.end if end is None else end - 1)
        for begin, end in pairwise(edges)
    ]


def latest_beginning(streams: Iterable[Stream], selection: Selection) -> int | None:
    """Return the beginning of the last packet of a selection, if it is known.

    Args:
        streams: The data streams.
        selection: Which event records are wanted.
    """
    return max((begin for begin, _ in _packets(streams, selection)), default=None)


def _packets(
    streams: Iterable[Stream], selection: Selection
) -> Iterator[tuple[int, int]]:
    """Yield beginning and size of the packets in which wanted event records may be."""
    for stream in streams:
        classes = selection.wanted_classes(stream)
        if classes is not None and not any(classes):
            continue
        for begin, end, size in stream.handle.packet_times:
            if begin is None:
                continue
            lowest, highest = selection.begin, selection.end
            early = lowest is not None and end is not None and end < lowest
            late = highest is not None and begin > highest
            if not early and not late:
                yield begin if lowest is None else max(begin, lowest), size
