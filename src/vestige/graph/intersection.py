"""When all data streams of a trace are active: ``--stream-intersection``."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import SelectionError
from .stream import Stream

__all__ = ["intersections"]


def intersections(streams: Iterable[Stream]) -> dict[int, tuple[int, int]]:
    """Find for each trace the time in which all its data streams are active.

    That is from the latest beginning of a first packet to the earliest end of a last
    one; a data stream without any packet does not count.

    Args:
        streams: The data streams of one or more traces.

    Returns:
        Earliest and latest time, nanoseconds from the origin, by the index of a trace.

    Raises:
        SelectionError: The packets of a data stream do not tell their times, or its
            trace has no such time.
    """
    found: dict[int, tuple[int, int]] = {}
    for stream in streams:
        times = stream.handle.time_range()
        if times is None:
            raise SelectionError(
                "stream intersection: the packets do not tell when they begin and end",
                path=stream.path,
            )
        index = stream.trace.index
        begin, end = found.get(index, times)
        found[index] = max(begin, times[0]), min(end, times[1])
        if found[index][0] > found[index][1]:
            raise SelectionError(
                "stream intersection: Trimming time range's beginning time is greater "
                "than end time: at no time are all data streams of the trace active; "
                f"one begins at {found[index][0]} ns, another one has ended at "
                f"{found[index][1]} ns",
                path=stream.path,
            )
    return found
