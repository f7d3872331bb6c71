"""What the scheduler did to threads, as the timeline of the page draws it."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from typing import Any

from .._typing import TYPE_CHECKING
from ..analysis.turns import RUNNING
from ..plain_text import plain

if TYPE_CHECKING:
    from ..analysis.intervals import Row
    from ..analysis.turns import Turns

__all__ = ["turns_of"]

MOST = 10_000
"""How many waits are drawn: the longest."""
_LONGEST_NAME = 200
"""Characters of the name of a system call."""


def turns_of(turns: Turns | None, rows: Sequence[Row], begin: int) -> dict[str, Any]:
    """Return what the page is told of threads that did not run.

    Args:
        turns: What is known of threads.
        rows: The rows of the timeline.
        begin: Time of the first event record, nanoseconds.

    Returns:
        ``calls``, names of system calls; ``threads``, the rows of which something is
        known; ``rows``: of each wait the number of its row, its begin and duration
        (nanoseconds), the state and the number of its system call, if it is known; and
        how many are ``leftOut``.
    """
    names: dict[str, int] = {}
    found: list[list[Any]] = []
    threads = []
    for number, row in enumerate(rows if turns is not None else ()):
        of_thread = None if turns is None else turns.of_thread(row.thread)
        if row.kind != "calls" or of_thread is None:
            continue
        threads.append(number)
        for turn in of_thread.between(row.begin, row.end):
            if turn.state == RUNNING:
                continue
            call = None
            if turn.call is not None:
                name = plain(turn.call)[:_LONGEST_NAME]
                call = names.setdefault(name, len(names))
            length = turn.end - turn.begin
            found.append([number, turn.begin - begin, length, turn.state, call])
    shown = nlargest(MOST, found, key=lambda one: one[2])
    return {
        "calls": list(names),
        "threads": threads,
        "rows": sorted(shown, key=lambda one: (one[0], one[1])),
        "leftOut": len(found) - len(shown),
    }
