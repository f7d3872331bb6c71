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

__all__ = ["machine_line", "machine_lines"]


def machine_line(recording: Recording) -> str:
    """Say how long a machine was recorded, and what there is of it.

    Args:
        recording: A recording that has ended, without a program.
    """
    kernel = recording.collected.kernel
    held = "nothing is left" if kernel is None else kernel_counts(kernel)
    return f"vestige: recorded the kernel for {recording.seconds:.3f} s: {held}"


def machine_lines(recording: Recording, said: Collection[str]) -> Iterator[str]:
    """Say what was recorded of a machine, what was lost, and what to type next.

    Args:
        recording: A recording that has ended, without a program.
        said: Problems that were told before it began.

    Yields:
        Lines for people.
    """
    collected = recording.collected
    yield machine_line(recording)
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
