"""Why memory, threads or the directory of a recording are refused, for people."""

from __future__ import annotations

import errno
import os
import resource

from ...._suppress import suppress

__all__ = ["why_refused"]

WRITABLE_BY_OTHERS = 0o022
SHARED = (
    "the directory is writable by others, who could put files in the place of the "
    "trace's: 'chmod go-w' it"
)


def why_refused(error: OSError, directory: str) -> str:
    """Say why the kernel, or the collector, refused what a recording needs.

    Args:
        error: What was raised.
        directory: The trace.

    Returns:
        The reason, and what helps where that is known.
    """
    reason = error.strerror or str(error)
    hints = []
    if error.errno == errno.EPERM:
        hints = _of_directory(directory)
    elif error.errno in {errno.ENOMEM, errno.EAGAIN}:
        hints = _of_limits(is_of_threads=error.errno == errno.EAGAIN)
    elif error.errno == errno.EFBIG:
        hints = _of_file_sizes()
    return "; ".join([reason, *hints])


def _of_directory(directory: str) -> list[str]:
    with suppress(OSError):
        found = os.stat(directory)
        if found.st_uid != os.geteuid():
            return [f"the directory belongs to user {found.st_uid}: choose another one"]
        if found.st_mode & WRITABLE_BY_OTHERS:
            return [SHARED]
    return []


def _of_limits(*, is_of_threads: bool) -> list[str]:
    hints = []
    space, _ = resource.getrlimit(resource.RLIMIT_AS)
    if space != resource.RLIM_INFINITY:
        hints.append(
            f"'ulimit -v' allows {space // 1024:,} KiB of address space: raise it"
        )
    threads, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if is_of_threads and threads != resource.RLIM_INFINITY and os.geteuid():
        hints.append(f"'ulimit -u' allows {threads:,} processes and threads: raise it")
    return hints


def _of_file_sizes() -> list[str]:
    most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if most == resource.RLIM_INFINITY:
        return []
    return [f"'ulimit -f' allows files of {most // 1024:,} KiB: raise it"]
