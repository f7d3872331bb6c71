"""Tables with numbers on the left and a text at the end, as reports have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...plain_text import plain
from .call_style import LEAST_NAME, SHOW_ALL, CallStyle, bold, cut

if TYPE_CHECKING:
    from ...analysis.threads import Thread

__all__ = ["aligned_lines", "column_lines", "part_lines", "size", "thread_text"]

GAP = "  "
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
KIBIBYTE = 1024


def size(count: int) -> str:
    """Write a number of bytes in the unit that suits it.

    Args:
        count: The bytes.
    """
    number = float(count)
    for unit in UNITS:
        if abs(number) < KIBIBYTE or unit == UNITS[-1]:
            break
        number /= KIBIBYTE
    return f"{count} B" if unit == "B" else f"{number:.4g} {unit}"


def thread_text(thread: Thread) -> str:
    """Write which thread it is: its ID, and its own name if it has one.

    Args:
        thread: The thread.
    """
    name = f" ({plain(thread.name)})" if thread.name else ""
    return f"{thread.tid}{name}"


def aligned_lines(rows: Sequence[Sequence[str]], style: CallStyle) -> Iterator[str]:
    """Write rows below each other: numbers, and a text that is cut to the terminal.

    Args:
        rows: The cells of each, as many in all. The last one may hold anything.
        style: How wide the terminal is.

    Yields:
        The lines.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    room = max(LEAST_NAME, style.width - sum(widths) - len(GAP) * len(widths))
    for row in rows:
        numbers = [
            cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=True)
        ]
        yield GAP.join([*numbers, cut(plain(row[-1]), room)]).rstrip()


def column_lines(
    head: Sequence[str], rows: Sequence[Sequence[str]], style: CallStyle
) -> Iterator[str]:
    """Write a table; what is beyond the limit of rows is counted.

    Args:
        head: Titles; the last one is that of the text.
        rows: The cells. The last one may hold anything.
        style: What is shown.

    Yields:
        The lines.
    """
    shown = rows[: style.limit] if style.limit else rows
    for number, line in enumerate(aligned_lines((head, *shown), style)):
        yield bold(line, style) if number == 0 else line
    if len(rows) > len(shown):
        yield f"and {len(rows) - len(shown)} more: {SHOW_ALL}"


def part_lines(
    title: str, head: Sequence[str], rows: Sequence[Sequence[str]], style: CallStyle
) -> Iterator[str]:
    """Write a part of a report: its title and a table; nothing without rows.

    Args:
        title: The title.
        head: Titles of the columns.
        rows: The cells.
        style: What is shown.

    Yields:
        The lines, an empty one first.
    """
    if rows:
        yield ""
        yield bold(title, style)
        yield from column_lines(head, rows, style)
