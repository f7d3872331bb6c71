"""Calls of data streams that grow: what has come is folded once."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence

from .. import core
from .._typing import TYPE_CHECKING, NamedTuple
from ..damage import Damage
from ..graph import Graph, Selection, Stream
from ..graph.growing import Arrival, Feed
from .call_reader import CallReader, Names
from .fold_trees import tree_of
from .named_functions import named_functions

if TYPE_CHECKING:
    from ..debuginfo import Resolver
    from .calls import CallTree
    from .functions import Function

__all__ = ["CallsSoFar", "GrowingCalls"]


class CallsSoFar(NamedTuple):
    """The calls of data streams until some time; those that are open end there."""

    fold: core.CallFold
    """A fold of them that does not go on."""
    functions: Sequence[Function]
    """The functions, by their numbers in the fold."""
    names: Names
    """Names of processes, by process space and process ID; and of threads."""
    tree: CallTree
    """The call tree, without spans and coroutines."""


class _Asked(Feed):
    # Notes whether a source had something when it was asked last.

    def __init__(self, feed: Feed) -> None:
        super().__init__(feed.path)
        self._feed = feed
        self.streams = feed.streams
        self.damage = feed.damage
        self.handle = feed.handle
        self.found: bool | None = None
        """Whether there was anything; ``None`` if it was not asked."""

    def close(self) -> None:
        """Stop reading."""
        self._feed.close()

    def poll(self, hungry: Collection[Stream]) -> Arrival:
        """Look for more."""
        arrival = self._feed.poll(hungry)
        self.found = arrival.has_news
        return arrival


class GrowingCalls:
    """The calls of data streams that grow: what has come is read once.

    Args:
        feeds: The sources of the data streams.
        resolver: Finds object and debug files, and looks addresses up in them.
        longest: How many of the longest calls of each function are kept.
        begin: Says what the fold is to keep besides, before anything is read.
    """

    def __init__(
        self,
        feeds: Sequence[Feed],
        resolver: Resolver,
        *,
        longest: int,
        begin: Callable[[core.CallFold], object],
    ) -> None:
        self.feeds = feeds
        """The sources of the data streams."""
        self._resolver = resolver
        self._reader = CallReader(resolver, needs_calls=False)
        self._reader.keep_durations(longest)
        begin(self._reader.fold)
        self._graph = Graph([], self._reader)
        self._asked = [_Asked(feed) for feed in feeds]
        self._graph.feeds = {feed: Selection() for feed in self._asked}
        self._graph.retry_duration = None
        self._steps = self._graph.steps()
        self.has_ended = False
        """Whether nothing more will come."""

    @property
    def damage(self) -> list[Damage]:
        """What could not be read so far."""
        return self._graph.damage

    def advance(self, patience: float) -> bool:
        """Read what has come.

        Args:
            patience: How long more is read if ever more comes, seconds.

        Returns:
            Whether there was anything.

        Raises:
            TraceFormatError: Nothing more can be read.
        """
        before = self._reader.events
        until = time.monotonic() + patience
        while time.monotonic() <= until:
            for one in self._asked:
                one.found = None
            so_far = self._reader.events
            if next(self._steps, _END) is _END:
                self.has_ended = True
                return True
            found = [one.found for one in self._asked if one.found is not None]
            # Each that can have more was asked, and has none.
            if self._reader.events == so_far and found and not any(found):
                break
        return self._reader.events > before

    def so_far(self, streams: Sequence[Stream]) -> CallsSoFar:
        """Return what has been read until now.

        Args:
            streams: The data streams, for names and environments of their traces.
        """
        reader = self._reader
        fold = reader.fold.copy()
        fold.finish()
        functions = named_functions(reader, self._resolver)
        tree = tree_of(reader, fold, functions, streams)
        tree.damage = [*self.damage]
        names = {**reader.names}, reader.thread_names
        return CallsSoFar(fold, functions, names, tree)


_END = object()
"""What a graph gives that has run."""
