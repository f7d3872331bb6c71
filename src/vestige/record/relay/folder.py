"""The directory in memory of what is sent."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["held_spool", "make_spool", "remove_spool"]

SHARED_MEMORY = "/dev/shm"  # noqa: S108 - directories there have names of their own
PREFIX = "vestige-relay-"
HELD = ".held"
"""How the names of those end that are of no use without the process that made them."""
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _where() -> str:
    return SHARED_MEMORY if Path(SHARED_MEMORY).is_dir() else tempfile.gettempdir()


def make_spool(uid: int, gid: int) -> str:
    """Make a directory in memory that something is recorded to.

    Args:
        uid: Whose it is.
        gid: As above.

    Returns:
        Its path.

    Raises:
        OSError: It cannot be made.
    """
    path = tempfile.mkdtemp(prefix=PREFIX, dir=_where())
    if os.geteuid() == 0 and uid != 0:
        os.chown(path, uid, gid)
    return path


def remove_spool(path: str) -> None:
    """Remove one with all that is in it; nothing else is removed.

    Args:
        path: Its path.
    """
    if Path(path).name.startswith(PREFIX):
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def held_spool() -> Iterator[str]:
    """Make one that goes with this process, and remove those that others have left.

    Whoever makes one holds a lock of it. A process that was killed holds none any
    more: the next one removes what it has left in memory.

    Raises:
        OSError: It cannot be made.
    """
    _remove_left()
    made = make_spool(os.geteuid(), os.getegid())
    path = made + HELD
    holder = os.open(made, _OPEN)
    try:
        fcntl.flock(holder, fcntl.LOCK_EX)
        # Nobody removes it before it is held: it has that name only then.
        os.rename(made, path)
        yield path
    finally:
        remove_spool(path)
        os.close(holder)


def _remove_left() -> None:
    """Remove what processes of this user have left that are gone."""
    for path in Path(_where()).glob(f"{PREFIX}*{HELD}"):
        # Somebody holds it, or has just removed it.
        with suppress(OSError):
            left = os.open(path, _OPEN)
            try:
                if os.fstat(left).st_uid == os.geteuid():
                    fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_spool(str(path))
            finally:
                os.close(left)
