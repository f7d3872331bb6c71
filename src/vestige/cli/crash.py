"""Where a program named ``lttng-crash`` begins."""

from __future__ import annotations

import sys

from .._typing import TYPE_CHECKING
from .start import entry_point as begin

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["entry_point"]


def entry_point() -> NoReturn:
    """Run ``vestige lttng-crash`` with the words of this process, and exit."""
    words = sys.argv[1:]
    # Where LTTng's tool says what it is.
    known = {"-V": ["version"], "--version": ["version"]}
    sys.argv[1:] = known.get(" ".join(words), ["lttng-crash", *words])
    begin()
