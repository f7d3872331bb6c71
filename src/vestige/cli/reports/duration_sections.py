"""What ``vestige report --durations`` shows of each name: functions, spans, pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from ..._typing import TYPE_CHECKING
from ...analysis.durations import Durations
from ...analysis.events import PairRule, found_rules
from ...analysis.function_choice import FunctionChoice
from ...damage import Damage
from ...errors import CommandError, SelectionError
from ..exit_statuses import WRONG_USAGE
from ..render.call_style import duration, place_of
from ..render.duration_lines import Long, Section
from ..render.event_table import origin_title
from ..render.pair_table import origin_facts
from .calls import may_have_calls, read_tree
from .events import read_events

if TYPE_CHECKING:
    from typing import Any, Literal

    from ...analysis.activities import Activity, LongActivity, Wait
    from ...analysis.call_nodes import FunctionCalls
    from ...analysis.calls import CallTree
    from ...analysis.durations import LongCall
    from ...analysis.events import EventTable, Origin, PairTimes
    from ...analysis.threads import Thread
    from ...analysis.turns import Turns
    from .reading import Reading

__all__ = ["SectionFinder"]

_KEY_ADVICE = (
    "what begins in one thread and ends in another one is matched by a field that both "
    "events have: BEGIN,END,KEY"
)
WITHINS: tuple[Literal["thread", "process", "cpu"], ...] = ("thread", "process", "cpu")
"""What may be demanded to be the same of a begin and an end with a key."""


class SectionFinder:
    """Reads what some names ask for, each trace as seldom as possible.

    Args:
        reading: The traces.
        names: The names.
    """

    def __init__(self, reading: Reading, names: Sequence[str]) -> None:
        self._reading = reading
        streams = reading.source.streams
        known = found_rules(streams)
        self.names = {rule.name for rule in known}
        """What there is, for advice."""
        self._rules = {
            name: _own_rule(name, streams)
            or [rule for rule in known if fnmatchcase(rule.name, name)]
            for name in names
        }
        self._table: EventTable | None = None
        self._tree: CallTree | None = None

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be read."""
        read = self._tree if self._table is None else self._table
        return [] if read is None else read.damage

    def what_is_missing(self, name: str) -> str:
        """Return what there is none of.

        Args:
            name: The name that asks for it.
        """
        if self._rules[name]:
            return "none of the events"
        return "no function, span or pair of events"

    def sections(self, name: str) -> list[Section]:
        """Return what is shown of a name; nothing if there is none.

        Args:
            name: The name, or ``BEGIN,END[,KEY[,WITHIN]]``.
        """
        rules = self._rules[name]
        if rules:
            return [one for rule in rules for one in self._rule_sections(rule)]
        if not may_have_calls(self._reading):
            return []
        try:
            choice = FunctionChoice([name])
        except SelectionError as error:
            raise CommandError(
                f"--durations: {error}", exit_code=WRONG_USAGE
            ) from error
        tree = self._calls()
        every = tree.functions()
        self.names |= {one.function.name for one in every}
        lives = {(one.name, _source(one)): one for one in tree.coroutines}
        sections = []
        for one in every:
            if choice.takes(one.function):
                life = lives.get((one.function.name, one.function.source))
                if life is not None:
                    sections.append(_activity_section(life, "call"))
                sections.append(_call_section(one, tree.turns))
        return sections

    def _rule_sections(self, rule: PairRule) -> list[Section]:
        if rule.keys == ("span_id", "span_id") and self._tells_waits():
            spans = [one for one in self._calls().spans if one.name == rule.name]
            if spans:
                return [_activity_section(one, "span") for one in spans]
        if self._table is None:
            every = dict.fromkeys(it for rules in self._rules.values() for it in rules)
            self._table = read_events(self._reading, list(every))
        names = {one.origin: one.name for one in self._table.origins}
        return [
            _pair_section(one, names)
            for one in self._table.pairs
            if one.rule._replace(grouping="none") == rule
        ]

    def _tells_waits(self) -> bool:
        """Tell whether spans are read together with the coroutines that they are in."""
        options = self._reading.options
        return not (options.event or options.filters)

    def _calls(self) -> CallTree:
        if self._tree is None:
            self._tree = read_tree(self._reading, longest=self._reading.longest)
        return self._tree


def _own_rule(name: str, streams: Sequence[Any]) -> list[PairRule]:
    """Return what ``BEGIN,END[,KEY[,WITHIN]]`` asks for; nothing if no event is so."""
    begin, comma, rest = name.partition(",")
    end, _, rest = rest.partition(",")
    key, _, within = rest.partition(",")
    known = {one for stream in streams for one in stream.event_names}
    if not comma or begin not in known or end not in known:
        return []
    reach = next((one for one in WITHINS if one == within), None)
    if within and reach is None:
        raise CommandError(
            f"--durations: '{within}' after the key: expected "
            f"{', '.join(WITHINS[:-1])} or {WITHINS[-1]}",
            exit_code=WRONG_USAGE,
        )
    return [PairRule.of(begin, end, key or None, reach)]


def _source(one: Activity) -> str | None:
    return None if one.function is None else one.function.source


def _activity_section(one: Activity, what: str) -> Section:
    durations: Durations[LongActivity] = one.durations or Durations({}, 0, 0)
    has_all = durations.count == one.elapsed.count
    ran = has_all and one.running.count == one.elapsed.count
    return Section(
        name=one.name,
        place="" if one.function is None else place_of(one.function),
        what=what,
        extent=" from begin to end",
        running=one.running.total if ran else None,
        advice="",
        durations=durations,
        total=one.durations_total,
        incomplete={
            "without end": one.unended,
            "without begin": one.unbegun,
            "across a loss": one.uncertain,
        },
        longest=[_long_activity(long) for long in durations.longest],
    )


def _long_activity(long: LongActivity) -> Long:
    most = long.waits[0] if long.waits else None
    fields = {name: _plain(value) for name, value in long.fields.items()}
    return Long(
        long.begin,
        long.duration,
        {
            "running": "" if long.running is None else duration(long.running),
            "waited most": "" if most is None else _wait_text(most),
            "thread": str(long.thread),
            "task": long.task or "",
            "fields": ", ".join(f"{name}={value}" for name, value in fields.items()),
        },
        {
            **_thread_facts(long.thread),
            "running_ns": long.running,
            "task": long.task,
            "fields": fields,
            "waits": [
                {
                    "path": [one.name for one in wait.path],
                    "place": place_of(wait.path[-1]) or None if wait.path else None,
                    "count": wait.count,
                    "total_ns": wait.total,
                    "longest_ns": wait.longest,
                    "longest_begin_ns": wait.begin,
                    "others_ns": wait.others,
                }
                for wait in long.waits
            ],
        },
    )


def _wait_text(wait: Wait) -> str:
    """Say where something waited, and whether it was for others that ran."""
    text = f"{duration(wait.total)} in {wait.name}"
    if 2 * wait.others > wait.total:
        text += f", while others ran {duration(wait.others)}"
    return text


def _plain(value: object) -> object:
    """Return what JSON has of a field: a text for what it does not know."""
    return value if isinstance(value, (int, str)) else str(value)


def _thread_facts(thread: Thread) -> dict[str, Any]:
    return {
        "trace": thread.process.trace,
        "vpid": thread.process.pid,
        "vtid": thread.tid,
    }


def _pair_section(one: PairTimes, names: Mapping[Origin, str | None]) -> Section:
    has_key = one.rule.keys is not None
    is_split = one.no_end and one.no_begin and not one.durations.count and not has_key
    return Section(
        name=one.name,
        place="",
        what="pair",
        extent="",
        running=None,
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
                {
                    "thread": origin_title(
                        long.origin, names.get(long.origin), with_trace=False
                    )
                },
                origin_facts(long.origin),
            )
            for long in one.durations.longest
        ],
    )


def _call_section(one: FunctionCalls, turns: Turns | None) -> Section:
    durations = one.durations or Durations({}, 0, 0)
    # A coroutine is left each time that it waits.
    is_stepped = bool(one.resumes)
    return Section(
        name=one.function.name,
        place=place_of(one.function),
        what="step" if is_stepped else "call",
        extent=" between waits" if is_stepped else "",
        running=None if turns is None else one.running,
        advice="",
        durations=durations,
        total=one.complete_time if durations.count else 0,
        incomplete={
            "without exit": one.no_exit,
            "without entry": one.no_entry,
            "across a loss": one.across_loss,
            "cut by the time range": one.clipped,
        },
        longest=[_long_call(long, turns) for long in durations.longest],
    )


def _long_call(long: LongCall, turns: Turns | None) -> Long:
    columns, facts = _turns_of(long, turns)
    return Long(
        long.begin,
        long.duration,
        {
            **columns,
            "thread": str(long.thread),
            "caller": "" if long.caller is None else long.caller.name,
        },
        {
            **facts,
            **_thread_facts(long.thread),
            "caller": None if long.caller is None else long.caller.name,
        },
    )


def _turns_of(
    long: LongCall, turns: Turns | None
) -> tuple[dict[str, str], dict[str, Any]]:
    """Return what a kernel tells of a call: for people, and for programs."""
    of_thread = None if turns is None else turns.of_thread(long.thread)
    if of_thread is None:
        return {}, {}
    shares = of_thread.shares(long.begin, long.begin + long.duration)
    most = next(iter(shares.waits.items()), None)
    columns = {
        "running": duration(shares.running),
        "runnable": duration(shares.runnable),
        "blocked": duration(shares.blocked),
        "waited most": "" if most is None else f"{duration(most[1])} in {most[0]}",
    }
    facts = {
        "running_ns": shares.running,
        "runnable_ns": shares.runnable,
        "blocked_ns": shares.blocked,
        "waited_in_ns": shares.waits,
    }
    return columns, facts
