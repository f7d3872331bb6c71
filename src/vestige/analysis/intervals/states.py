"""States of anything over time, by a rule that says what event records change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from ... import core
from ..._typing import TYPE_CHECKING
from ...units import Nanoseconds

if TYPE_CHECKING:
    from ...notebook import Picture

__all__ = ["Change", "State", "StateRule", "StateTimeline", "States", "states"]

_SHOWN = 50
"""States in notebooks: no more are read than tell them."""
_AT_ONCE = 4096
"""How many states go to the core at once."""
_OPEN_AT_END = 2
"""Flag of a block of a state that was not seen to end."""

Change = tuple[Hashable, Hashable | None]
"""What changes, and its new state; ``None`` when it has none any more."""

StateRule = Callable[[core.Event], Change | Iterable[Change] | None]
"""Tells what an event record changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Something is in a state for some time."""

    of: Hashable
    """What: a thread, a CPU, a lock."""
    state: Hashable
    """Its state."""
    begin: Nanoseconds
    """Since when, nanoseconds."""
    end: Nanoseconds
    """Up to when, nanoseconds; the last event record, if it is not complete."""
    is_complete: bool
    """Whether it was seen to end."""

    @property
    def duration(self) -> int:
        """How long, nanoseconds."""
        return self.end - self.begin


class States:
    """States that a rule finds; each iteration reads the event records again.

    Args:
        events: Event records in the order of time; those without a time are left out.
        rule: Tells what each of them changes.
        picture: Draws the page of the trace for notebooks.
    """

    def __init__(
        self,
        events: Iterable[core.Event],
        rule: StateRule,
        picture: Picture | None = None,
    ) -> None:
        self._events = events
        self._rule = rule
        self._picture = picture

    def __iter__(self) -> Iterator[State]:
        """Iterate in the order in which they ended, then over those that did not."""
        return states(self._events, self._rule)

    def __repr__(self) -> str:
        """Show where they come from."""
        return f"<States of {self._events}>"

    def _repr_html_(self) -> str:
        """Show the first of them in a notebook."""
        from ...notebook import rows_html, time_text, with_picture  # noqa: PLC0415 - for notebooks only

        first = [*islice(self, _SHOWN + 1)]
        rows = [
            (
                one.of,
                one.state,
                time_text(one.duration),
                one.begin,
                "yes" if one.is_complete else "no",
            )
            for one in first[:_SHOWN]
        ]
        title = "States" if len(first) == len(rows) else f"The first {_SHOWN} states"
        head = ("of", "state", "duration", "begin ns", "ended")
        return with_picture(rows_html(title, head, rows), self._picture)


def states(events: Iterable[core.Event], rule: StateRule) -> Iterator[State]:
    """Work out states.

    Args:
        events: Event records in the order of time; those without a time are left out.
        rule: Tells what each of them changes.

    Yields:
        The states in the order in which they ended, then those that did not end.
    """
    current: dict[Hashable, tuple[Hashable, Nanoseconds]] = {}
    last = Nanoseconds(0)
    for event in events:
        if event.timestamp is None:
            continue
        last = Nanoseconds(event.timestamp)
        for of, state in _changes(rule(event)):
            before = current.pop(of, None)
            if before is not None and before[0] == state:
                current[of] = before
                continue
            if before is not None:
                yield State(
                    of=of, state=before[0], begin=before[1], end=last, is_complete=True
                )
            if state is not None:
                current[of] = (state, last)
    for of, (state, begin) in current.items():
        yield State(of=of, state=state, begin=begin, end=last, is_complete=False)


def _changes(found: Change | Iterable[Change] | None) -> Iterable[Change]:
    if found is None:
        return ()
    return [found] if isinstance(found, tuple) else found


class StateTimeline:
    """States as blocks of a timeline, at several levels of detail.

    Its size does not grow with the number of states: short ones share blocks.

    Args:
        found: The states, in the order in which they ended.
    """

    def __init__(self, found: Iterable[State]) -> None:
        rows: dict[Hashable, int] = {}
        names: dict[Hashable, int] = {}
        self.begin = Nanoseconds(0)
        """When the first of them began, nanoseconds."""
        self.end = Nanoseconds(0)
        """When the last of them ended, nanoseconds."""
        self._levels = core.BlockLevels()
        waiting: list[tuple[int, int, int, int, int]] = []
        for one in found:
            self.begin = min(self.begin, one.begin) if rows else one.begin
            self.end = max(self.end, one.end)
            row = rows.setdefault(one.of, len(rows))
            name = names.setdefault(one.state, len(names))
            flags = 0 if one.is_complete else _OPEN_AT_END
            waiting.append((row, name, flags, one.begin, one.duration))
            if len(waiting) >= _AT_ONCE:
                self._levels.add(waiting)
                waiting = []
        self._levels.add(waiting)
        self._levels.finish()
        self.rows = list(rows)
        """What has states, by row."""
        self.names = list(names)
        """The states, by the numbers that blocks have in place of a function."""
        self._finest, self.levels = self._levels.levels()
        """How long a state lasts at least that is shown by itself, nanoseconds, and how
        many blocks there are: for each level, from the finest one on."""

    def blocks(self, level: int, begin: int, end: int) -> bytes:
        """Return the blocks of a level; see ``Intervals.blocks``.

        Args:
            level: The index of a level in :attr:`levels`.
            begin: First time, nanoseconds since :attr:`begin`.
            end: Last time, nanoseconds since :attr:`begin`.
        """
        first, last = self.begin + begin, self.begin + end
        return self._levels.blocks(self._finest + level, first, last, self.begin)
