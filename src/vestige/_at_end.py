"""What is done when a process ends, also when it ends without Python's own ending."""

from __future__ import annotations

import atexit

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["at_end", "run_all"]

_functions: list[Callable[[], object]] = []


def at_end(function: Callable[[], object]) -> None:
    """Have something done at the end of the process.

    Args:
        function: What does it; it may be called more than once.
    """
    _functions.append(function)
    atexit.register(function)


def run_all() -> None:
    """Do it now: for who ends the process at once."""
    for function in _functions:
        function()
