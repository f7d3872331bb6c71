"""The page of a trace, as notebooks show it: :class:`Timeline`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from .._typing import TYPE_CHECKING
from ..notebook import frame_html

if TYPE_CHECKING:
    from ..analysis import CallTree
    from ..analysis.intervals import Intervals
    from ..analysis.locks import Locks
    from ..graph import Stream

__all__ = ["Timeline", "TimelineSource"]

LIMIT = 900_000
"""How large the page may become, bytes: notebooks hold all of it as text."""
_MOST_EVENTS = 1_000
"""Event records that are no calls."""


class TimelineSource(Protocol):
    """What is needed of a trace."""

    @property
    def streams(self) -> Sequence[Stream]:
        """The data streams."""

    def intervals(self) -> Intervals:
        """Return its calls as a timeline."""

    def locks(self, *, longest: int) -> Locks:
        """Find out who waited for mutexes.

        Args:
            longest: How many of the longest waits are kept.
        """

    def call_tree(self, *, durations: bool) -> CallTree:
        """Rebuild its calls.

        Args:
            durations: Whether to keep how long they took.
        """


class Timeline:
    """The page of a trace: a timeline, a flame graph, and what each function took.

    Args:
        trace: The trace.
        title: What it is called.
        tree: Its call tree; it is read when the page is wanted, if it is not there.
    """

    def __init__(
        self, trace: TimelineSource, title: str, tree: CallTree | None = None
    ) -> None:
        self._trace = trace
        self._title = title
        self._tree = tree

    def to_html(self) -> str:
        """Return the page, which asks for nothing that is not in it."""
        from ..analysis.turns import read_turns  # noqa: PLC0415 - as below
        from ..page.event_rows import EventRows  # noqa: PLC0415 - few need it
        from ..page.one_file import one_file  # noqa: PLC0415 - as above
        from ..page.waits import read_waits  # noqa: PLC0415 - as above

        intervals = self._trace.intervals()
        tree = self._tree or intervals.call_tree()
        if tree is None:
            tree = self._trace.call_tree(durations=True)
        rows = EventRows(self._trace.streams, intervals)
        found = rows.between(0, intervals.end - intervals.begin, _MOST_EVENTS)
        page = one_file(
            self._title,
            intervals,
            tree,
            found["events"],
            has_more_events=found["more"],
            locks=read_waits(
                self._trace.streams, lambda most: self._trace.locks(longest=most)
            ),
            turns=read_turns(self._trace.streams),
            limit=LIMIT,
        )
        return "".join(page)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file.

        Args:
            path: The file.
        """
        Path(path).write_text(self.to_html(), encoding="utf-8")

    def __repr__(self) -> str:
        """Show of what it is."""
        return f"<Timeline of {self._trace}>"

    def _repr_html_(self) -> str:
        """Show the page in a notebook."""
        return frame_html(self.to_html(), f"Timeline of {self._title}")
