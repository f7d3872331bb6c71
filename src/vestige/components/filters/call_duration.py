"""Only calls that last long enough: ``filter.vestige.call-duration``.

Entries and exits of shorter calls are hidden; all other events stay. How long a call
lasts is known at its exit only, and its entry comes first, perhaps by hours. So the
traces are read twice: the first reading leaves a bit for each entry and exit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ... import core
from ..._typing import TYPE_CHECKING
from ...debuginfo import CALL_ENTRY_EVENTS, CALL_EXIT_EVENTS
from ...errors import SelectionError
from ...graph import Graph, Inputs, Selection, Source

if TYPE_CHECKING:
    from ...graph.plan import ComponentSpec

__all__ = ["CallDurationFilter", "make_call_duration"]


class CallDurationFilter:
    """Hides entries and exits of short calls.

    A call whose entry or exit is missing is shown if it is known to have lasted long
    enough nevertheless.

    Args:
        least: How long calls last that are shown, nanoseconds.
        sources: The sources of the graph, all of them.
        selection: What the graph reads.
        progress: Called with the number of events of the first reading so far.

    Raises:
        SelectionError: The events do not tell their threads.
    """

    needed_events = frozenset({*CALL_ENTRY_EVENTS, *CALL_EXIT_EVENTS})
    """Entries and exits from the beginning on, so that both readings see the same."""

    def __init__(
        self,
        least: int,
        sources: Sequence[Source],
        selection: Selection | None = None,
        *,
        progress: Callable[[int], object] | None = None,
    ) -> None:
        self._fold = core.CallFold(
            list(CALL_ENTRY_EVENTS), list(CALL_EXIT_EVENTS), [], least=least
        )
        streams = [stream for source in sources for stream in source.streams]
        wanted = selection or Selection()
        if not wanted.intersection:
            # Exits after the end of the range belong to entries in it.
            wanted = Selection()
        first = _FirstReading(self._fold, self.needed_events)
        Graph([Inputs(streams)], first, (), wanted, progress=progress).run()
        if self._fold.threads_unknown:
            raise SelectionError(
                "the events do not tell their threads, so nobody knows how long calls "
                "last; record the contexts: lttng add-context -u -t vpid -t vtid -t ip"
            )

    @property
    def calls(self) -> int:
        """How many entries and exits there are, hidden ones included."""
        return self._fold.calls

    def process(self, merge: core.Merge) -> None:
        """Hide the entries and exits of short calls.

        Args:
            merge: The next merge, in order.
        """
        self._fold.select(merge)


def make_call_duration(
    spec: ComponentSpec, sources: Sequence[Source], selection: Selection
) -> CallDurationFilter:
    """Make a filter, which reads the traces for the first time.

    Args:
        spec: The component.
        sources: The traces.
        selection: What is read of them.

    Raises:
        SelectionError: The events do not tell their threads.
    """
    return CallDurationFilter(spec.params["least-ns"], sources, selection)


class _FirstReading:
    # Leaves a bit for each entry and exit. Damage is told by the second reading.
    looks_at_records = True
    checks_fields = False
    needs_early_losses = True

    def __init__(self, fold: core.CallFold, needed_events: frozenset[str]) -> None:
        self._fold = fold
        self.needed_events = needed_events

    def consume(self, merge: core.Merge) -> None:
        """Go through a merge."""
        self._fold.begin(merge)
        self._fold.advance()

    def finish(self) -> None:
        """End calls that have not ended."""
        self._fold.finish()
