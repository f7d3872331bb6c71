"""Reading traces for what they tell of mutexes."""

from __future__ import annotations

from collections.abc import Callable

from ..._typing import TYPE_CHECKING
from ...errors import SelectionError
from ..resource_events import read_calls
from .follow import CALLS, LockFollower
from .found import Locks

if TYPE_CHECKING:
    from ...graph import Filter, Selection, Source

__all__ = ["read_locks"]


def read_locks(  # noqa: PLR0913 - parameters go by keyword
    source: Source,
    places: Filter | None = None,
    *,
    selection: Selection | None = None,
    longest: int = 10,
    takes: Callable[[int | None, int | None], bool] = lambda *_: True,
    progress: Callable[[int], object] | None = None,
) -> Locks:
    """Read traces, and find out who waited for mutexes.

    Args:
        source: The traces.
        places: What adds places to events; ``None``: nothing does.
        selection: Which part of the traces is read; all by default.
        longest: How many of the longest waits are kept.
        takes: Whether what a thread does counts, by its process ID and its own.
        progress: Called with the number of event records read so far.

    Returns:
        What was found; nothing where the traces have no such events.

    Raises:
        SelectionError: The events do not tell their threads.
    """
    follower = LockFollower(longest, takes)
    read = read_calls(source, CALLS, follower.take, places, selection, progress)
    if follower.has_unknown_threads:
        raise SelectionError(
            "the events of mutexes do not tell their threads, so nobody knows who "
            "waited; record the contexts: lttng add-context -u -t vpid -t vtid -t ip"
        )
    return Locks(
        locks=follower.found_locks(read),
        sites=follower.found_sites(read),
        blockings=follower.found_blockings(read),
        longest=follower.found_waits(read),
        total=follower.total,
        events=follower.events,
        waiting=follower.waiting,
        still_held=follower.still_held,
        losses=read.losses,
        damage=read.damage,
    )
