"""Who empties the kernel's buffers goes first: a buffer fills while it waits."""

from __future__ import annotations

import os
from contextlib import suppress

__all__ = ["MOST_URGENT", "SLICE", "go_first"]

MOST_URGENT = -20
"""As setpriority(2) counts."""
SLICE = 100_000
"""Nanoseconds, the least that there is: with a slice like that of others, these go on
for the rest of theirs, up to 3 ms, in which a CPU writes most of a megabyte."""
_GROUP = "/proc/self/autogroup"
"""The kernel compares sessions first, and only then the processes of one: sched(7)."""


def go_first() -> None:
    """Let this process run before others that want to, as far as that is permitted.

    It gets no real-time priority: where there are more events than it can take, others
    go on all the same.
    """
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, MOST_URGENT)
    # Kernels can be without it.
    with suppress(OSError):
        descriptor = os.open(_GROUP, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, str(MOST_URGENT).encode())
        finally:
            os.close(descriptor)
