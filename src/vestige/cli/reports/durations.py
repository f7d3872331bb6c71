"""The report of durations: histogram, percentiles, and the ten longest with thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...damage import Damage
from ...errors import CommandError
from ...graph import first_event_time, is_absolute
from ...plain_text import plain
from ..exit_statuses import UNREADABLE, WRONG_USAGE
from ..render.duration_lines import (
    Section,
    section_facts,
    section_lines,
    sections_table,
)
from ..suggestions import did_you_mean
from .duration_sections import SectionFinder
from .report import Table

if TYPE_CHECKING:
    from typing import Any

    from ..render.call_style import CallStyle
    from .reading import Reading

__all__ = ["DurationsReport", "make_report"]

MOST_SECTIONS = 10
"""Functions of which people are shown all."""


class DurationsReport:
    """How long some functions, spans or pairs took.

    Args:
        sections: One for each.
        begin: The time of the first event.
        is_absolute: Whether times count from the Unix epoch.
        damage: What could not be read.
    """

    def __init__(
        self,
        sections: Sequence[Section],
        begin: int | None,
        damage: Sequence[Damage],
        *,
        is_absolute: bool,
    ) -> None:
        self.sections = sections
        self.begin = begin
        self.damage = damage
        self.is_absolute = is_absolute

    def lines(self, style: CallStyle) -> Iterator[str]:
        """Write it for people; see :class:`Report`."""
        for index, section in enumerate(self.sections[:MOST_SECTIONS]):
            if index:
                yield ""
            yield from section_lines(
                section, style, self.begin, is_absolute=self.is_absolute
            )
        for section in self.sections[MOST_SECTIONS:]:
            yield f"also: {plain(section.name)}"

    def facts(self, style: CallStyle) -> dict[str, Any]:
        """Return it as JSON has it; see :class:`Report`."""
        return {
            "version": 1,
            "report": "durations",
            "durations": [section_facts(one, style) for one in self.sections],
            "damage": [found._asdict() for found in self.damage],
        }

    def table(self, style: CallStyle) -> Table:
        """Return the histograms; see :class:`Report`."""
        del style
        return Table(*sections_table(self.sections))


def make_report(reading: Reading) -> DurationsReport:
    """Read how long it took.

    Args:
        reading: The traces.

    Raises:
        CommandError: Nothing in the traces has such a name.
    """
    names: list[str] = reading.options.durations
    finder = SectionFinder(reading, names)
    sections: list[Section] = []
    for name in names:
        found = finder.sections(name)
        if not found:
            of_part = " in the chosen part of the trace" if reading.is_of_part else ""
            raise CommandError(
                f"--durations={plain(name)}: {finder.what_is_missing(name)}{of_part} "
                f"has this name{plain(did_you_mean(name, finder.names))}",
                exit_code=UNREADABLE if of_part else WRONG_USAGE,
            )
        sections += found
    streams = reading.source.streams
    absolute = any(
        is_absolute(one.trace, clock)
        for one in streams
        if (clock := one.handle.clock) is not None
    )
    # As "+" of the times that options take.
    begin = first_event_time(streams)
    return DurationsReport(sections, begin, finder.damage, is_absolute=absolute)
