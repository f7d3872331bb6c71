"""Reading the events of some names, one by one, with their places."""

from __future__ import annotations

from collections.abc import Callable

from .._typing import TYPE_CHECKING, NamedTuple
from ..damage import Damage
from ..graph import Filter, Graph, LostNotice, Selection, Source, notices_of

if TYPE_CHECKING:
    from .. import core

__all__ = ["Reading", "read_events"]


class Reading(NamedTuple):
    """What came besides the events."""

    losses: list[LostNotice]
    """What the tracer lost."""
    damage: list[Damage]
    """What could not be read."""


def read_events(  # noqa: PLR0913, PLR0917 - two callers, which have them all
    source: Source,
    pattern: str,
    take: Callable[[core.Event], object],
    places: Filter | None,
    selection: Selection | None,
    progress: Callable[[int], object] | None,
) -> Reading:
    """Read the events of some names in order.

    Args:
        source: The traces.
        pattern: A shell pattern of the names.
        take: Called with each event.
        places: What adds places to events; ``None``: nothing does.
        selection: Which part of the traces is read; all by default.
        progress: Called with the number of event records read so far.
    """
    sink = _EventSink(take)
    filters = () if places is None else (places,)
    wanted = (selection or Selection()).narrowed((pattern,), None, None)
    damage = Graph([source], sink, filters, wanted, progress=progress).run()
    return Reading(sink.losses, damage)


class _EventSink:
    # Hands events out.
    looks_at_records = True

    def __init__(self, take: Callable[[core.Event], object]) -> None:
        self._take = take
        self.losses: list[LostNotice] = []

    def consume(self, merge: core.Merge) -> None:
        """Hand out the events of a merge."""
        self.losses += [one for one in notices_of(merge) if isinstance(one, LostNotice)]
        take = self._take
        for event in merge.events():
            take(event)

    def finish(self) -> None:
        """Nothing is left to do."""
