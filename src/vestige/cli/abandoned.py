"""Recordings that were killed: the command line says so."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from ..trace import recover_abandoned

__all__ = ["say_recovered"]


def say_recovered(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Complete the recordings among some paths whose collector was killed.

    What was done is said on standard error, or why nothing was.

    Args:
        paths: Paths of traces, and others.
    """
    for path, one in recover_abandoned(paths):
        text = one
        if not isinstance(one, str):
            text = (
                "its recorder was killed, or its disk was full; "
                f"{one.packets:,} packets were recovered from memory"
            )
        print(f"vestige: {path}: {text}", file=sys.stderr)
