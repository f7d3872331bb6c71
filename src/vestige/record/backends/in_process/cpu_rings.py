"""Rings of CPUs in place of rings of threads.

Channels of sessions have such rings. A recording has them for tests and measurements,
if the environment says so, see :mod:`.backend`.
"""

from __future__ import annotations

import os

from ...rules.options import RecordingOptions

__all__ = ["cpu_count", "cpu_rings", "with_contexts_of_threads"]

_NEEDED = ("vpid", "vtid")


def cpu_rings(options: RecordingOptions) -> int:
    """Return how many CPUs have rings.

    Args:
        options: What is recorded. In overwrite mode there are no such rings.

    Returns:
        The number of CPUs that the machine may have; 0: each thread has a ring.
    """
    return 0 if options.mode == "overwrite" else cpu_count()


def cpu_count() -> int:
    """Return how many CPUs the machine may have."""
    return os.sysconf("SC_NPROCESSORS_CONF")


def with_contexts_of_threads(options: RecordingOptions) -> RecordingOptions:
    """Let each record tell whose it is, since its packet does not.

    Args:
        options: What is recorded.

    Returns:
        The same, with IDs of processes and threads.
    """
    more = tuple(name for name in _NEEDED if name not in options.contexts)
    return options._replace(contexts=(*options.contexts, *more))
