"""Data streams merged by time, and the one loop in which merges are read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from .. import core
from ..damage import Damage
from .growing import RETRY_DURATION, Feed, GrowingMuxer, growing_merges
from .notice import Notice, notices_of
from .protocols import Filter
from .selection import Selection
from .stream import Stream

LooseClasses = Callable[[Stream], list[bool]]
"""For each event record class of a data stream, whether its records may come before or
behind those of other data streams."""

__all__ = ["LooseClasses", "merges", "mux"]


def mux(  # noqa: PLR0913 - what is read, and in which way, by keyword
    streams: Iterable[Stream],
    selection: Selection | Mapping[Stream, Selection] | None = None,
    needed: Collection[str] = (),
    *,
    check: bool = False,
    boundaries: bool = False,
    doubtful: bool = False,
) -> core.Muxer:
    """Merge data streams by time.

    Args:
        streams: The data streams, in any order.
        selection: Which event records are wanted, of all data streams or of each; all
            by default.
        needed: Names of events that filters need from the beginning on, wanted or not.
        check: Whether to decode every field of every event record, for its errors.
        boundaries: Whether notices tell where data streams and packets begin and end;
            then those without a wanted event are there, too.
        doubtful: Whether event records in front of damage count that may be misread.

    Returns:
        An iterator over merges.
    """
    wanted_of = _by_stream(streams, selection)
    return _muxer(
        streams,
        wanted_of,
        needed,
        check=check,
        boundaries=boundaries,
        doubtful=doubtful,
    )[0]


def _muxer(  # noqa: PLR0913 - as above
    streams: Iterable[Stream],
    wanted_of: Mapping[Stream, Selection],
    needed: Collection[str],
    *,
    check: bool,
    boundaries: bool,
    doubtful: bool,
    early_losses: bool = False,
) -> tuple[core.Muxer, list[Stream]]:
    """Return a muxer, and the data streams in the order in which it has them."""
    streams = sorted(streams, key=Stream.order_key)
    common = _intersections(streams, wanted_of)
    inputs = []
    ranges = []
    filters = []
    for stream in streams:
        wanted = wanted_of[stream]
        classes = wanted.wanted_classes(stream)
        kept = wanted.kept_classes(stream, needed)
        if boundaries or classes is None or any(classes) or any(kept or ()):
            inputs.append((stream.handle, stream, classes, kept))
            ranges.append(_overlap(wanted, common.get(stream.trace.index)))
            filters.append(wanted.record_filter)
    muxer = core.Muxer(
        inputs,
        ranges=ranges,
        check=check,
        record_filters=filters,
        boundaries=boundaries,
        doubtful=doubtful,
        early_losses=early_losses,
    )
    return muxer, [stream for _, stream, *_ in inputs]


def _intersections(
    streams: Iterable[Stream], wanted_of: Mapping[Stream, Selection]
) -> dict[int, tuple[int, int]]:
    wanted = [one for one in streams if wanted_of[one].intersection]
    if not wanted:
        return {}
    from .intersection import intersections  # noqa: PLC0415 - few ask for it

    return intersections(wanted)


def _by_stream(
    streams: Iterable[Stream], selection: Selection | Mapping[Stream, Selection] | None
) -> Mapping[Stream, Selection]:
    if selection is None or isinstance(selection, Selection):
        return dict.fromkeys(streams, selection or Selection())
    return selection


def _overlap(
    wanted: Selection, common: tuple[int, int] | None
) -> tuple[int | None, int | None]:
    if common is None:
        return wanted.begin, wanted.end
    begin, end = common
    return (
        begin if wanted.begin is None else max(begin, wanted.begin),
        end if wanted.end is None else min(end, wanted.end),
    )


def merges(  # noqa: PLR0913 - what is read, who looks at it, and who is told
    streams: Iterable[Stream],
    selection: Selection | Mapping[Stream, Selection] | None = None,
    filters: Sequence[Filter] = (),
    *,
    needed: Collection[str] = (),
    check: bool = False,
    boundaries: bool = False,
    doubtful: bool = False,
    early_losses: bool = False,
    feeds: Mapping[Feed, Selection] | None = None,
    retry_duration: float | None = RETRY_DURATION,
    loose: LooseClasses | None = None,
    tell: Callable[[Notice], object],
    tell_damage: Callable[[Damage], object] = lambda _: None,
) -> Iterator[core.Merge]:
    """Read data streams: the loop of everything that reads.

    Whoever stops iterating, or raises an error, ends the reading.

    Args:
        streams: The data streams, in any order.
        selection: Which event records are wanted, as :func:`mux` takes it.
        filters: Filters, in the order in which they see a merge.
        needed: Names of events that are needed from the beginning on, besides those of
            the filters.
        check: Whether to decode every field of every event record, for its errors.
        boundaries: Whether notices tell where data streams and packets begin and end.
        doubtful: Whether event records in front of damage count that may be misread.
        early_losses: Whether losses before the earliest time are told, too.
        feeds: Sources of data streams that grow, with what is wanted of each.
        retry_duration: How long to wait for these, seconds; ``None`` gives an empty
            merge in place of that.
        loose: What need not be in order; filters and feeds want all of it in order.
        tell: Called with each loss and each damage, when the merge in which it lies has
            been used.
        tell_damage: Called with what one of the feeds cannot read.

    Yields:
        The merges, in order, when the filters have seen them.
    """
    wanted = frozenset(needed).union(*(one.needed_events for one in filters))
    wanted_of = _by_stream(streams, selection)
    # Then what comes behind the filters is told none.
    of_filters = not early_losses and any(
        getattr(one, "needs_early_losses", False) for one in filters
    )
    muxer, fixed = _muxer(
        streams,
        wanted_of,
        wanted,
        check=check,
        boundaries=boundaries,
        doubtful=doubtful,
        early_losses=early_losses or of_filters,
    )
    begins = [wanted_of[stream].begin for stream in fixed] if of_filters else []
    if loose is not None and not filters and not feeds:
        for index, stream in enumerate(fixed):
            muxer.loosen(index, loose(stream))
    source: Iterable[core.Merge] = muxer
    if feeds:
        growing = GrowingMuxer(muxer, fixed, feeds, wanted)
        source = growing_merges(growing, tell_damage, retry_duration)
    for merge in source:
        for component in filters:
            component.process(merge)
        if any(begin is not None for begin in begins):
            merge = merge.without_early_losses(begins)  # noqa: PLW2901 - as above
        yield merge
        for notice in notices_of(merge):
            tell(notice)
