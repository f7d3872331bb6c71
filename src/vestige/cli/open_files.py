"""How many files this process may have open."""

from __future__ import annotations

import os

from .._suppress import suppress

__all__ = ["allow_many_files"]

FEW = 128
"""Files besides those of a trace: modules, libraries, what others have opened."""


def allow_many_files(streams: int | None = None) -> None:
    """Open as many files as may be: a trace of a thousand threads has as many.

    Args:
        streams: How many data streams the trace has; ``None`` where that is not known.
    """
    if streams is not None and streams + FEW <= os.sysconf("SC_OPEN_MAX"):
        # Most recordings are small, and do not wait for what follows.
        return
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
