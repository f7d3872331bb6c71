"""Running components: sources, the muxer, filters, a sink."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from .. import core
from .._typing import NamedTuple, Protocol
from ..damage import Damage
from ..errors import TraceFormatError
from .growing import RETRY_DURATION, Feed
from .mux import merges
from .notice import DamageNotice, Notice, damage_of_packets
from .protocols import Filter, Sink, Source
from .selection import Selection
from .stream import Stream

__all__ = ["Graph", "Inputs", "run_graphs"]


class Inputs(NamedTuple):
    """Data streams as a source."""

    streams: Sequence[Stream]
    """The data streams."""
    damage: Sequence[Damage] = ()
    """What could not be opened."""


class RunningGraph(Protocol):
    """A graph of any kind."""

    damage: list[Damage]
    """What was met so far."""

    def run(self) -> list[Damage]:
        """Do all there is to do; return the damage that was met."""

    def steps(self) -> Iterator[None]:
        """Do the same, a part at a time."""


class Graph:
    """Sources, filters in order and one sink.

    Args:
        sources: The sources.
        sink: The sink.
        filters: The filters, in the order in which they see a merge.
        selection: Which event records are wanted.
        strict: Whether to stop at the first damage.
        progress: Called after each merge with the number of event records so far.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of a graph
        self,
        sources: Sequence[Source],
        sink: Sink,
        filters: Sequence[Filter] = (),
        selection: Selection | None = None,
        strict: bool = False,  # noqa: FBT001, FBT002 - as above
        progress: Callable[[int], object] | None = None,
    ) -> None:
        self.sources = sources
        self.sink = sink
        self.filters = filters
        self.selection: Selection | Mapping[Stream, Selection] = (
            selection or Selection()
        )
        """Which event records are wanted, of all data streams or of each."""
        self.feeds: Mapping[Feed, Selection] = {}
        """Sources of data streams that grow, with what is wanted of each."""
        self.retry_duration: float | None = RETRY_DURATION
        """How long to wait for one of these that has nothing yet, seconds."""
        self.strict = strict
        self.progress = progress
        self.damage: list[Damage] = []
        """What was met so far: what could not be opened, then what cannot be read."""
        self.overlooked: frozenset[str] = frozenset()
        """Kinds of damage that are as good as none."""
        self.is_literal = False
        """Whether to read as Babeltrace 2 does.

        It looks for damaged packets before anything else, and takes all records in
        front of damage as they are, even if they may be misread.
        """

    @property
    def streams(self) -> list[Stream]:
        """The data streams of all sources, as far as they are known."""
        sources = [*self.sources, *self.feeds]
        return [stream for source in sources for stream in source.streams]

    def run(self) -> list[Damage]:
        """Move all event records from the sources to the sink.

        Returns:
            The damage that was met on the way: what could not be opened, then what
            could not be read.

        Raises:
            TraceFormatError: There is damage, and it is to be strict.
        """
        for _ in self.steps():
            pass
        return self.damage

    def steps(self) -> Iterator[None]:
        """Do what :meth:`run` does, a merge at a time.

        Yields:
            Nothing, after each merge.

        Raises:
            TraceFormatError: There is damage, and it is to be strict.
        """
        self.damage = []
        for source in self.sources:
            for found in source.damage:
                self._add_damage(found)
        streams = [stream for source in self.sources for stream in source.streams]
        if self.is_literal:
            for stream in streams:
                for found in damage_of_packets(stream):
                    self._add_damage(found)
        if self._order_matters or self.feeds or not _all_right(streams):
            yield from self._steps_in_order(streams)
        self.sink.finish()

    @property
    def _order_matters(self) -> bool:
        """Tell whether anybody looks at the event records."""
        everything = self.selection == Selection()
        return bool(self.filters or self.sink.looks_at_records or not everything)

    def _steps_in_order(self, streams: Sequence[Stream]) -> Iterator[None]:
        events = 0
        sink = self.sink
        needed: frozenset[str] = getattr(sink, "needed_events", frozenset())
        check = not sink.looks_at_records or getattr(sink, "checks_fields", False)
        for merge in merges(
            streams,
            self.selection,
            self.filters,
            needed=needed,
            check=check,
            boundaries=getattr(sink, "needs_boundaries", False),
            doubtful=self.is_literal,
            early_losses=getattr(sink, "needs_early_losses", False),
            feeds=self.feeds,
            retry_duration=self.retry_duration,
            loose=getattr(sink, "loose_classes", None),
            tell=self._note,
            tell_damage=self._add_damage,
        ):
            wanted = merge.until_damage([*self.overlooked]) if self.strict else merge
            sink.consume(wanted if needed else wanted.shown())
            if self.progress is not None:
                events += len(merge)
                self.progress(events)
            yield

    def _note(self, notice: Notice) -> None:
        if isinstance(notice, DamageNotice):
            self._add_damage(notice.damage)

    def _add_damage(self, damage: Damage) -> None:
        if damage.kind in self.overlooked:
            return
        if self.strict:
            raise TraceFormatError.of_damage(damage)
        self.damage.append(damage)


def run_graphs(graphs: Sequence[RunningGraph]) -> list[Damage]:
    """Run graphs in turn, a merge of each at a time.

    Args:
        graphs: The graphs.

    Returns:
        The damage that they met.

    Raises:
        TraceFormatError: There is damage, and it is to be strict.
    """
    if len(graphs) == 1:
        return graphs[0].run()
    running = [graph.steps() for graph in graphs]
    while running:
        running = [steps for steps in running if next(steps, _END) is not _END]
    return [found for graph in graphs for found in graph.damage]


_END = object()
"""What a graph gives that has run."""


def _all_right(streams: Sequence[Stream]) -> bool:
    """Decode everything in any order; tell whether there is nothing to report."""
    verifier = core.Verifier([stream.handle for stream in streams])
    while verifier.step():
        pass  # Ctrl-C is noticed between two steps.
    return verifier.records is not None
