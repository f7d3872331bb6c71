"""Filters that stand before a muxer: they see a part of what is merged."""

from __future__ import annotations

from collections.abc import Sequence

from .. import core
from .._typing import TYPE_CHECKING
from .growing import Feed
from .protocols import Filter, PortedSource
from .stream import Stream

if TYPE_CHECKING:
    from typing import Any

__all__ = ["PartFilter", "SourcePart"]


class PartFilter:
    """A filter that sees the event records of some data streams.

    Args:
        filter: The filter.
        streams: The data streams.
    """

    def __init__(
        self,
        filter: Filter,  # noqa: A002 - what it is
        streams: frozenset[Stream | Feed],
    ) -> None:
        self._filter = filter
        self._streams = streams

    @property
    def needed_events(self) -> frozenset[str]:
        """Names of the events that the filter needs."""
        return self._filter.needed_events

    @property
    def needs_early_losses(self) -> bool:
        """Whether the filter needs to know what was lost before the range of time."""
        return bool(getattr(self._filter, "needs_early_losses", False))

    def process(self, merge: core.Merge) -> None:
        """Give the filter its part of a merge, and the merge what becomes of it.

        Args:
            merge: The next merge, in order.
        """
        part = merge.part(self._streams)
        self._filter.process(part)
        merge.adopt(part)


class SourcePart:
    """A source of which not all data streams are taken.

    Args:
        source: The source.
        streams: Those that are, and perhaps others.
    """

    def __init__(self, source: PortedSource, streams: frozenset[Stream | Feed]) -> None:
        self._source = source
        self.streams: Sequence[Stream] = [
            stream for stream in source.streams if stream in streams
        ]
        """Those of its data streams that are taken."""

    def __getattr__(self, name: str) -> Any:
        """Return what the source has besides, such as where it was found."""
        return getattr(self._source, name)
