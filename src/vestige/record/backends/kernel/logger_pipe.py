"""A file to which any user writes text: it becomes events ``lttng_logger``.

LTTng's module makes a device for that, ``/dev/lttng-logger``; here it is a named pipe.
What comes out of it is written to the markers of all instances of Vestige, so that all
recordings of the kernel have it, as with the device. A pipe does not tell where one
write ends and the next begins: each line is an event, and so is what has no line feed
when it is read. LTTng's events have up to 1,024 bytes, and more of them are needed for
longer texts.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from .tracefs import PREFIX

if TYPE_CHECKING:
    from .tracefs import Tracefs

__all__ = ["LONGEST", "LoggerPipe", "messages", "remove_abandoned_pipe"]

LONGEST = 1024
"""Bytes of the text of an event."""
MODE = 0o622
"""Anybody may write; nobody else reads."""
_AT_ONCE = 4096
_ROUNDS = 4
"""How often so many bytes are read in a row: somebody who writes without end must not
keep those who read from their other work."""


class LoggerPipe:
    """The named pipe, which is gone when it is closed.

    Args:
        tracefs: Where the instances are.
        path: The pipe. One whose reader is dead is replaced.

    Raises:
        OSError: It cannot be made, or is something else.
    """

    def __init__(self, tracefs: Tracefs, path: str) -> None:
        self._tracefs = tracefs
        self._path = path
        self._rest = b""
        remove_abandoned_pipe(path)
        os.mkfifo(path, 0o600)
        # With a writer of our own, it never comes to an end.
        flags = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        self.descriptor = os.open(path, flags)
        """To be read when there is something."""
        facts = os.fstat(self.descriptor)
        self._identity = facts.st_dev, facts.st_ino
        if not stat.S_ISFIFO(facts.st_mode) or facts.st_uid != os.geteuid():
            # Somebody has put another one in its place.
            os.close(self.descriptor)
            raise PermissionError(errno.EPERM, "it is another's", path)
        os.fchmod(self.descriptor, MODE)

    def pass_on(self) -> int:
        """Pass on what is there, or some of it.

        Returns:
            How many events there are of it.
        """
        found: list[bytes] = []
        for _ in range(_ROUNDS):
            try:
                data = os.read(self.descriptor, _AT_ONCE)
            except BlockingIOError:
                data = b""
            is_more = len(data) == _AT_ONCE
            new, self._rest = messages(self._rest + data, is_more=is_more)
            found += new
            if not is_more:
                break
        names = self._tracefs.names("instances") if found else []
        for name in names:
            if name.startswith(PREFIX):
                # One that is gone, or does not record now, does without.
                with suppress(OSError):
                    self._write(name, found)
        return len(found)

    def _write(self, instance: str, found: list[bytes]) -> None:
        marker = self._tracefs.open(f"instances/{instance}/trace_marker", os.O_WRONLY)
        try:
            for one in found:
                os.write(marker, one)
        finally:
            os.close(marker)

    def close(self) -> None:
        """Remove it."""
        with suppress(OSError):
            facts = os.lstat(self._path)
            if (facts.st_dev, facts.st_ino) == self._identity:
                os.unlink(self._path)
        os.close(self.descriptor)


def messages(data: bytes, *, is_more: bool) -> tuple[list[bytes], bytes]:
    """Cut text into that of events.

    Args:
        data: What was read.
        is_more: Whether its last line goes on.

    Returns:
        The texts, without empty ones; and what is left for the next time.
    """
    lines = data.split(b"\n")
    rest = b""
    if is_more and len(lines[-1]) < LONGEST:
        rest = lines.pop()
    pieces = [
        line[at : at + LONGEST] for line in lines for at in range(0, len(line), LONGEST)
    ]
    return pieces, rest


def remove_abandoned_pipe(path: str) -> None:
    """Remove a pipe that nobody reads any more.

    Args:
        path: The pipe, if there is one.

    Raises:
        OSError: Somebody reads it, or it is something else.
    """
    try:
        facts = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISFIFO(facts.st_mode):
        raise FileExistsError(errno.EEXIST, "there is another file", path)
    try:
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        os.close(os.open(path, flags))
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        os.unlink(path)
    else:
        raise FileExistsError(errno.EEXIST, "somebody reads it already", path)
