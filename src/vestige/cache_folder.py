"""Caches in the user's directory: where they are, and files that are there as a whole.

Recordings begin with it, so it imports little.
"""

from __future__ import annotations

import _thread
import os
import time

from ._suppress import suppress
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ABANDONED_AFTER",
    "CACHE_DIRECTORY_VARIABLE",
    "CACHE_SIZE_VARIABLE",
    "TEMPORARY",
    "cache_directory",
    "write_whole",
]

CACHE_DIRECTORY_VARIABLE = "VESTIGE_CACHE_DIR"
"""The environment variable that names the directory of the caches."""

CACHE_SIZE_VARIABLE = "VESTIGE_CACHE_SIZE"
"""The environment variable that bounds the size of each; 0 turns them off."""

TEMPORARY = ".tmp-"
"""What the names of files begin with that somebody writes, or has left behind."""

ABANDONED_AFTER = 3600.0
"""Seconds after which nobody writes to such a file any more."""


def cache_directory(environment: Mapping[str, str]) -> str | None:
    """Return the directory of the caches.

    It is ``VESTIGE_CACHE_DIR``, else ``vestige`` in ``XDG_CACHE_HOME``, else
    ``~/.cache/vestige`` (XDG Base Directory Specification: a relative path in that
    variable counts as none).

    Args:
        environment: The variables.

    Returns:
        Its path; ``None`` for who has no home.
    """
    own = environment.get(CACHE_DIRECTORY_VARIABLE)
    if own:
        return own
    base = environment.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "vestige") if os.path.isabs(base) else None


def write_whole(folder: str, name: str, data: bytes) -> None:
    """Write a file under a temporary name, and rename it.

    Args:
        folder: The directory.
        name: The name of the file there; a file of that name is replaced.
        data: What is in it.

    Raises:
        OSError: It cannot be written; nothing is left of it.
    """
    unique = f"{os.getpid():x}-{_thread.get_ident():x}-{time.time_ns():x}"
    temporary = os.path.join(folder, TEMPORARY + unique)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    handle = os.open(temporary, flags, 0o600)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.rename(temporary, os.path.join(folder, name))
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
