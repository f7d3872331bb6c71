"""Reading traces for what they tell of memory."""

from __future__ import annotations

from collections.abc import Callable

from ..._typing import TYPE_CHECKING
from ..resource_events import read_events
from .follow import MemoryFollower
from .found import Memory

if TYPE_CHECKING:
    from ...graph import Filter, Selection, Source

__all__ = ["read_memory"]

EVENTS = "lttng_ust_libc:*"


def read_memory(
    source: Source,
    places: Filter | None = None,
    *,
    selection: Selection | None = None,
    takes: Callable[[int | None, int | None], bool] = lambda *_: True,
    progress: Callable[[int], object] | None = None,
) -> Memory:
    """Read traces, and find out what memory is left, and who asked for it.

    Args:
        source: The traces.
        places: What adds places to events; ``None``: nothing does.
        selection: Which part of the traces is read; all by default.
        takes: Whether what a thread asks for counts, by its process ID and its own. It
            does not matter who gives it back.
        progress: Called with the number of event records read so far.

    Returns:
        What was found; nothing where the traces have no such events.
    """
    follower = MemoryFollower(takes)
    read = read_events(source, EVENTS, follower.take, places, selection, progress)
    return Memory(
        processes=follower.found_processes(),
        sites=follower.found_sites(),
        double_frees=follower.double_frees,
        double_free_count=follower.double_free_count,
        total=follower.total,
        events=follower.events,
        losses=read.losses,
        damage=read.damage,
    )
