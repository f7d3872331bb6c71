"""Spans and coroutines: what goes on while its thread does other things, too.

Of each, two times are told apart: *elapsed*, from its beginning to its end, and
*running*, without the time in which it waited. Sums of elapsed times of tasks that wait
at the same time count that time for each of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ..._typing import TYPE_CHECKING
from ..functions import Function

if TYPE_CHECKING:
    from ..durations import Durations
    from .lives import LongActivity

__all__ = ["Activity", "Times"]


@dataclass(slots=True, kw_only=True)
class Times:
    """Some times of the same kind, nanoseconds."""

    count: int = 0
    """How many there are."""
    total: int = 0
    """Their sum, nanoseconds."""
    shortest: int | None = None
    """The shortest, nanoseconds."""
    longest: int | None = None
    """The longest, nanoseconds."""

    @property
    def mean(self) -> float | None:
        """Their mean, nanoseconds."""
        return self.total / self.count if self.count else None

    def add(self, time: int) -> None:
        """Add one.

        Args:
            time: Nanoseconds.
        """
        self.count += 1
        self.total += time
        if self.shortest is None or time < self.shortest:
            self.shortest = time
        if self.longest is None or time > self.longest:
            self.longest = time


@dataclass(slots=True, kw_only=True)
class Activity:
    """All spans of one name, or all calls of one coroutine function."""

    name: str
    """The name of the span, or of the function."""
    function: Function | None = None
    """The coroutine function, or the one in which the span begins; ``None`` if that is
    not known."""
    calls: int = 0
    """How many began."""
    resumes: int = 0
    """How often they went on after they had waited, as far as that is known."""
    elapsed: Times = field(default_factory=Times)
    """From the beginning to the end, of those that ended."""
    running: Times = field(default_factory=Times)
    """The same without waiting, of those of which it is known."""
    errors: Counter[str] = field(default_factory=Counter)
    """The types of the exceptions that ended spans."""
    unended: int = 0
    """How many have no end: open when the recording ended, or dropped while they
    waited, or their end is lost."""
    uncertain: int = 0
    """How many were open when events were lost; their times count all the same."""
    unbegun: int = 0
    """How many spans ended whose beginning was not seen."""
    durations: Durations[LongActivity] | None = field(default=None, repr=False)
    """How long those took of which no event was lost, from the beginning to the end, if
    that was asked for."""
    durations_total: int = 0
    """The sum of these, nanoseconds."""

    def _repr_html_(self) -> str:
        """Show it in a notebook, and how long the longest took, if that is known."""
        from ...notebook import facts_html, time_text  # noqa: PLC0415 - for notebooks only

        facts: list[tuple[str, object]] = [
            ("calls", f"{self.calls:,}"),
            ("elapsed", time_text(self.elapsed.total)),
            ("running", time_text(self.running.total)),
            ("resumes", f"{self.resumes:,}"),
            ("errors", ", ".join(f"{n} {name}" for name, n in self.errors.items())),
            ("without end", self.unended),
            ("place", (self.function.source if self.function else None) or ""),
        ]
        shown = facts_html(self.name, facts)
        return shown + (self.durations._repr_html_() if self.durations else "")
