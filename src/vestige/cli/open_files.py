"""How many files this process may have open."""

from __future__ import annotations

from .._suppress import suppress

__all__ = ["allow_many_files"]


def allow_many_files() -> None:
    """Open as many files as may be: a trace of a thousand threads has as many."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
