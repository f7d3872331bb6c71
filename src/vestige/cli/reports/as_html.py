"""Reports as one page for a browser, with a timeline and a flame graph in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..._typing import TYPE_CHECKING
from ...analysis.intervals import intervals_of
from ...analysis.locks import read_locks
from ...analysis.turns import read_turns
from ...damage import Damage
from ...errors import CommandError
from ...graph import Selection
from ...page.event_rows import EventRows
from ...page.one_file import one_file
from ...page.waits import read_waits
from ..exit_statuses import WRONG_USAGE
from .kinds import call_options

if TYPE_CHECKING:
    from ...analysis.calls import CallTree
    from ...analysis.intervals import Intervals
    from ..render.call_style import CallStyle
    from .reading import Reading

__all__ = ["PageReport", "make_report", "write"]

_MOST_EVENTS = 3_000


class PageReport:
    """What a page shows.

    Args:
        intervals: The timeline.
        calls: The call tree.
    """

    def __init__(self, intervals: Intervals, calls: CallTree) -> None:
        self.intervals = intervals
        self.calls = calls

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be read."""
        return self.calls.damage


def make_report(reading: Reading) -> PageReport:
    """Read traces for a page.

    Args:
        reading: The traces.

    Raises:
        CommandError: Nothing was recorded, or a part of it is asked for.
    """
    _check(reading)
    with reading.progress() as progress:
        intervals, calls = intervals_of(
            reading.source,
            reading.resolver(),
            place=reading.index_place(),
            needs_tree=True,
            progress=progress,
        )
    if calls is None or not intervals.rows:
        raise CommandError(f"{reading.paths}: no event record to show")
    return PageReport(intervals, calls)


def _check(reading: Reading) -> None:
    """Refuse what a page does not do: it holds all, and people choose in it."""
    asked = [f"--{name.replace('_', '-')}" for name in call_options(reading.options)]
    if reading.wanted:
        asked.append(reading.wanted)
    if reading.selection != Selection():
        asked.append("a choice of events or times")
    if asked:
        raise CommandError(
            f"--to html: a page is of a whole trace, not for {asked[0]}: ranges and "
            "functions are chosen in it",
            exit_code=WRONG_USAGE,
        )


def write(report: PageReport, style: CallStyle, reading: Reading) -> Iterator[str]:
    """Write the page.

    Args:
        report: What it shows.
        style: Not used: a page is the same on all terminals.
        reading: The traces.

    Yields:
        Parts of the page.
    """
    del style
    intervals = report.intervals
    rows = EventRows(reading.source.streams, intervals)
    found = rows.between(0, intervals.end - intervals.begin, _MOST_EVENTS)
    return one_file(
        ", ".join(Path(path).resolve().name for path in reading.options.paths),
        intervals,
        report.calls,
        found["events"],
        has_more_events=found["more"],
        locks=read_waits(
            reading.source.streams,
            lambda most: read_locks(reading.source, reading.places(), longest=most),
        ),
        turns=read_turns(reading.source.streams),
    )
