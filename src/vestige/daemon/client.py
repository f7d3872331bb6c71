"""Asking the session daemon, and starting it.

This is imported by each verb: no asyncio, no core, nothing that takes long.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress

from .._typing import TYPE_CHECKING, cast
from ..errors import VestigeError
from .protocol import LARGEST_MESSAGE, decode_answer, encode_request
from .refusals import refused
from .run_paths import TRACING_GROUP, client_sockets

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Client", "start_daemon"]

LONGEST_WAIT = 120.0
"""Seconds for an answer: programs that do not answer are given up long before."""

CONNECTION_ENDED = "the request failed: the session daemon ended the connection"


class Client:
    """A connection to a daemon.

    Args:
        connection: A socket that is connected to one.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._rest = b""

    @classmethod
    def connect(cls, group: str = TRACING_GROUP) -> Self:
        """Connect to root's daemon or to that of this user, as lttng(1) says.

        Args:
            group: Whose members may control root's.

        Returns:
            The connection.

        Raises:
            SessionError: No daemon is there.
        """
        for path in client_sockets(group):
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.settimeout(LONGEST_WAIT)
            try:
                connection.connect(path)
            except OSError:
                connection.close()
                continue
            return cls(connection)
        raise refused("NO_SESSIOND")

    def ask(self, verb: str, **values: object) -> dict[str, object]:
        """Ask for something and wait for the answer.

        Args:
            verb: What is to be done.
            values: What it needs.

        Returns:
            The answer.

        Raises:
            SessionError: The daemon refuses.
            VestigeError: It does not answer, or it went away.
        """
        try:
            self._socket.sendall(encode_request(verb, values))
            line = self._line()
        except TimeoutError:
            raise VestigeError(
                f"the session daemon gave no answer for {LONGEST_WAIT:.0f} s"
            ) from None
        except OSError:
            raise VestigeError(CONNECTION_ENDED) from None
        if not line:
            raise VestigeError(CONNECTION_ENDED)
        return cast("dict[str, object]", decode_answer(line))

    def _line(self) -> bytes:
        parts = [self._rest]
        size = len(self._rest)
        while b"\n" not in parts[-1]:
            part = self._socket.recv(1 << 16)
            if not part or size > LARGEST_MESSAGE:
                return b""
            parts.append(part)
            size += len(part)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


def start_daemon(command: Sequence[str]) -> bool:
    """Start a daemon and wait until clients can connect.

    Args:
        command: Its program and arguments; it must go to the background by itself.

    Returns:
        Whether it says that it runs.
    """
    # Takes less time to import than the subprocess module.
    sys.stdout.flush()
    try:
        child = os.posix_spawn(command[0], [*command], dict(os.environ))
    except OSError:
        return False
    with suppress(ChildProcessError):
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return False
