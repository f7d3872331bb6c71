"""Durations of ``vestige report --durations``: percentiles, histogram, the longest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING, NamedTuple
from ...plain_text import plain
from .call_style import CallStyle, bold, cut, dim, duration
from .debuginfo import count
from .event_table import clock_time
from .pair_table import percent_name

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.durations import Durations

__all__ = ["Section", "section_facts", "section_lines"]

PERCENTILES = (50.0, 90.0, 99.0, 99.9)
"""Those that are shown unless others are asked for, percent."""
GAP = "  "
MOST_ROWS = 24
"""Rows of a histogram, about."""
MOST_PARTS = 8
"""Into how many rows a power of two is cut where there are few of them."""
BAR = 40
"""Columns of the longest bar."""
_EIGHTHS = " ▏▎▍▌▋▊▉"
_FULL = "█"


class Long(NamedTuple):
    """One of the longest."""

    begin: int
    """When it began, nanoseconds."""
    duration: int
    """How long it took, nanoseconds."""
    columns: dict[str, str]
    """What else people are told, by the heads of columns; empty where it is unknown."""
    facts: dict[str, Any]
    """The same for programs."""


class Section(NamedTuple):
    """What is shown of a function, a span or a pair."""

    name: str
    """Its name."""
    place: str
    """Where it is; empty where that is not known."""
    what: str
    """What has the durations: ``call``, ``step``, ``span`` or ``pair``."""
    extent: str
    """What is in them besides running, for people; empty for nothing."""
    running: int | None
    """How long they ran, nanoseconds; ``None`` where it is not told."""
    advice: str
    """What else people are told; empty for nothing."""
    durations: Durations[Any]
    """How long the complete ones took."""
    total: int
    """Their time, nanoseconds."""
    incomplete: dict[str, int]
    """How many are in none of the numbers, by the reason."""
    longest: list[Long]
    """The longest."""


def section_lines(
    section: Section, style: CallStyle, begin: int | None, *, is_absolute: bool
) -> Iterator[str]:
    """Write a section.

    Args:
        section: The section.
        style: What is shown.
        begin: The time of the first event, from which others are counted.
        is_absolute: Whether times count from the Unix epoch.

    Yields:
        The lines.
    """
    durations = section.durations
    title = bold(plain(section.name), style)
    place = f"{GAP}{dim(plain(section.place), style)}" if section.place else ""
    yield f"{title}{place}"
    if durations.count:
        mean = section.total / durations.count
        number = count(durations.count, section.what) + section.extent
        ran = (
            "" if section.running is None else f"; {duration(section.running)} running"
        )
        total = duration(section.total)
        yield f"{number}, {total} in all, {duration(mean)} on average{ran}"
        yield GAP.join(_quantiles(durations, style))
        yield ""
        yield from _histogram(section, style)
        yield ""
        yield from _longest(section, style, begin, is_absolute=is_absolute)
    else:
        yield f"no complete {section.what}"
    notes = [
        f"{number:,} {why}" for why, number in section.incomplete.items() if number
    ]
    if notes:
        yield f"in none of these numbers: {', '.join(notes)}"
    if section.advice:
        yield section.advice


def _quantiles(durations: Durations[Any], style: CallStyle) -> Iterator[str]:
    yield f"min {duration(durations.quantile(0))}"
    for percent in style.percentiles or PERCENTILES:
        yield f"{percent_name(percent)} {duration(durations.quantile(percent / 100))}"
    yield f"max {duration(durations.quantile(1))}"


def _histogram(section: Section, style: CallStyle) -> Iterator[str]:
    rows = _rows(section.durations)
    most = max(number for _, _, number in rows)
    numbers = [f"{number:,}" for _, _, number in rows]
    texts = [(duration(begin), duration(end)) for begin, end, _ in rows]
    heads = ("from", "to")
    widths = [
        max(len(heads[side]), *(len(text[side]) for text in texts)) for side in (0, 1)
    ]
    what = f"{section.what}s"
    number_width = max(len(what), *map(len, numbers))
    used = sum(widths) + number_width + 3 * len(GAP)
    room = max(min(BAR, style.width - used), 8)
    pair = GAP.join(
        head.rjust(width) for head, width in zip(heads, widths, strict=True)
    )
    yield f"{pair}{GAP}{what.rjust(number_width)}"
    for (first, last), number, row in zip(texts, numbers, rows, strict=True):
        bar = _bar(row[2] * room / most)
        line = GAP.join(
            [first.rjust(widths[0]), last.rjust(widths[1]), number.rjust(number_width)]
        )
        yield f"{line}{GAP}{bar}".rstrip()


def _rows(durations: Durations[Any]) -> list[tuple[int, int, int]]:
    """Put buckets together until few rows are left: begin, end and number of each.

    Rows are powers of two or parts of these, so that each bucket is in one of them.
    """
    buckets = durations.histogram()
    lowest, highest = _level(buckets[0].begin), _level(buckets[-1].begin)
    powers = highest - lowest + 1
    parts = MOST_PARTS
    while parts > 1 and powers * parts > MOST_ROWS:
        parts //= 2
    found: dict[tuple[int, int], int] = {}
    for bucket in buckets:
        found.setdefault(_row(bucket.begin, parts), 0)
        found[_row(bucket.begin, parts)] += bucket.count
    first, last = buckets[0].begin, buckets[-1].begin
    rows = []
    at = _row(first, parts)[0]
    while at <= last:
        row = _row(at, parts)
        rows.append((*row, found.get(row, 0)))
        at = row[1]
    return rows


def _level(value: int) -> int:
    return max(value.bit_length() - 1, 0)


def _row(value: int, parts: int) -> tuple[int, int]:
    """Return the row of a duration: its begin, and its end."""
    power = 1 << _level(value)
    step = max(power // parts, 1)
    begin = 0 if value == 0 else power + (value - power) // step * step
    return begin, begin + (1 if value == 0 else step)


def _bar(length: float) -> str:
    whole, part = divmod(round(length * 8), 8)
    if length > 0 and not whole and not part:
        part = 1
    return _FULL * whole + (_EIGHTHS[part] if part else "")


def _longest(
    section: Section, style: CallStyle, begin: int | None, *, is_absolute: bool
) -> Iterator[str]:
    first = section.longest[0].begin if section.longest else 0
    start = first if begin is None else begin
    known = {
        head: None
        for one in section.longest
        for head, text in one.columns.items()
        if text
    }
    heads = ["longest", "after", "time", *known]
    rows = [
        [
            duration(one.duration),
            f"+{duration(one.begin - start)}",
            clock_time(one.begin, is_absolute=is_absolute),
            *(plain(one.columns.get(head, "")) for head in known),
        ]
        for one in section.longest
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        cells = [
            cell.rjust(width) if index < 2 else cell.ljust(width)  # noqa: PLR2004 - numbers
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield cut(GAP.join(cells).rstrip(), style.width)


def section_facts(section: Section, style: CallStyle) -> dict[str, Any]:
    """Return a section as JSON has it.

    Args:
        section: The section.
        style: What is shown.
    """
    durations = section.durations
    percentiles = style.percentiles or PERCENTILES
    return {
        "name": section.name,
        "place": section.place or None,
        "of": section.what,
        "count": durations.count,
        "total_ns": section.total,
        **({} if section.running is None else {"running_ns": section.running}),
        "min_ns": durations.quantile(0),
        **{
            f"{percent_name(percent)}_ns": durations.quantile(percent / 100)
            for percent in percentiles
        },
        "max_ns": durations.quantile(1),
        "incomplete": section.incomplete,
        "histogram": [
            {"begin_ns": one.begin, "end_ns": one.end, "count": one.count}
            for one in durations.histogram()
        ],
        "longest": [
            {"begin_ns": one.begin, "duration_ns": one.duration, **one.facts}
            for one in section.longest
        ],
    }


def sections_table(
    sections: Sequence[Section],
) -> tuple[Sequence[str], Sequence[Sequence[object]]]:
    """Return the histograms as columns and rows.

    Args:
        sections: The sections.
    """
    rows = [
        (section.name, section.what, one.begin, one.end, one.count)
        for section in sections
        for one in section.durations.histogram()
    ]
    return ("name", "of", "begin_ns", "end_ns", "count"), rows
