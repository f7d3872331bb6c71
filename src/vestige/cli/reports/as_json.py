"""Reports as JSON; docs/reference/report.md describes it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ..._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..render.call_style import CallStyle
    from .reading import Reading
    from .report import Report

__all__ = ["write"]


def write(report: Report, style: CallStyle, reading: Reading) -> Iterator[str]:
    """Write all facts of a report.

    Args:
        report: The report.
        style: What is shown.
        reading: What it was made of.

    Yields:
        The text.
    """
    del reading
    yield json.dumps(report.facts(style), indent=2)
    yield "\n"
