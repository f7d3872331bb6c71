"""What is read for one sink: data streams that are merged, and go through filters."""

from __future__ import annotations

from functools import partial

from .._typing import TYPE_CHECKING, NamedTuple
from ..errors import GraphError
from .growing import Feed
from .selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from .component_class import MakeFilter
    from .plan import ComponentSpec
    from .protocols import Filter, PortedSource
    from .stream import Stream

__all__ = ["Pipe", "PipeFilter", "Selections"]

Selections = dict["Stream | Feed", Selection]
"""What is wanted of each data stream, or of all those that a source gains."""


class PipeFilter(NamedTuple):
    """A filter of a pipe."""

    spec: ComponentSpec
    """The component."""
    streams: frozenset[Stream | Feed]
    """The data streams that come in."""
    sources: Sequence[PortedSource]
    """Where they come from."""
    maker: MakeFilter | None = None
    """What makes it, if not its class."""


class Pipe(NamedTuple):
    """Data streams that are merged, filters, and a sink."""

    selections: Selections
    """The data streams, and what is wanted of each."""
    filters: Sequence[PipeFilter]
    """The filters, each behind those whose output it gets."""
    sink: ComponentSpec
    """The sink."""

    @property
    def parts(self) -> tuple[dict[Stream, Selection], dict[Feed, Selection]]:
        """The data streams that are known, and the sources that gain some."""
        fixed: dict[Stream, Selection] = {}
        feeds: dict[Feed, Selection] = {}
        for one, wanted in self.selections.items():
            if isinstance(one, Feed):
                feeds[one] = wanted
            else:
                fixed[one] = wanted
        return fixed, feeds

    @property
    def common_selection(self) -> Selection:
        """What is wanted of all data streams, as far as it is the same."""
        return common(self.selections.values())

    def make_filter(self, one: PipeFilter, make: Callable[..., Any]) -> Filter:
        """Make a filter of the pipe.

        Args:
            one: It.
            make: What makes components as their classes do.
        """
        maker = one.maker or partial(make, one.spec)
        if one.streams == self.selections.keys():
            made: Filter = maker(one.sources, self.common_selection)
            return made
        if any(isinstance(stream, Feed) for stream in self.selections):
            raise GraphError(
                f"component '{one.spec.name}': a filter cannot get a part of what is "
                "merged with data streams that grow; connect the muxer before it"
            )
        wanted = [self.selections[stream] for stream in one.streams]
        from .part_filter import (  # noqa: PLC0415 - most filters see all
            PartFilter,
            SourcePart,
        )

        sources = [SourcePart(source, one.streams) for source in one.sources]
        return PartFilter(maker(sources, common(wanted)), one.streams)


def common(selections: Iterable[Selection]) -> Selection:
    found = set(selections)
    if len(found) == 1:
        return found.pop()
    intersection = any(one.intersection for one in found)
    return Selection(intersection=intersection)
