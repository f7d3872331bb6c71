"""Recordings that were killed: what is left of them in memory is written first."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

__all__ = ["recover_abandoned"]


def recover_abandoned(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Complete the recordings among some paths whose collector was killed.

    What was done is said on standard error. Where it cannot be done, what is in the
    trace is read.

    Args:
        paths: Paths of traces, and others.
    """
    for path in paths:
        # Hardly any trace has it, and the module that reads it takes time to import.
        if not os.path.isfile(os.path.join(path, ".arena")):  # noqa: PTH113, PTH118 - start-up
            continue
        from ..record.backends.in_process.recovery import recover_if_abandoned

        for one in recover_if_abandoned(path):
            print(
                f"vestige: {os.fspath(path)}: its recorder was killed; "
                f"{one.packets:,} packets were recovered from memory",
                file=sys.stderr,
            )
