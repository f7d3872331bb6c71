"""The tables of spans and of coroutines of ``vestige report``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...analysis.activities import Activity, Times
from ...analysis.calls import CallTree
from ...plain_text import plain
from .call_style import (
    LEAST_NAME,
    SHOW_ALL,
    CallStyle,
    bold,
    cut,
    cut_left,
    dim,
    duration,
    place_of,
)
from .debuginfo import count

if TYPE_CHECKING:
    from typing import Any

__all__ = ["activities_json", "activity_lines"]

HEAD = ("elapsed", "running", "calls", "resumes", "avg", "min", "max", "failed")
FAILED = len(HEAD) - 1
LESS_IMPORTANT = (5, 6, 3, 4)
"""Columns that go on a narrow terminal, in this order."""
GAP = "  "
LEAST_PLACE = len("a.py:10")
_MOST_ERRORS = 3
"""Types of exceptions that the note below names."""


def activity_lines(tree: CallTree, style: CallStyle) -> Iterator[str]:
    """Write the tables of what goes on while its thread does other things, too.

    Args:
        tree: What was read.
        style: What to show.

    Yields:
        The lines; none when there are neither spans nor coroutines.
    """
    for title, activities in (("span", tree.spans), ("coroutine", tree.coroutines)):
        if activities:
            yield ""
            yield from _table(title, activities, style)
            yield from _notes(title, activities)


def _table(
    title: str, activities: Sequence[Activity], style: CallStyle
) -> Iterator[str]:
    shown = activities[: style.limit] if style.limit else activities
    rows = [_cells(one) for one in shown]
    columns = _columns(rows, style.width)
    widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
    names = [plain(one.name) for one in shown]
    places = [_place(one) for one in shown]
    room = style.width - sum(widths[index] + len(GAP) for index in columns)
    name_width = min(max(map(len, (title, *names))), max(room * 2 // 3, LEAST_NAME))
    place_width = room - name_width - len(GAP)
    for cells, name, place in (
        (HEAD, title, "place"),
        *zip(rows, names, places, strict=True),
    ):
        numbers = [cells[index].rjust(widths[index]) for index in columns]
        padding = " " * max(name_width - len(name), 0)
        name_text = cut(name, name_width)
        place_text = cut_left(place, place_width) if place_width >= LEAST_PLACE else ""
        if cells is not HEAD:
            name_text, place_text = bold(name_text, style), dim(place_text, style)
        yield GAP.join([*numbers, name_text + padding, place_text]).rstrip()
    if len(shown) < len(activities):
        yield f"and {count(len(activities) - len(shown), title)} more: {SHOW_ALL}"


def _columns(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return which columns of numbers there are."""
    widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
    kept = [index for index in range(len(HEAD)) if index != FAILED]
    if any(row[FAILED] for row in rows):
        kept.append(FAILED)
    for index in LESS_IMPORTANT:
        used = sum(widths[one] + len(GAP) for one in kept)
        if width - used >= LEAST_NAME + len(GAP) + LEAST_PLACE:
            break
        kept.remove(index)
    return kept


def _cells(one: Activity) -> tuple[str, ...]:
    failed = one.errors.total()
    return (
        duration(one.elapsed.total if one.elapsed.count else None),
        duration(one.running.total if one.running.count else None),
        f"{one.calls:,}",
        f"{one.resumes:,}",
        duration(one.elapsed.mean),
        duration(one.elapsed.shortest),
        duration(one.elapsed.longest),
        f"{failed:,}" if failed else "",
    )


def _place(one: Activity) -> str:
    return "" if one.function is None else place_of(one.function)


def _notes(title: str, activities: Sequence[Activity]) -> Iterator[str]:
    ended = sum(one.elapsed.count for one in activities)
    unknown = ended - sum(one.running.count for one in activities)
    unended = sum(one.unended for one in activities)
    uncertain = sum(one.uncertain for one in activities)
    for one in activities:
        if one.errors:
            yield f"{plain(one.name)} ended by {_errors(one)}"
    if unknown:
        yield (
            f"{count(unknown, title)} counted without running time: whether they "
            "waited is known of what --python-functions records"
        )
    if unended:
        yield f"{count(unended, title)} without end: counted without time"
    if uncertain:
        yield f"{count(uncertain, title)} with lost events: times may be wrong"


def _errors(one: Activity) -> str:
    found = one.errors.most_common(_MOST_ERRORS)
    named = ", ".join(f"{plain(name)} ({number:,})" for name, number in found)
    return named + (", ..." if len(one.errors) > _MOST_ERRORS else "")


def activities_json(activities: Sequence[Activity], limit: int) -> list[dict[str, Any]]:
    """Return spans or coroutines as JSON has them.

    Args:
        activities: The spans or coroutines.
        limit: At most so many; 0 for all.
    """
    shown = activities[:limit] if limit else activities
    return [
        {
            "name": one.name,
            "place": _place(one) or None,
            "calls": one.calls,
            "resumes": one.resumes,
            **_times_json("elapsed", one.elapsed),
            **_times_json("running", one.running),
            "errors": dict(one.errors),
            "unended": one.unended,
            "uncertain": one.uncertain,
        }
        for one in shown
    ]


def _times_json(name: str, times: Times) -> dict[str, Any]:
    return {
        f"{name}_count": times.count,
        f"{name}_ns": times.total,
        f"{name}_min_ns": times.shortest,
        f"{name}_max_ns": times.longest,
    }
