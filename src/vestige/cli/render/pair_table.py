"""The table of pairs of ``vestige report``: how long what begins and ends lasted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...plain_text import plain
from .call_style import LEAST_NAME, SHOW_ALL, CallStyle, bold, cut, duration
from .debuginfo import count

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.events import LongPair, Origin, PairTimes

__all__ = [
    "PERCENTILES",
    "origin_facts",
    "pair_facts",
    "pair_lines",
    "pair_notes",
    "percent_name",
]

PERCENTILES = (50.0, 90.0, 99.0)
"""Those that tables have unless others are asked for, percent."""
GAP = "  "
UNMATCHED = ("no end", "no begin", "lost")
"""Columns that are there where there are any: :class:`PairTimes` says what they are."""


def percent_name(percent: float) -> str:
    """Return the name of a percentile, such as ``p99.9``.

    Args:
        percent: How many percent are shorter.
    """
    return f"p{percent:g}"


def pair_lines(
    pairs: Sequence[PairTimes],
    style: CallStyle,
    title: str = "pair",
    *,
    begin: int | None = None,
) -> Iterator[str]:
    """Write the table.

    Args:
        pairs: The pairs, those with most time first.
        style: What is shown.
        title: What these are.
        begin: The time from which others are counted; none are shown without.

    Yields:
        The lines.
    """
    shown = sorted_pairs(pairs, style.sort)
    rest = len(shown) - style.limit if style.limit else 0
    shown = shown[: style.limit] if style.limit else shown
    percentiles = style.percentiles or PERCENTILES
    names = [percent_name(one) for one in percentiles]
    heads = ("total", "count", "avg", *names, "max", "longest at", *UNMATCHED)
    rows = [_cells(one, percentiles, begin) for one in shown]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    first_unmatched = len(heads) - len(UNMATCHED)
    columns = [
        index
        for index in range(len(heads))
        if index < first_unmatched - 1 or any(row[index] for row in rows)
    ]
    for index in _less_important(len(names)):
        used = sum(widths[column] + len(GAP) for column in columns)
        if style.width - used >= LEAST_NAME:
            break
        if index in columns:
            columns.remove(index)
    room = style.width - sum(widths[column] + len(GAP) for column in columns)
    labels = [title, *(plain(one.name) for one in shown)]
    for cells, label in zip((heads, *rows), labels, strict=True):
        text = cut(label, max(room, LEAST_NAME))
        if cells is not heads:
            text = bold(text, style)
        numbers = [cells[column].rjust(widths[column]) for column in columns]
        yield GAP.join([*numbers, text])
    if rest > 0:
        yield f"and {count(rest, 'row')} more: {SHOW_ALL}"


def _less_important(percentiles: int) -> list[int]:
    """Return the columns that go on a narrow terminal, in this order."""
    last = 3 + percentiles
    return [last + 1, 2, *range(3, last)]


def sorted_pairs(pairs: Sequence[PairTimes], key: str) -> list[PairTimes]:
    """Sort pairs, the greatest first, or by name.

    Args:
        pairs: The pairs.
        key: What to sort by, such as ``total``.
    """
    if key == "name":
        return sorted(pairs, key=lambda one: one.name)
    values: dict[str, Callable[[PairTimes], float | None]] = {
        "calls": lambda one: one.durations.count,
        "avg": _mean,
        "min": lambda one: one.durations.quantile(0) or 0,
        "max": lambda one: one.durations.quantile(1) or 0,
    }
    value = values.get(key, _total)
    return sorted(pairs, key=lambda one: (-(value(one) or 0), one.name))


def _total(one: PairTimes) -> float:
    return one.total


def _mean(one: PairTimes) -> float | None:
    return one.total / one.durations.count if one.durations.count else None


def _cells(
    one: PairTimes, percentiles: Sequence[float], begin: int | None
) -> tuple[str, ...]:
    durations = one.durations
    has_any = durations.count > 0
    longest = durations.longest[0] if durations.longest else None
    is_placed = longest is not None and begin is not None
    return (
        duration(one.total if has_any else None),
        f"{durations.count:,}",
        duration(_mean(one)),
        *(duration(durations.quantile(percent / 100)) for percent in percentiles),
        duration(durations.quantile(1)),
        f"+{duration(longest.begin - begin)}" if is_placed else "",  # type: ignore[union-attr, operator] # is_placed
        *(f"{number:,}" if number else "" for number in _unmatched(one)),
    )


def _unmatched(one: PairTimes) -> tuple[int, int, int]:
    return one.no_end, one.no_begin, one.across_loss


def pair_notes(pairs: Sequence[PairTimes]) -> Iterator[str]:
    """Write what is not in the times of the table.

    Args:
        pairs: The pairs.

    Yields:
        The lines.
    """
    no_end = sum(one.no_end for one in pairs)
    no_begin = sum(one.no_begin for one in pairs)
    lost = sum(one.across_loss for one in pairs)
    if no_end:
        yield (
            f"{count(no_end, 'pair')} without end (open at the end, or it was not "
            "recorded): in none of the times"
        )
    if no_begin:
        yield (
            f"{count(no_begin, 'pair')} without begin (begun before the first event, "
            "or it was not recorded): in none of the times"
        )
    if lost:
        yield (
            f"{count(lost, 'pair')} with lost events between begin and end: in none of "
            "the times"
        )


def pair_facts(one: PairTimes, style: CallStyle) -> dict[str, Any]:
    """Return a pair as JSON has it.

    Args:
        one: The pair.
        style: What is shown.
    """
    durations = one.durations
    percentiles = style.percentiles or PERCENTILES
    return {
        "name": one.name,
        "begins": list(one.rule.begins),
        "ends": list(one.rule.ends),
        "count": durations.count,
        "total_ns": one.total,
        "mean_ns": _mean(one),
        "min_ns": durations.quantile(0),
        **{
            f"{percent_name(percent)}_ns": durations.quantile(percent / 100)
            for percent in percentiles
        },
        "max_ns": durations.quantile(1),
        "no_end": one.no_end,
        "no_begin": one.no_begin,
        "across_loss": one.across_loss,
        "longest": [_long_facts(long) for long in durations.longest],
    }


def _long_facts(long: LongPair) -> dict[str, Any]:
    return {
        "begin_ns": long.begin,
        "duration_ns": long.duration,
        **origin_facts(long.origin),
    }


def origin_facts(origin: Origin) -> dict[str, Any]:
    """Return who made events as JSON has it.

    Args:
        origin: Who.
    """
    return {
        "trace": origin.trace,
        "vpid": origin.process,
        "vtid": origin.thread,
        "cpu": origin.cpu,
        "stream": origin.stream,
    }
