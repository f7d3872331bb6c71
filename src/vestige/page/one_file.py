"""The page as one file: with all of its data, and nothing that it asks of anywhere."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable, Iterator
from typing import Any

from .. import core
from .._typing import TYPE_CHECKING
from ..analysis.calls import CallTree
from ..analysis.intervals import BLOCK_WIDTHS, LATEST, Intervals
from .assembly import assembled, json_in_html
from .meta import meta_of
from .sources import SourceLines

if TYPE_CHECKING:
    from ..analysis.locks import Locks
    from ..analysis.turns import Turns

__all__ = ["LIMIT", "one_file"]

LIMIT = 5_000_000
"""How large the file may become, bytes."""
SINGLE_CALLS = 300_000
"""Of a trace with so few calls each of them is in the file."""
_BYTES_OF_BLOCK = 4
"""About what a block takes, packed; to know what is not worth the try."""
_EFFORT = 5
"""Of the compression: more takes far longer, for a few percent."""
_MOST_SOURCES = 400
"""Functions whose source lines are in the file."""
_SOURCES_LIMIT = 400_000
"""What these may take, characters."""


def one_file(  # noqa: PLR0913 - what is shown, and how much of it
    title: str,
    intervals: Intervals,
    calls: CallTree,
    events: Iterable[list[Any]] = (),
    *,
    has_more_events: bool = False,
    locks: Locks | None = None,
    turns: Turns | None = None,
    limit: int = LIMIT,
) -> Iterator[str]:
    """Write the page of a trace.

    Args:
        title: What the trace is called.
        intervals: Its intervals.
        calls: Its call tree.
        events: Its event records that are no calls: time since the begin (nanoseconds),
            row, name and fields of each.
        has_more_events: Whether there are more of them.
        locks: What is known of mutexes, if anything is.
        turns: What kernels tell of threads, likewise.
        limit: How large the page may become, bytes; the shortest calls are put together
            until it is small enough.

    Yields:
        Parts of the file.
    """
    meta = meta_of(title, intervals, calls, [], locks=locks, turns=turns)
    meta["events"] = list(events)
    meta["hasMoreEvents"] = has_more_events
    meta["sources"] = _sources(meta)
    room = limit - len(assembled("")) - len(json_in_html(meta)) - 2_000
    levels = list(_levels(intervals, room))
    levels.reverse()
    meta["levels"] = [{"width": width} for width, _ in levels]
    data = [_element("application/json", "facts-of-trace", json_in_html(meta))]
    for number, (_, packed) in enumerate(levels):
        data.append(_element("application/octet-stream", f"level-{number}", packed))
    before, _, behind = assembled("<!--DATA-->").partition("<!--DATA-->")
    yield before
    for one in data:
        yield one
        yield "\n"
    yield behind


def _element(form: str, name: str, text: str) -> str:
    return f'<script type="{form}" id="{name}">{text}</script>'


def _levels(intervals: Intervals, room: int) -> Iterator[tuple[int, str]]:
    """Pack levels, the coarsest first, as long as there is room."""
    sizes = intervals.levels
    before: tuple[int, bytes, str] | None = None
    for number in reversed(range(len(sizes))):
        width, blocks = sizes[number]
        if blocks * _BYTES_OF_BLOCK > room and before is not None:
            break
        groups = _checked(intervals.packed(number))
        if before is not None and groups == before[1]:
            # Of levels with the same blocks there is the finest one.
            before = (width, *before[1:])
            continue
        packed = _packed(groups)
        room -= len(packed)
        if room < 0 and before is not None:
            break
        if before is not None:
            yield before[0], before[2]
        before = (width, groups, packed)
    if before is not None:
        yield before[0], before[2]
    calls = sum(row.calls for row in intervals.rows)
    if calls <= SINGLE_CALLS and calls * _BYTES_OF_BLOCK <= room:
        columns = _single_calls(intervals)
        packed = _packed(_checked(core.IntervalIndex.grouped(columns)))
        if len(packed) <= room:
            yield 0, packed


_OTHERS = 16
"""The flag of blocks of other event records, which come after those of calls."""


def _single_calls(intervals: Intervals) -> bytes:
    """Return each call as a block, and the other event records of the finest level."""
    calls = intervals.window(0, intervals.end - intervals.begin)
    blocks = intervals.blocks(0, 0, LATEST)
    size, count = len(calls) // sum(BLOCK_WIDTHS), len(blocks) // sum(BLOCK_WIDTHS)
    before = sum(BLOCK_WIDTHS[:2]) * count
    others = sum(1 for flags in blocks[before : before + count] if flags & _OTHERS)
    joined = []
    at = end = 0
    for width in BLOCK_WIDTHS:
        joined.append(calls[at : at + width * size])
        at += width * size
        end += width * count
        joined.append(blocks[end - width * others : end])
    return b"".join(joined)


def _checked(groups: bytes | None) -> bytes:
    if groups is None:
        raise RuntimeError("blocks of a timeline overlap")
    return groups


def _packed(groups: bytes) -> str:
    packed = gzip.compress(groups, _EFFORT, mtime=0)
    return base64.b64encode(packed).decode("ascii")


def _sources(meta: dict[str, Any]) -> dict[int, Any]:
    """Return the source lines of the functions with most time."""
    lines = SourceLines()
    by_time = sorted(meta["sums"].items(), key=lambda item: -item[1]["duration"])
    found: dict[int, Any] = {}
    room = _SOURCES_LIMIT
    for number, _ in by_time[:_MOST_SOURCES]:
        around = lines.around(meta["functions"][number]["source"])
        if around is None:
            continue
        room -= sum(map(len, around["lines"]))
        if room < 0:
            break
        found[number] = around
    return found
