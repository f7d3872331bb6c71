"""How deep events are in calls, and how long calls took: ``filter.vestige.call-marks``.

Nothing is added to the event records that others could see: it is for the lines of
text of ``sink.vestige.short``. How long a call took is said at its exit, so that one
reading is enough.
"""

from __future__ import annotations

from ... import core
from ..._typing import TYPE_CHECKING
from ...debuginfo import CALL_ENTRY_EVENTS, CALL_EXIT_EVENTS
from ...errors import SelectionError

if TYPE_CHECKING:
    from ...graph.plan import ComponentSpec

__all__ = ["CallMarkFilter", "make_call_marks"]


class CallMarkFilter:
    """Says of event records what they are in the calls of their thread.

    Args:
        indents: Whether the depth of each event is wanted: then entries and exits are
            read from the beginning on, whatever is shown, and a call that has nothing
            in it is one event record.
    """

    def __init__(self, *, indents: bool = False) -> None:
        self._indents = indents
        calls = {*CALL_ENTRY_EVENTS, *CALL_EXIT_EVENTS}
        self.needed_events = frozenset(calls if indents else ())
        """Entries and exits, if nothing of them may be missing."""
        self.needs_early_losses = indents
        self._fold = core.CallFold.of_marks(
            list(CALL_ENTRY_EVENTS), list(CALL_EXIT_EVENTS), indents
        )

    def process(self, merge: core.Merge) -> None:
        """Mark a merge.

        Args:
            merge: The next merge, in order.

        Raises:
            SelectionError: The events do not tell their threads, so nobody knows what
                is in which call.
        """
        self._fold.mark(merge)
        if self._indents and self._fold.threads_unknown:
            raise SelectionError(
                "the events do not tell their threads, so nobody knows which calls "
                "they are in; record the contexts: "
                "lttng add-context -u -t vpid -t vtid -t ip"
            )


def make_call_marks(
    spec: ComponentSpec, _sources: object, _selection: object
) -> CallMarkFilter:
    """Make a filter.

    Args:
        spec: The component.
    """
    return CallMarkFilter(indents=bool(spec.params.get("indent", False)))
