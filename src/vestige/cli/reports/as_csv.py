"""Reports as CSV: the main table, times in nanoseconds."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from ..._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..render.call_style import CallStyle
    from .reading import Reading
    from .report import Report

__all__ = ["write"]


def write(report: Report, style: CallStyle, reading: Reading) -> Iterator[str]:
    """Write the main table of a report.

    Args:
        report: The report.
        style: What is shown.
        reading: What it was made of.

    Yields:
        The rows, that with the names of the columns first.
    """
    del reading
    table = report.table(style)
    for row in (table.columns, *table.rows):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow([_harmless(it) for it in row])
        yield text.getvalue()


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a formula begins with."""


def _harmless(cell: object) -> object:
    """Return a cell that no spreadsheet takes for a formula: names are of others."""
    if isinstance(cell, str) and cell.startswith(_FORMULA):
        return f"'{cell}"
    return cell
