"""The report of durations: histogram, percentiles, and the ten longest with thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from ..._typing import TYPE_CHECKING
from ...analysis.durations import Durations
from ...analysis.events import PairRule, found_rules
from ...analysis.function_choice import FunctionChoice
from ...components.filters.trimmer import first_event_time
from ...damage import Damage
from ...errors import CommandError, SelectionError
from ...graph import is_absolute
from ...plain_text import plain
from ..exit_statuses import WRONG_USAGE
from ..render.call_style import place_of
from ..render.duration_lines import (
    Long,
    Section,
    section_facts,
    section_lines,
    sections_table,
)
from ..render.event_table import origin_title
from ..render.pair_table import origin_facts
from ..suggestions import did_you_mean
from .calls import LONGEST, may_have_calls, read_tree
from .events import read_events
from .report import Table

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.call_nodes import FunctionCalls
    from ...analysis.events import Origin, PairTimes
    from ..render.call_style import CallStyle
    from .reading import Reading

__all__ = ["DurationsReport", "make_report"]

_KEY_ADVICE = (
    "what begins in one thread and ends in another one is matched by a field that both "
    "events have: BEGIN,END,KEY"
)
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
    name = reading.options.durations
    streams = reading.source.streams
    absolute = any(
        is_absolute(one.trace, clock)
        for one in streams
        if (clock := one.handle.clock) is not None
    )
    known = found_rules(streams)
    rules = _own_rule(name, streams) or [
        rule for rule in known if fnmatchcase(rule.name, name)
    ]
    if rules:
        table = read_events(reading, rules)
        names_of = {one.origin: one.name for one in table.origins}
        sections = [_pair_section(one, names_of) for one in table.pairs]
        damage, names = table.damage, {rule.name for rule in known}
    elif may_have_calls(reading):
        choice = _choice(name)
        tree = read_tree(reading, longest=LONGEST)
        every = tree.functions()
        sections = [_call_section(one) for one in every if choice.takes(one.function)]
        damage = tree.damage
        names = {one.function.name for one in every} | {rule.name for rule in known}
    else:
        sections, damage, names = [], [], {rule.name for rule in known}
    if not sections:
        what = "none of the events" if rules else "no function, span or pair of events"
        raise CommandError(
            f"--durations={plain(name)}: {what} has this name"
            f"{plain(did_you_mean(name, names))}",
            exit_code=WRONG_USAGE,
        )
    # As "+" of the times that options take.
    begin = first_event_time(streams)
    return DurationsReport(sections, begin, damage, is_absolute=absolute)


def _choice(name: str) -> FunctionChoice:
    try:
        return FunctionChoice([name])
    except SelectionError as error:
        raise CommandError(f"--durations: {error}", exit_code=WRONG_USAGE) from error


def _own_rule(name: str, streams: Sequence[Any]) -> list[PairRule]:
    """Return what ``BEGIN,END[,KEY]`` asks for; nothing if no event is called so."""
    begin, comma, rest = name.partition(",")
    end, _, key = rest.partition(",")
    known = {one for stream in streams for one in stream.event_names}
    if not comma or begin not in known or end not in known:
        return []
    return [PairRule.of(begin, end, key or None)]


def _pair_section(one: PairTimes, names: Mapping[Origin, str | None]) -> Section:
    has_key = one.rule.keys is not None
    is_split = one.no_end and one.no_begin and not one.durations.count and not has_key
    return Section(
        name=one.name,
        place="",
        what="pair",
        advice=_KEY_ADVICE if is_split else "",
        durations=one.durations,
        total=one.total,
        incomplete={
            "without end": one.no_end,
            "without begin": one.no_begin,
            "across a loss": one.across_loss,
        },
        longest=[
            Long(
                long.begin,
                long.duration,
                origin_title(long.origin, names.get(long.origin), with_trace=False),
                "",
                origin_facts(long.origin),
            )
            for long in one.durations.longest
        ],
    )


def _call_section(one: FunctionCalls) -> Section:
    durations = one.durations or Durations({}, 0, 0)
    return Section(
        name=one.function.name,
        place=place_of(one.function),
        # A coroutine is left each time that it waits.
        what="step" if one.resumes else "call",
        advice="",
        durations=durations,
        total=one.complete_time if durations.count else 0,
        incomplete={
            "without exit": one.no_exit,
            "without entry": one.no_entry,
            "across a loss": one.across_loss,
            "cut by the time range": one.clipped,
        },
        longest=[
            Long(
                long.begin,
                long.duration,
                str(long.thread),
                "" if long.caller is None else long.caller.name,
                {
                    "trace": long.thread.process.trace,
                    "vpid": long.thread.process.pid,
                    "vtid": long.thread.tid,
                    "caller": None if long.caller is None else long.caller.name,
                },
            )
            for long in durations.longest
        ],
    )
