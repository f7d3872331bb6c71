"""Reports for people."""

from __future__ import annotations

from collections.abc import Iterator

from ..._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..render.call_style import CallStyle
    from .reading import Reading
    from .report import Report

__all__ = ["write"]


def write(report: Report, style: CallStyle, reading: Reading) -> Iterator[str]:
    """Write a report as lines.

    Args:
        report: The report.
        style: What is shown.
        reading: What it was made of.

    Yields:
        The lines, each with its end.
    """
    del reading
    for line in report.lines(style):
        yield f"{line}\n"
