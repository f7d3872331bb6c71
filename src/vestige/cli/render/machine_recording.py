"""The lines at the end of a recording of the kernel alone."""

from __future__ import annotations

import os

from ..._typing import TYPE_CHECKING
from .recording import (
    copy_lines,
    has_kernel_report,
    kernel_counts,
    overwritten_lines,
    quoted,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ...record.recorder import Recording

__all__ = ["machine_lines"]


def machine_lines(recording: Recording, said: Collection[str]) -> Iterator[str]:
    """Say what was recorded of a machine, what was lost, and what to type next.

    Args:
        recording: A recording that has ended, without a program.
        said: Problems that were told before it began.

    Yields:
        Lines for people.
    """
    collected = recording.collected
    held = f" {kernel_counts(collected.kernel)}" if collected.kernel is not None else ""
    seconds = f"{recording.seconds:.3f} s"
    yield f"vestige: recorded the kernel for {seconds}:{held or ' nothing is left'}"
    if collected.kernel is not None:
        for line in overwritten_lines(collected.kernel):
            yield f"vestige: {line}"
    for problem in collected.problems:
        if problem not in said:
            yield f"vestige: warning: {problem}"
    yield from (f"vestige: {line}" for line in copy_lines(recording))
    trace = quoted(os.fspath(recording))
    yield f"vestige: trace in {trace}"
    if has_kernel_report(recording):
        yield f"vestige: vestige report --kernel {trace}"
    yield f"vestige: vestige view {trace}"
