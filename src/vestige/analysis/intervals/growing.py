"""Intervals of traces that grow: what has come is read once, and added."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Protocol

from ..._typing import TYPE_CHECKING
from ...damage import Damage
from ...graph import Stream
from ..calls import CallTree
from ..growing_calls import GrowingCalls
from .facts import function_ids, write_facts
from .intervals import Intervals

if TYPE_CHECKING:
    from ...debuginfo import Resolver
    from ...graph.growing import Feed

__all__ = ["GrowingIntervals"]


class _HasStreams(Protocol):
    @property
    def streams(self) -> Sequence[Stream]:
        """The data streams."""


class GrowingIntervals:
    """Reads traces that grow.

    Args:
        feeds: The sources of their data streams.
        resolver: Finds object and debug files, and looks addresses up in them.
        longest: How many of the longest calls of each function the call tree keeps.
        every: How many event records there are at least between two points where a
            reading may begin.
    """

    def __init__(
        self,
        feeds: Sequence[Feed],
        resolver: Resolver,
        *,
        longest: int,
        every: int = 1 << 15,
    ) -> None:
        self._calls = GrowingCalls(
            feeds,
            resolver,
            longest=longest,
            begin=lambda fold: fold.keep_intervals(every),
        )

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come."""
        return self._calls.has_ended

    @property
    def damage(self) -> list[Damage]:
        """What could not be read so far."""
        return self._calls.damage

    def advance(self, patience: float) -> bool:
        """Read what has come.

        Args:
            patience: How long more is read if ever more comes, seconds.

        Returns:
            Whether there was anything.

        Raises:
            TraceFormatError: Nothing more can be read.
        """
        return self._calls.advance(patience)

    def so_far(self, source: _HasStreams) -> tuple[Intervals, CallTree]:
        """Return the intervals until now, and the call tree; open calls end there.

        Args:
            source: The same traces as they are in files now: single calls are read
                there. What no file has is in the timeline alone.
        """
        fed = [stream for feed in self._calls.feeds for stream in feed.streams]
        ordered = sorted(source.streams or fed, key=Stream.order_key)
        read = list(_same(ordered, fed))
        found = self._calls.so_far(ordered)
        ids, known = function_ids(found.functions)
        told = [one or other for one, other in zip(read, ordered, strict=True)]
        told_of = (found.tree.losses, told, self.damage)
        facts = write_facts(
            known, found.names, *told_of, has_codes=found.fold.has_codes
        )
        handles = [None if one is None else one.handle for one in read]
        index = found.fold.take_index(facts, ids, handles)
        if index is None:
            raise RuntimeError("the fold of calls kept no index")
        return Intervals(index, ordered), found.tree


def _same(streams: Iterable[Stream], fed: Iterable[Stream]) -> Iterable[Stream | None]:
    """Find for each data stream the one that is read as it grows: of the same file."""
    by_path = {os.path.abspath(stream.path): stream for stream in fed}  # noqa: PTH100 - the paths are text
    for stream in streams:
        paths = [*map(os.path.abspath, stream.handle.paths), stream.path]
        yield next((by_path[path] for path in paths if path in by_path), None)
