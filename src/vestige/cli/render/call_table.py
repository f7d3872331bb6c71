"""The table of functions of ``vestige report``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...analysis.call_nodes import FunctionCalls
from ...plain_text import plain
from .call_style import (
    LEAST_NAME,
    SHOW_ALL,
    SORT_VALUES,
    CallStyle,
    bold,
    cut_left,
    dim,
    duration,
    place_of,
)
from .chosen_rows import chosen_functions
from .debuginfo import count
from .fitted_name import fitted_name
from .pair_table import percent_name

__all__ = ["function_lines", "sorted_functions"]

TURNS = ("running", "runnable", "blocked")
"""What a kernel tells of threads."""
HEAD = ("total", *TURNS, "self", "calls", "avg", "min", "max", "uncertain")
LESS_IMPORTANT = ("min", "max", "avg", "self", "runnable", "blocked")
"""Columns that go on a narrow terminal, in this order."""
GAP = "  "
MOST_NAME = 48
"""Characters beyond which a name is cut as long as places need the room."""
LEAST_PLACE = len("a.c:10")


def sorted_functions(
    functions: Iterable[FunctionCalls], key: str
) -> list[FunctionCalls]:
    """Sort functions, the greatest first, or by name.

    Args:
        functions: The functions.
        key: What to sort by, such as ``total``.
    """
    if key == "name":
        return sorted(functions, key=lambda one: one.function.name)
    value = SORT_VALUES[key]
    return sorted(functions, key=lambda one: (-value(one), one.function.name))


def function_lines(
    functions: Iterable[FunctionCalls], style: CallStyle, *, has_turns: bool = False
) -> Iterator[str]:
    """Write the table of functions.

    Args:
        functions: The functions.
        style: What to show.
        has_turns: Whether a kernel has told what their threads did.

    Yields:
        The lines.
    """
    functions = sorted_functions(chosen_functions(functions, style), style.sort)
    shown = functions[: style.limit] if style.limit else functions
    heads = _heads(style)
    rows = [_cells(one, style) for one in shown]
    layout = _Layout(heads, rows, style.width, () if has_turns else TURNS)
    names = [plain(one.function.name) for one in shown]
    places = [place_of(one.function) for one in shown]
    name_width, place_width = _split(layout.room, names, places)
    for cells, name, place in (
        (heads, "function", "place"),
        *zip(rows, names, places, strict=True),
    ):
        name_text = fitted_name(name, name_width)
        place_text = cut_left(place, place_width)
        padding = " " * (name_width - len(name_text)) if place_text else ""
        if cells is not heads:
            name_text, place_text = bold(name_text, style), dim(place_text, style)
        parts = [layout.line(cells), name_text + padding]
        yield GAP.join([*parts, place_text] if place_width else parts).rstrip()
    if len(shown) < len(functions):
        yield f"and {count(len(functions) - len(shown), 'function')} more: {SHOW_ALL}"


def _heads(style: CallStyle) -> tuple[str, ...]:
    # Percentiles stand between the shortest and the longest.
    middle = HEAD.index("max")
    names = map(percent_name, style.percentiles)
    return (*HEAD[:middle], *names, *HEAD[middle:])


def _cells(one: FunctionCalls, style: CallStyle) -> tuple[str, ...]:
    # What goes on several times has its times in the table of coroutines.
    quantiles = [_quantile(one, percent) for percent in style.percentiles]
    times = (one.mean, one.shortest, *quantiles, one.longest)
    if one.resumes:
        times = (None,) * len(times)
    return (
        duration(one.total),
        *map(duration, (one.running, one.runnable, one.blocked)),
        duration(one.self_time),
        f"{one.calls - one.resumes:,}",
        *map(duration, times),
        f"{one.uncertain:,}" if one.uncertain else "",
    )


def _quantile(one: FunctionCalls, percent: float) -> int | None:
    return None if one.durations is None else one.durations.quantile(percent / 100)


class _Layout:
    # Which columns of numbers there are, and how wide.

    def __init__(
        self,
        heads: Sequence[str],
        rows: Sequence[Sequence[str]],
        width: int,
        left_out: Sequence[str],
    ) -> None:
        columns = zip(heads, *rows, strict=True)
        self._widths = [max(map(len, column)) for column in columns]
        last = len(heads) - 1
        self._kept = [index for index in range(last) if heads[index] not in left_out]
        if any(row[last] for row in rows):
            self._kept.append(last)
        for index in map(heads.index, LESS_IMPORTANT):
            if index not in self._kept:
                continue
            if width - self._used >= LEAST_NAME + len(GAP) + LEAST_PLACE:
                break
            self._kept.remove(index)
        self.room = width - self._used
        """Characters that are left of a line."""

    @property
    def _used(self) -> int:
        return sum(self._widths[index] + len(GAP) for index in self._kept)

    def line(self, cells: Sequence[str]) -> str:
        """Align the numbers of a row."""
        return GAP.join(cells[index].rjust(self._widths[index]) for index in self._kept)


def _split(room: int, names: list[str], places: list[str]) -> tuple[int, int]:
    """Share out what is left of a line among name and place."""
    room = max(room, LEAST_NAME)
    name = max([len("function"), *map(len, names)])
    place = max([len("place"), *map(len, places)])
    if name + len(GAP) + place <= room:
        return name, place
    most = max(MOST_NAME, room - len(GAP) - place)
    name = min(name, most, max(room * 2 // 3, LEAST_NAME))
    place = min(place, room - len(GAP) - name)
    return (name, place) if place >= LEAST_PLACE else (min(name, room), 0)
