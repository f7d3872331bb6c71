"""Objects whose plans programs ask for: getting at their files.

A program names an object as it sees it: it may have another root directory, and be
another user's. So its file is opened through ``/proc``, with the rights of its user.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from ...._suppress import suppress
from ...._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .collector import PlanRequest

__all__ = ["AskedObject", "OpenedObject"]

OTHERS_MAY_WRITE = 0o022


class OpenedObject(NamedTuple):
    """The file of an object, opened."""

    path: str
    """A path to it that holds as long as it is open."""

    is_shared: bool
    """Whether what is made of it is good for all users: nobody but the recorder's user
    or root could have changed it, or nobody else asks."""


class AskedObject:
    """An object whose plan is asked for.

    Args:
        request: What a program asks.
    """

    def __init__(self, request: PlanRequest) -> None:
        self._request = request
        self.path = request.path
        """Its path, as the program sees it."""

    @contextmanager
    def opened(self) -> Iterator[OpenedObject]:
        """Open the file.

        Yields:
            The file.

        Raises:
            OSError: It cannot be opened, or is no regular file.
        """
        descriptor = self._open()
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(0, "its file is no regular one")
            is_safe = status.st_uid == 0 and not status.st_mode & OTHERS_MAY_WRITE
            is_own = self._request.user == os.geteuid()
            yield OpenedObject(f"/proc/self/fd/{descriptor}", is_own or is_safe)
        finally:
            os.close(descriptor)

    def _open(self) -> int:
        user = self._request.user
        if user == os.geteuid():
            return self._open_any()
        # Few programs change their user.
        from ....owner_rights import owner_rights  # noqa: PLC0415 - see above

        with owner_rights(user, os.stat(f"/proc/{self._request.process}").st_gid):
            return self._open_any()

    def _open_any(self) -> int:
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        process = f"/proc/{self._request.process}"
        if self._request.is_of_program:
            with suppress(OSError):
                return os.open(f"{process}/exe", flags)
        if os.path.isabs(self.path):
            with suppress(OSError):
                return os.open(f"{process}/root{self.path}", flags)
        else:
            return os.open(f"{process}/cwd/{self.path}", flags)
        return os.open(self.path, flags)
