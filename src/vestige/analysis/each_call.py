"""Reading calls one by one, for exports in which each of them matters.

What :mod:`.call_reader` adds up passes here part by part, with names as they become
known. Nothing is kept of calls that have ended.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from .. import core
from .._typing import NamedTuple
from ..debuginfo import Resolver
from ..graph import Selection, Stream
from .call_reader import CallReader
from .functions import MERGED_FUNCTION, Function
from .named_functions import named_functions

__all__ = ["EachCall", "Wanted"]


class Wanted(NamedTuple):
    """Which part of traces is read."""

    selection: Selection = Selection()
    """Which event records."""
    has_filter: bool = False
    """Whether a filter hides entries of calls."""


EVERYTHING = Wanted()
MOST_WAITING = 200
"""So many merges wait for the names of functions that ran before their program told of
its objects."""


class EachCall(CallReader):
    """A sink that takes calls as they begin and end.

    Derived classes have :meth:`take`.

    Args:
        resolver: Names functions.
        streams: The data streams, whose traces name processes.
        wanted: Which part of the traces is read; all by default.
    """

    def __init__(
        self,
        resolver: Resolver,
        streams: Sequence[Stream],
        *,
        wanted: Wanted = EVERYTHING,
    ) -> None:
        selection = wanted.selection
        is_range = selection.begin is not None
        # What is open where a range begins is known from what is before it.
        self.needs_calls = bool(selection.filters) or wanted.has_filter or is_range
        super().__init__(resolver, needs_calls=self.needs_calls)
        self.set_range(selection, streams)
        self._traces = {stream.process_space: stream.trace for stream in streams}
        self.named: list[Function] = []
        """The functions, by their indexes in the core."""
        self._waiting = 0
        self.shown = 0
        """How many event records were handed over."""

    def consume(self, merge: core.Merge) -> None:
        """Go through a merge, and hand over what it held."""
        super().consume(merge)
        shown = merge.shown()
        self.shown += len(shown)
        self._waiting = self._waiting + 1 if self._is_early() else 0
        if self._waiting <= MOST_WAITING:
            self._name(is_last=False)
        self.take(shown)

    def finish(self) -> None:
        """End what has not ended, and hand that over."""
        super().finish()
        self._name(is_last=True)
        self.take(None)

    def take(self, merge: core.Merge | None) -> None:
        """Take what was noted since the last time.

        Args:
            merge: The event records that it is of, without those that were needed only
                to follow calls; ``None`` at the end.
        """
        raise NotImplementedError

    @property
    def all_are_named(self) -> bool:
        """Whether all functions that were seen have names."""
        return len(self.named) == len(self.functions)

    @property
    def is_empty(self) -> bool:
        """Whether there is no call, neither whole nor in part."""
        return not any(row[1][0] for row in self.fold.nodes())

    def function(self, index: int) -> Function:
        """Return a function by its index in the core.

        Args:
            index: The index; what is none stands for paths that share a node.
        """
        return self.named[index] if index < len(self.named) else MERGED_FUNCTION

    def process_name(self, space: int, vpid: int) -> str | None:
        """Return the name of a process, as far as it is known by now.

        Args:
            space: The process space.
            vpid: The process ID.
        """
        name = self.names.get((space, vpid))
        if not name and (trace := self._traces.get(space)) is not None:
            name = str(trace.parsed.environment.get("procname") or "")
        return name or None

    def thread_name(self, space: int, vpid: int, vtid: int) -> str | None:
        """Return the name of a thread, or that of its process, as known by now.

        Args:
            space: The process space.
            vpid: The process ID.
            vtid: The thread ID.
        """
        own = self.threads_called.find(space, vpid, vtid)
        return own or self.process_name(space, vpid)

    def _is_early(self) -> bool:
        known = len(self.named)
        return any(index >= known for one in self._early.values() for index in one)

    def _name(self, *, is_last: bool) -> None:
        if self._is_early() and not is_last and self._waiting <= MOST_WAITING:
            return
        first = len(self.named)
        if first == len(self.functions):
            return
        fresh = copy.copy(self)
        fresh.functions = self.functions[first:]
        fresh.mappings = self.mappings[first:]
        self.named += named_functions(fresh, self._resolver)
