"""Names that peers send, and directories below the output that are made of them.

Nothing that a peer says leads out of the output: names are single, and directories are
opened one below the other, no symbolic link among them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from time import localtime, strftime

from .._typing import TYPE_CHECKING
from ..errors import VestigeError

if TYPE_CHECKING:
    from typing import Self

__all__ = [
    "Folder",
    "check_name",
    "check_time",
    "chunk_date",
    "relative_path",
    "session_date",
]

MODE = 0o770
"""Of directories that are made; LTTng's."""
LONGEST_NAME = 255
LONGEST_PATH = 4096
LAST_TIME = 253_402_214_400
"""The last day of the year 9999, seconds since 1970."""
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def check_name(name: bytes, what: str) -> str:
    """Return a name that may be one of a file.

    Args:
        name: As the peer sent it.
        what: What it names.

    Raises:
        VestigeError: It may not.
    """
    is_single = b"/" not in name and b"\0" not in name and not name.startswith(b".")
    if not name or not is_single or len(name) > LONGEST_NAME:
        raise VestigeError(
            f"{what} {name[:LONGEST_NAME]!r}: expected up to {LONGEST_NAME} bytes, no "
            "slash, and no dot at its beginning"
        )
    return os.fsdecode(name)


def relative_path(path: bytes, what: str) -> str:
    """Return a path below a directory, without needless parts.

    Args:
        path: As the peer sent it; older ones begin it with a slash.
        what: What is there.

    Raises:
        VestigeError: It leads out of the directory.
    """
    parts = [part for part in path.split(b"/") if part not in {b"", b"."}]
    is_long = len(path) > LONGEST_PATH or any(
        len(part) > LONGEST_NAME for part in parts
    )
    if b".." in parts or b"\0" in path or is_long:
        raise VestigeError(
            f"{what} {path[:LONGEST_NAME]!r}: expected a path that leads nowhere else"
        )
    return os.fsdecode(b"/".join(parts))


def check_time(seconds: int) -> int:
    """Return a time that has a date of four digits a year.

    Args:
        seconds: Since 1970, as the peer sent it.

    Raises:
        VestigeError: It has none.
    """
    if seconds > LAST_TIME:
        raise VestigeError(f"time {seconds}: expected seconds since 1970")
    return seconds


def session_date(seconds: int) -> str:
    """Return when a session was created, as its directory says it."""
    return strftime("%Y%m%d-%H%M%S", localtime(seconds))


def chunk_date(seconds: int) -> str:
    """Return when a trace chunk began or ended, as its directory says it."""
    return strftime("%Y%m%dT%H%M%S%z", localtime(seconds))


class Folder:
    """An open directory, and what is made below it.

    Args:
        descriptor: The directory; it is closed with this.
        path: Where it is, for people.
    """

    def __init__(self, descriptor: int, path: str) -> None:
        self.descriptor = descriptor
        self.path = path

    @classmethod
    def make(cls, path: str) -> Folder:
        """Open a directory that whoever runs the relay has chosen; make it first.

        Raises:
            OSError: It cannot be made.
        """
        Path(path).mkdir(mode=MODE, parents=True, exist_ok=True)
        return cls(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), path)

    def below(self, path: str) -> Folder:
        """Open a directory below; make it first.

        Args:
            path: From here, of names that were looked at.

        Raises:
            OSError: It cannot be made, or a symbolic link is on the way.
        """
        found = os.dup(self.descriptor)
        try:
            for part in path.split("/") if path else ():
                with suppress(FileExistsError):
                    os.mkdir(part, MODE, dir_fd=found)
                deeper = os.open(part, _OPEN, dir_fd=found)
                os.close(found)
                found = deeper
        except OSError:
            os.close(found)
            raise
        return Folder(found, f"{self.path}/{path}")

    def close(self) -> None:
        """Close it; more than once does no harm."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
