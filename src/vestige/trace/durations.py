"""How long something in a trace took: :meth:`vestige.Trace.durations`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol

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

__all__ = ["durations"]


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
    events: tuple[str | None, str | None, str | None],
) -> Durations[Any]:
    """Return how long something took.

    Args:
        trace: The trace.
        selection: What of it is read.
        name: Name or pattern of functions, spans or pairs.
        events: Else the events that begin and end it, and the field with its key.

    Raises:
        SelectionError: Nothing has such a name.
    """
    begin, end, key = events
    if (name is None) == (begin is None) or (begin is None) != (end is None):
        raise SelectionError("expected a name, or a begin and an end")
    rules = found_rules(trace.streams)
    if begin is not None and end is not None:
        _check_names(trace.streams, begin, end)
        return _of_pairs(trace, selection, [PairRule.of(begin, end, key)])
    wanted = name or ""
    chosen = [rule for rule in rules if fnmatchcase(rule.name, wanted)]
    if chosen:
        return _of_pairs(trace, selection, chosen)
    functions = trace.call_tree(durations=True).functions()
    choice = FunctionChoice([wanted])
    found = [one for one in functions if choice.takes(one.function)]
    if not found:
        known = [one.function.name for one in functions] + [rule.name for rule in rules]
        raise SelectionError(
            f"no function, span or pair of events is called '{wanted}'"
            f"{_advice(wanted, known)}"
        )
    return joined_durations(
        [one.durations for one in found if one.durations is not None]
    )


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
