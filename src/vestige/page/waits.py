"""Waits for mutexes, as the timeline of the page draws them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from .._typing import TYPE_CHECKING
from ..errors import SelectionError
from ..plain_text import plain

if TYPE_CHECKING:
    from ..analysis.intervals import Row
    from ..analysis.locks import Locks
    from ..analysis.threads import Thread
    from ..graph import Stream

__all__ = ["read_waits", "waits_of"]

MOST = 2_000
"""How many waits are drawn: the longest."""
_LEAST = 10_000
"""Nanoseconds that a wait takes which is drawn though nobody is known to have had the
mutex: to get a free one takes time, too."""
_WANTED = "lttng_ust_pthread:pthread_mutex_lock_req"
"""The event without which nobody waits."""
_LONGEST_NAME = 200
"""Characters of a place."""


def read_waits(streams: Iterable[Stream], read: Callable[[int], Locks]) -> Locks | None:
    """Find the longest waits for mutexes.

    Args:
        streams: The data streams.
        read: Reads what they tell of mutexes, and keeps so many of the longest waits.

    Returns:
        What is known of them; ``None`` where the traces tell nothing.
    """
    if not any(_WANTED in stream.event_names for stream in streams):
        return None
    # Without threads there is no row on which they could be drawn.
    with suppress(SelectionError):
        return read(MOST)
    return None


def waits_of(locks: Locks | None, rows: Sequence[Row], begin: int) -> dict[str, Any]:
    """Return what the page is told of waits.

    Args:
        locks: What is known of mutexes.
        rows: The rows of the timeline.
        begin: Time of the first event record, nanoseconds.

    Returns:
        ``sites``, the places as text, and ``rows``: of each wait the number of its row,
        its begin and duration (nanoseconds), the number of its place, and of who had
        the mutex the row and the place where it was locked, where these are known.
    """
    sites: dict[str, int] = {}
    numbers = {
        (row.process.trace, row.process.pid, row.tid): number
        for number, row in enumerate(rows)
        if row.kind == "events"
    }

    def row_of(thread: Thread | None) -> int | None:
        if thread is None:
            return None
        return numbers.get((thread.process.trace, thread.process.pid, thread.tid))

    def site(text: object) -> int | None:
        if text is None:
            return None
        return sites.setdefault(plain(str(text))[:_LONGEST_NAME], len(sites))

    found = []
    for wait in [] if locks is None else locks.longest:
        row = row_of(wait.thread)
        if row is None or (wait.holder is None and wait.duration < _LEAST):
            continue
        holder = (row_of(wait.holder), site(wait.holding))
        found.append([row, wait.begin - begin, wait.duration, site(wait.site), *holder])
    return {"sites": list(sites), "rows": sorted(found, key=lambda one: one[1])}
