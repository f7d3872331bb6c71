"""When the first event record was, from which relative times count everywhere."""

from __future__ import annotations

from collections.abc import Iterable

from ..units import Nanoseconds
from .growing import Feed
from .mux import merges
from .stream import Stream

__all__ = ["first_event_time"]


def first_event_time(streams: Iterable[Stream | Feed]) -> Nanoseconds | None:
    """Return the time of the first event record, nanoseconds from the origin.

    Those of the recorder itself count, too: whatever is shown, a time means the same.

    Args:
        streams: The data streams; nobody knows that of those that grow.

    Returns:
        ``None`` when there is no event record, or none with a time.
    """
    # What has no time comes first in a merge, and could be all that there is.
    known = [
        one for one in streams if not isinstance(one, Feed) and one.handle.has_clock
    ]
    # What is damaged is told when all of it is read.
    for merge in merges(known, tell=lambda _: None):
        span = merge.time_span
        if span is not None:
            return Nanoseconds(span[0])
    return None
