"""Reports of calls and of call stacks as files of viewers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..._typing import TYPE_CHECKING
from ...errors import CommandError
from ...viewers.write import tree_bytes
from ..exit_statuses import WRONG_USAGE
from .calls import CallsReport
from .stacks import StacksReport

if TYPE_CHECKING:
    from ..render.call_style import CallStyle
    from .reading import Reading
    from .report import Report

__all__ = ["write"]


def write(report: Report, style: CallStyle, reading: Reading) -> Iterator[bytes]:
    """Write a file for the viewer that the command line names.

    Args:
        report: A report of calls or of call stacks.
        style: What is shown of tables.
        reading: What it was made of; the file is called as the first of its traces.

    Yields:
        The file.

    Raises:
        CommandError: The report is neither.
    """
    to = reading.options.to
    name = Path(reading.options.paths[0]).name or "trace"
    if isinstance(report, StacksReport):
        yield report.viewer_bytes(to, name, by_thread=style.by_thread)
        return
    if not isinstance(report, CallsReport):
        raise CommandError(f"--to {to}: no calls", exit_code=WRONG_USAGE)
    yield tree_bytes(report.tree, to, name)
