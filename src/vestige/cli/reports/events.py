"""The report of events: how many there are of each name, when, and of which threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...analysis.events import EventTable, event_table
from ...damage import Damage
from ...errors import CommandError
from ..exit_statuses import WRONG_USAGE
from ..render.event_table import event_lines, events_facts, events_table
from .report import Table

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.events import PairRule
    from ..render.call_style import CallStyle
    from .reading import Reading

__all__ = ["EventsReport", "make_report", "read_events"]


class EventsReport:
    """The events of some traces.

    Args:
        events: How many there are of each name and thread.
        notes: What people are told besides.
    """

    def __init__(self, events: EventTable, notes: Sequence[str] = ()) -> None:
        self.events = events
        self.notes = notes

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be read."""
        return self.events.damage

    def lines(self, style: CallStyle) -> Iterator[str]:
        """Write it for people; see :class:`Report`."""
        return event_lines(self.events, style, self.notes)

    def facts(self, style: CallStyle) -> dict[str, Any]:
        """Return it as JSON has it; see :class:`Report`."""
        return events_facts(self.events, style)

    def table(self, style: CallStyle) -> Table:
        """Return the events by name, with threads if asked for; see :class:`Report`."""
        return Table(*events_table(self.events, style))


def make_report(reading: Reading, notes: Sequence[str] = ()) -> EventsReport:
    """Count the events, and match those that begin and end something.

    Args:
        reading: The traces.
        notes: What people are told besides.

    Raises:
        CommandError: None of the events is of the threads that were asked for.
    """
    return EventsReport(read_events(reading), notes)


def read_events(
    reading: Reading, rules: Sequence[PairRule] | None = None
) -> EventTable:
    """Count the events of the threads that are wanted.

    Args:
        reading: The traces.
        rules: What begins and ends; by default what names of events show.

    Raises:
        CommandError: None of the events is of the threads that were asked for.
    """
    selection = reading.selection
    if rules is None and not reading.options.all:
        # Whoever names events that begin and end something wants these.
        selection = selection._replace(recorder_events=False)
    with reading.progress() as progress:
        table = event_table(
            reading.source,
            selection=selection,
            rules=rules,
            longest=reading.longest,
            pairs_of_threads=bool(reading.wanted) or reading.options.thread is not None,
            progress=progress,
        )
    if reading.wanted:
        chosen = table.of(
            lambda one: reading.takes(one.origin.process, one.origin.thread)
        )
        if table.events and not chosen.events:
            raise CommandError(
                f"{reading.wanted}: no such {reading.wanted_kind} has events; "
                "'vestige report --events --thread' shows those that have",
                exit_code=WRONG_USAGE,
            )
        table = chosen
    return table
