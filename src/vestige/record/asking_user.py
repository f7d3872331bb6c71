"""The user for whom root records: a trace made with ``sudo`` belongs to who asked.

It is given away at its end, when nothing is written to it any more. What somebody else
has put there, or has another name elsewhere, stays root's: whoever may write to the
directory could otherwise be given any file of the machine.
"""

from __future__ import annotations

import os
import stat

from .._suppress import suppress
from .._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .own_directories import KnownDirectory, OwnDirectory

__all__ = ["AskingUser", "asking_user"]

_MOST = (1 << 32) - 1
"""An ID that means none, see chown(2)."""
_AS_IT_IS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class AskingUser(NamedTuple):
    """Who has asked root for a recording."""

    user: int
    group: int

    def take(self, directory: OwnDirectory) -> None:
        """Become the owner of all that root has made in a directory, and of it.

        What cannot be given stays as it is, as does what has its name by now.

        Args:
            directory: The directory, and those that were made for it.
        """
        with suppress(OSError):
            whole = _opened(directory.whole)
            try:
                self._take_inside(whole)
            finally:
                os.close(whole)
        for one in directory.made:
            with suppress(OSError):
                self._take_and_close(_opened(one))

    def _take_inside(self, directory: int) -> None:
        for name in os.listdir(directory):
            with suppress(OSError):
                self._take_entry(directory, name)

    def _take_entry(self, directory: int, name: str) -> None:
        facts = os.lstat(name, dir_fd=directory)
        if facts.st_uid != os.geteuid():
            return
        if stat.S_ISDIR(facts.st_mode):
            flags = _AS_IT_IS | os.O_DIRECTORY
            inner = os.open(name, flags, dir_fd=directory)
            try:
                self._take_inside(inner)
            finally:
                # Last: nobody else can put anything there before.
                self._take_and_close(inner)
        elif stat.S_ISREG(facts.st_mode):
            self._take_and_close(os.open(name, _AS_IT_IS, dir_fd=directory))

    def _take_and_close(self, file: int) -> None:
        try:
            facts = os.fstat(file)
            is_alone = facts.st_nlink == 1 or stat.S_ISDIR(facts.st_mode)
            if is_alone and facts.st_uid == os.geteuid():
                os.fchown(file, self.user, self.group)
        finally:
            os.close(file)


def _opened(directory: KnownDirectory) -> int:
    """Open a directory.

    Raises:
        OSError: It is not there, or another one has its name: whoever may write above
            it could put any directory of the machine there, or a link to what is above.
    """
    file = os.open(directory.path, _AS_IT_IS | os.O_DIRECTORY)
    facts = os.fstat(file)
    if (facts.st_dev, facts.st_ino) != (directory.device, directory.inode):
        os.close(file)
        raise FileNotFoundError(directory.path)
    return file


def asking_user() -> AskingUser | None:
    """Return for whom root records; ``None``: for nobody but the user who does.

    ``sudo`` tells it in ``SUDO_UID`` and ``SUDO_GID``.
    """
    if os.geteuid() != 0:
        return None
    words = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if not all(one.isascii() and one.isdigit() for one in words):
        return None
    user, group = map(int, words)
    return AskingUser(user, group) if 0 < user < _MOST and group < _MOST else None
