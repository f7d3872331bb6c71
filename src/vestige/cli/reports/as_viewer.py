"""What reports of calls have for viewers: all of their call tree."""

from __future__ import annotations

from pathlib import Path

from ..._typing import TYPE_CHECKING
from ...errors import CommandError
from ...viewers.write import tree_bytes
from ..exit_statuses import WRONG_USAGE
from .calls import CallsReport

if TYPE_CHECKING:
    from .reading import Reading
    from .report import Report

__all__ = ["viewer_bytes"]


def viewer_bytes(report: Report, reading: Reading, to: str) -> bytes:
    """Return a file for a viewer.

    Args:
        report: A report of calls.
        reading: What it was made of; the file is called as the first of its traces.
        to: The format.

    Raises:
        CommandError: The report is none of calls.
    """
    if not isinstance(report, CallsReport):
        raise CommandError(f"--to {to}: no calls", exit_code=WRONG_USAGE)
    return tree_bytes(report.tree, to, Path(reading.options.paths[0]).name or "trace")
