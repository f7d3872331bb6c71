"""Running components: sources, the muxer, filters, a sink."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from .. import core
from .._typing import NamedTuple
from ..damage import Damage
from ..errors import TraceFormatError
from .intersection import intersections
from .notice import DamageNotice, notices_of
from .protocols import Filter, Sink, Source
from .record_filter import check_filter, record_filter
from .recorder_events import is_recorder_event
from .stream import Stream

__all__ = ["Graph", "Selection", "mux"]


class Selection(NamedTuple):
    """Which event records are wanted; the rest is not decoded."""

    begin: int | None = None
    """Earliest time, nanoseconds from the clock's origin."""
    end: int | None = None
    """Latest time, nanoseconds from the clock's origin; included."""
    patterns: tuple[str | tuple[str, ...], ...] = ()
    """Shell patterns that the names of events match: each of them, of a tuple any."""
    intersection: bool = False
    """Only the time in which all data streams of a trace are active."""
    filters: tuple[str, ...] = ()
    """Expressions that are true of the event records, each of them."""
    recorder_events: bool = True
    """Whether events are wanted that the recorder itself needs, if no pattern says so:
    state dumps and loaded objects."""

    @property
    def counts_left_out(self) -> bool:
        """Whether events that the recorder needs are left out, and counted."""
        return not (self.recorder_events or self.patterns or self.filters)

    def wanted_classes(self, stream: Stream) -> list[bool] | None:
        """Tell for each event record class if it is wanted; ``None`` for all."""
        chosen = self._chosen_classes(stream)
        if not self.filters:
            return chosen
        possible = record_filter(self.filters).possible(stream.handle)
        if possible is None or chosen is None:
            return chosen if possible is None else possible
        return [both == (True, True) for both in zip(chosen, possible, strict=True)]

    def takes(self, name: str) -> bool:
        """Tell if events of a name are wanted.

        Args:
            name: The name.
        """
        return all(
            any(fnmatchcase(name, one) for one in _alternatives(patterns))
            for patterns in self.patterns
        )

    def _chosen_classes(self, stream: Stream) -> list[bool] | None:
        if not self.patterns:
            left_out = self.left_out_classes(stream)
            return None if left_out is None else [not one for one in left_out]
        return [name is not None and self.takes(name) for name in stream.event_names]

    def left_out_classes(self, stream: Stream) -> list[bool] | None:
        """Tell for each event record class if the recorder alone needs it.

        Args:
            stream: The data stream.

        Returns:
            ``None`` when there are no such classes, or nothing is left out.
        """
        if self.recorder_events or self.patterns:
            return None
        environment = stream.trace.parsed.environment
        is_ours = environment.get("tracer_name") == "vestige"
        left_out = [
            is_recorder_event(name, is_ours=is_ours) for name in stream.event_names
        ]
        return left_out if any(left_out) else None

    def narrowed(
        self, patterns: tuple[str, ...], begin: int | None, end: int | None
    ) -> Selection:
        """Return what is in this selection and in another one.

        Args:
            patterns: Shell patterns of event names, of which any is to match; all
                events without one.
            begin: Earliest time, nanoseconds.
            end: Latest time, nanoseconds; included.
        """
        begins = [time for time in (self.begin, begin) if time is not None]
        ends = [time for time in (self.end, end) if time is not None]
        return self._replace(
            patterns=(*self.patterns, patterns) if patterns else self.patterns,
            begin=max(begins, default=None),
            end=min(ends, default=None),
        )

    def filtered(self, expression: str, streams: Iterable[Stream]) -> Selection:
        """Return what is in this selection and has an expression true of it.

        Args:
            expression: The expression.
            streams: The data streams that are selected from.

        Raises:
            SelectionError: It is none, or is true of no event record of these classes.
        """
        check_filter(expression, ((one, self.wanted_classes(one)) for one in streams))
        return self._replace(filters=(*self.filters, expression))


def _alternatives(patterns: str | tuple[str, ...]) -> tuple[str, ...]:
    return (patterns,) if isinstance(patterns, str) else patterns


def mux(
    streams: Iterable[Stream],
    selection: Selection | None = None,
    needed: Collection[str] = (),
    *,
    check: bool = False,
) -> core.Muxer:
    """Merge data streams by time.

    Args:
        streams: The data streams, in any order.
        selection: Which event records are wanted; all by default.
        needed: Names of events that filters need from the beginning on, wanted or not.
        check: Whether to decode every field of every event record, for its errors.

    Returns:
        An iterator over merges.
    """
    wanted = selection or Selection()
    streams = sorted(streams, key=Stream.order_key)
    common = intersections(streams) if wanted.intersection else {}
    inputs = []
    ranges = []
    for stream in streams:
        classes = wanted.wanted_classes(stream)
        kept = _kept_classes(stream, wanted, needed)
        if classes is None or any(classes) or any(kept or ()):
            inputs.append((stream.handle, stream, classes, kept))
            ranges.append(_overlap(wanted, common.get(stream.trace.index)))
    expressions = record_filter(wanted.filters) if wanted.filters else None
    return core.Muxer(inputs, ranges=ranges, check=check, record_filter=expressions)


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


def _kept_classes(
    stream: Stream, wanted: Selection, needed: Collection[str]
) -> list[bool] | None:
    """Return which classes are read, wanted or not: those of filters and of counts."""
    if wanted == Selection():
        return None
    kept = None
    if needed:
        kept = [name in needed for name in stream.event_names]
    if needed or wanted.begin is None:
        # Otherwise packets before the beginning would be read for their number alone.
        left_out = wanted.left_out_classes(stream)
        if left_out is not None:
            pairs = zip(left_out, kept or left_out, strict=True)
            kept = [one or other for one, other in pairs]
    return kept


class Graph:
    """Sources, filters in order and one sink.

    Args:
        sources: The sources.
        sink: The sink.
        filters: The filters, in the order in which they see a merge.
        selection: Which event records are wanted.
        strict: Whether to stop at the first damage.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        sink: Sink,
        filters: Sequence[Filter] = (),
        selection: Selection | None = None,
        strict: bool = False,  # noqa: FBT001, FBT002 - as above
    ) -> None:
        self.sources = sources
        self.sink = sink
        self.filters = filters
        self.selection = selection or Selection()
        self.strict = strict

    def run(self) -> list[Damage]:
        """Move all event records from the sources to the sink.

        Returns:
            The damage that was met on the way: what could not be opened, then what
            could not be read.

        Raises:
            TraceFormatError: There is damage, and it is to be strict.
        """
        damage = [found for source in self.sources for found in source.damage]
        self._refuse(damage)
        streams = [stream for source in self.sources for stream in source.streams]
        if self._order_matters or not _all_right(streams):
            damage.extend(self._run_in_order(streams))
        self.sink.finish()
        return damage

    @property
    def _order_matters(self) -> bool:
        """Tell whether anybody looks at the event records."""
        everything = self.selection == Selection()
        return bool(self.filters or self.sink.looks_at_records or not everything)

    def _run_in_order(self, streams: Sequence[Stream]) -> Iterator[Damage]:
        needed = frozenset().union(*(part.needed_events for part in self.filters))
        check = not self.sink.looks_at_records
        for merge in mux(streams, self.selection, needed, check=check):
            for component in self.filters:
                component.process(merge)
            self.sink.consume(merge.shown())
            found = list(_damage_of(merge))
            self._refuse(found)
            yield from found

    def _refuse(self, damage: Sequence[Damage]) -> None:
        if self.strict and damage:
            raise TraceFormatError.of_damage(damage[0])


def _all_right(streams: Sequence[Stream]) -> bool:
    """Decode everything in any order; tell whether there is nothing to report."""
    verifier = core.Verifier([stream.handle for stream in streams])
    while verifier.step():
        pass  # Ctrl-C is noticed between two steps.
    return verifier.records is not None


def _damage_of(merge: core.Merge) -> Iterator[Damage]:
    for notice in notices_of(merge):
        if isinstance(notice, DamageNotice):
            yield notice.damage
