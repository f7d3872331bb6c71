"""Calls as a file of speedscope."""

from __future__ import annotations

from collections.abc import Iterator

from ..._typing import TYPE_CHECKING
from .as_viewer import viewer_bytes

if TYPE_CHECKING:
    from ..render.call_style import CallStyle
    from .reading import Reading
    from .report import Report

__all__ = ["write"]


def write(report: Report, style: CallStyle, reading: Reading) -> Iterator[bytes]:
    """Write the calls of a report.

    Args:
        report: The report.
        style: What is shown of tables.
        reading: What it was made of.

    Yields:
        The file.
    """
    del style
    yield viewer_bytes(report, reading, "speedscope")
