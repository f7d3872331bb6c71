"""What a component must offer."""

from __future__ import annotations

from collections.abc import Sequence

from .. import core
from .._typing import Protocol
from ..damage import Damage
from .stream import Stream

__all__ = ["Analysis", "Filter", "PortedSource", "Sink", "Source"]


class Source(Protocol):
    """Gives data streams."""

    @property
    def streams(self) -> Sequence[Stream]:
        """The data streams."""

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be opened."""


class PortedSource(Source, Protocol):
    """A source of a plan: each of its data streams has an output port."""

    @property
    def port_names(self) -> Sequence[str]:
        """The names of the output ports, in the order of the data streams."""

    @property
    def trace_count(self) -> int:
        """The number of traces."""


class Filter(Protocol):
    """Adds to merges on their way to the sink.

    There may be several of one class: each adds a column of its own, and a record that
    one of them hides stays hidden.
    """

    @property
    def needed_events(self) -> frozenset[str]:
        """Names of events that the filter needs, also when nobody wants to see them."""

    def process(self, merge: core.Merge) -> None:
        """Add a derived column to a merge, or hide some of its records.

        Args:
            merge: The next merge, in order.
        """


class Sink(Protocol):
    """Consumes merges.

    One that needs events besides those that are wanted, or wants all fields decoded,
    says so with the attributes of :class:`Analysis`. With a method ``loose_classes`` it
    tells which event records of a data stream need not be in order with those of other
    ones, as ``LooseClasses`` of the muxer does: to sort them takes time.
    """

    @property
    def looks_at_records(self) -> bool:
        """Whether it wants to see event records.

        If not, all their fields are decoded nevertheless, to be sure that they can be;
        and if no filter looks at them either, merges may not come at all.
        """

    def consume(self, merge: core.Merge) -> None:
        """Take the next merge, with its notices.

        Args:
            merge: The next merge, in order.
        """

    def finish(self) -> None:
        """End the output."""


class Analysis(Sink, Protocol):
    """A sink that finds something out."""

    @property
    def needed_events(self) -> frozenset[str]:
        """Names of events that it needs, also when nobody wants to see them.

        If there are any, it gets merges with these events and with those that a filter
        hides; what is wanted is ``merge.shown()``.
        """

    @property
    def needs_boundaries(self) -> bool:
        """Whether it needs to know where data streams and packets begin and end."""

    @property
    def needs_early_losses(self) -> bool:
        """Whether it needs to know what was lost before the range of time."""

    @property
    def checks_fields(self) -> bool:
        """Whether all fields are decoded for it, to be sure that they can be."""
