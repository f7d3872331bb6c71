"""How long something in a trace took: :meth:`vestige.Trace.durations`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from ..advice import nearest
from ..analysis.durations import Durations
from ..analysis.durations.joined import joined_durations
from ..analysis.events import PairRule, event_table, found_rules
from ..analysis.function_choice import FunctionChoice
from ..errors import SelectionError
from ..graph import Selection, Stream

if TYPE_CHECKING:
    from ..analysis import CallTree
    from ..damage import Damage

__all__ = ["Events", "durations"]

WITHINS = ("thread", "process", "cpu")
"""What may be demanded to be the same of a begin and an end with a key."""


class Events(NamedTuple):
    """What begins and ends something."""

    begin: str | None
    """Name of the event that begins it; ``None`` if it is asked for otherwise."""
    end: str | None
    """Name of the event that ends it."""
    key: str | None
    """The field that has the same value in both."""
    within: Literal["thread", "process", "cpu"] | None
    """What else is the same of both."""


class Readable(Protocol):
    """What is needed of a trace."""

    @property
    def streams(self) -> Sequence[Stream]:
        """The data streams."""

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be opened."""

    def call_tree(self, *, durations: bool) -> CallTree:
        """Rebuild the calls.

        Args:
            durations: Whether to keep how long they took.
        """


def durations(
    trace: Readable,
    selection: Selection,
    name: str | None,
    events: Events,
) -> Durations[Any]:
    """Return how long something took.

    Args:
        trace: The trace.
        selection: What of it is read.
        name: Name or pattern of functions, spans or pairs.
        events: Else what begins and ends it.

    Raises:
        SelectionError: Nothing has such a name.
    """
    begin, end, key, within = events
    if within is not None and within not in WITHINS:
        raise SelectionError(f"within='{within}': expected {', '.join(WITHINS)}")
    if (name is None) == (begin is None) or (begin is None) != (end is None):
        raise SelectionError("expected a name, or a begin and an end")
    rules = found_rules(trace.streams)
    if begin is not None and end is not None:
        _check_names(trace.streams, begin, end)
        return _of_pairs(trace, selection, [PairRule.of(begin, end, key, within)])
    wanted = name or ""
    chosen = [rule for rule in rules if fnmatchcase(rule.name, wanted)]
    if chosen:
        return _of_rules(trace, selection, chosen)
    tree = trace.call_tree(durations=True)
    functions = tree.functions()
    choice = FunctionChoice([wanted])
    found = [one for one in functions if choice.takes(one.function)]
    lives = [
        one
        for one in tree.coroutines
        if one.function is not None and choice.takes(one.function)
    ]
    if lives:
        # Their functions have steps from one wait to the next.
        own = {(one.name, one.function and one.function.source) for one in lives}
        found = [
            one for one in found if (one.function.name, one.function.source) not in own
        ]
    if not found and not lives:
        known = [one.function.name for one in functions] + [rule.name for rule in rules]
        raise SelectionError(
            f"no function, span or pair of events is called '{wanted}'"
            f"{_advice(wanted, known)}"
        )
    parts = [
        *(one.durations for one in lives),
        *(one.durations for one in found),
    ]
    return joined_durations([one for one in parts if one is not None])


def _of_rules(
    trace: Readable, selection: Selection, rules: Sequence[PairRule]
) -> Durations[Any]:
    """Return how long spans and pairs took: of spans with what they waited for."""
    spans: list[Durations[Any]] = []
    if not (selection.patterns or selection.filters) and any(map(_is_span, rules)):
        named = {rule.name for rule in rules if _is_span(rule)}
        known = {one.name: one for one in trace.call_tree(durations=True).spans}
        for one in known.keys() & named:
            durations = known[one].durations
            if durations is not None:
                spans.append(durations)
        rules = [rule for rule in rules if not (_is_span(rule) and rule.name in known)]
    if not rules:
        return joined_durations(spans)
    return joined_durations([*spans, _of_pairs(trace, selection, rules)])


def _is_span(rule: PairRule) -> bool:
    return rule.keys == ("span_id", "span_id") and rule.reach == "process"


def _of_pairs(
    trace: Readable, selection: Selection, rules: Sequence[PairRule]
) -> Durations[Any]:
    table = event_table(trace, selection=selection, rules=rules)
    return joined_durations([one.durations for one in table.pairs])


def _check_names(streams: Sequence[Stream], *names: str) -> None:
    known = [name for stream in streams for name in stream.event_names if name]
    for name in names:
        if name not in known:
            raise SelectionError(f"no event is called '{name}'{_advice(name, known)}")


def _advice(name: str, known: Iterable[str]) -> str:
    return f"; there {nearest(name, sorted(set(known)))}"
