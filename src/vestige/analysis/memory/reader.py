"""Reading traces for what they tell of memory."""

from __future__ import annotations

from collections.abc import Callable

from ..._typing import TYPE_CHECKING
from ..resource_events import read_calls
from .follow import CALLS, MemoryFollower
from .found import Memory

if TYPE_CHECKING:
    from ...graph import Filter, Selection, Source

__all__ = ["read_memory"]


def read_memory(  # noqa: PLR0913 - parameters go by keyword
    source: Source,
    places: Filter | None = None,
    *,
    selection: Selection | None = None,
    paths: bool = False,
    takes: Callable[[int | None, int | None], bool] = lambda *_: True,
    progress: Callable[[int], object] | None = None,
) -> Memory:
    """Read traces, and find out what memory is left, and who asked for it.

    Args:
        source: The traces.
        places: What adds places to events; ``None``: nothing does.
        selection: Which part of the traces is read; all by default.
        paths: Whether places are told apart by the calls of functions that led there,
            as far as these were recorded.
        takes: Whether what a thread asks for counts, by its process ID and its own. It
            does not matter who gives it back.
        progress: Called with the number of event records read so far.

    Returns:
        What was found; nothing where the traces have no such events.
    """
    follower = MemoryFollower(takes)
    read = read_calls(
        source,
        CALLS,
        follower.take,
        places,
        selection,
        progress,
        follows_paths=paths,
    )
    return Memory(
        processes=follower.found_processes(read),
        sites=follower.found_sites(read),
        double_frees=follower.found_double_frees(read),
        double_free_count=follower.double_free_count,
        total=follower.total,
        events=follower.events,
        losses=read.losses,
        damage=read.damage,
    )
