"""Where a program named ``babeltrace2`` begins."""

from __future__ import annotations

import sys

from ..._typing import TYPE_CHECKING
from ..start import entry_point as begin

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["entry_point"]

INTERRUPTED = 2
"""What Babeltrace 2 says of a graph that was interrupted."""


def entry_point() -> NoReturn:
    """Run the words of this process as Babeltrace 2 would, and exit."""
    begin(_run, INTERRUPTED)


def _run() -> int:
    from .command_line import run

    return run(sys.argv[1:])
