"""What the texts of ``vestige report`` have in common: times, cut names, colours."""

from __future__ import annotations

from collections.abc import Callable

from ..._typing import TYPE_CHECKING, NamedTuple
from ...plain_text import plain
from .long_duration import long_duration

if TYPE_CHECKING:
    from ...analysis.call_nodes import CallCounts
    from ...analysis.functions import Function

__all__ = [
    "LEAST_NAME",
    "SHOW_ALL",
    "SORT_KEYS",
    "SORT_VALUES",
    "CallStyle",
    "bold",
    "cut",
    "cut_left",
    "dim",
    "duration",
    "place_of",
]

LEAST_NAME = 16
"""Characters that names of functions keep on the narrowest terminal."""
BOLD, DIM, RESET = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_SECOND = 1_000_000_000
_UNITS = ((_SECOND, "s"), (1_000_000, "ms"), (1_000, "µs"))

SHOW_ALL = "--limit=0 shows all"
"""What is said where a table has more rows than are shown."""
SORT_VALUES: dict[str, Callable[[CallCounts], float]] = {
    "total": lambda one: one.total,
    "self": lambda one: one.self_time,
    "calls": lambda one: one.calls,
    "avg": lambda one: one.mean or 0,
    "min": lambda one: one.shortest or 0,
    "max": lambda one: one.longest or 0,
}
"""What rows are sorted by, the greatest first."""
SORT_KEYS = (*SORT_VALUES, "name")
"""What rows can be sorted by."""


class CallStyle(NamedTuple):
    """What the report shows."""

    width: int
    """Columns of the terminal."""
    color: bool = False
    """Whether there are colours."""
    limit: int = 0
    """Most rows of a table or a tree; 0 for all."""
    sort: str = "total"
    """What rows are sorted by; one of :data:`SORT_KEYS`."""
    tree: bool = False
    """Whether the call tree is shown instead of the functions."""
    by_thread: bool = False
    """Whether each thread has a table or a tree of its own."""
    percentiles: tuple[float, ...] = ()
    """Which percentiles of durations are shown, percent; the usual ones if empty."""
    takes: Callable[[Function], bool] | None = None
    """Which functions are shown; all by default."""


def duration(nanoseconds: float | None) -> str:
    """Write a time in the unit that suits it, with four digits."""
    if nanoseconds is None:
        return "-"
    long = long_duration(nanoseconds)
    if long is not None:
        return long
    for size, unit in _UNITS:
        # What would be rounded up to 1,000 of a unit is 1 of the next.
        if nanoseconds >= size * 0.9995:
            number = nanoseconds / size
            digits = 3 if number < 9.9995 else 2 if number < 99.995 else 1  # noqa: PLR2004
            return f"{number:.{digits}f} {unit}"
    return f"{nanoseconds:.0f} ns"


def place_of(function: Function) -> str:
    """Return where a function is: its source line, else its object."""
    return plain(function.source or function.object or "")


def cut(text: str, room: int) -> str:
    """Cut the end of a text that has no room."""
    return text if len(text) <= room else text[: max(room - 1, 0)] + "…"


def cut_left(text: str, room: int) -> str:
    """Cut the beginning of a text that has no room."""
    return text if len(text) <= room else "…" + text[len(text) - max(room - 1, 0) :]


def bold(text: str, style: CallStyle) -> str:
    """Make a text stand out."""
    return f"{BOLD}{text}{RESET}" if style.color and text else text


def dim(text: str, style: CallStyle) -> str:
    """Make a text stand back."""
    return f"{DIM}{text}{RESET}" if style.color and text else text
