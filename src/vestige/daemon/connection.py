"""A connection to the session daemon.

This is imported by each verb: no asyncio, no core, nothing that takes long.
"""

from __future__ import annotations

import socket
import threading

from .._typing import TYPE_CHECKING, cast
from ..errors import VestigeError
from .protocol import LARGEST_MESSAGE, decode_answer, encode_request
from .refusals import refused
from .run_paths import TRACING_GROUP, client_sockets

if TYPE_CHECKING:
    from typing import Any, Self

__all__ = ["Connection"]

LONGEST_WAIT = 120.0
"""Seconds for an answer: programs that do not answer are given up long before."""

CONNECTION_ENDED = "the request failed: the session daemon ended the connection"


class Connection:
    """A connection to a daemon.

    Args:
        connection: A socket that is connected to one.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._turn = threading.Lock()
        self._received = bytearray()
        self._unread = 0
        """Requests whose answers were not read."""

    @classmethod
    def connect(cls, group: str = TRACING_GROUP, folder: str | None = None) -> Self:
        """Connect to root's daemon or to that of this user, as lttng(1) says.

        Args:
            group: Whose members may control root's.
            folder: The run directory of the only daemon that is meant.

        Returns:
            The connection.

        Raises:
            SessionError: No daemon is there.
        """
        for path in client_sockets(group, folder):
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.settimeout(LONGEST_WAIT)
            try:
                connection.connect(path)
            except OSError:
                connection.close()
                continue
            return cls(connection)
        raise refused("NO_SESSIOND")

    def fileno(self) -> int:
        """Return a descriptor that can be read once the daemon has ended."""
        return self._socket.fileno()

    def ask(self, verb: str, **values: object) -> dict[str, Any]:
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
        request = encode_request(verb, values)
        if not self._turn.acquire(timeout=LONGEST_WAIT):
            raise VestigeError("the session daemon answers another request")
        try:
            self._unread += 1
            self._socket.sendall(request)
            # Ctrl-C may have left the answers to requests before this one.
            for _ in range(self._unread):
                line = self._line()
                if not line:
                    break
                self._unread -= 1
        except TimeoutError:
            raise VestigeError(
                f"the session daemon gave no answer for {LONGEST_WAIT:.0f} s"
            ) from None
        except OSError:
            raise VestigeError(CONNECTION_ENDED) from None
        finally:
            self._turn.release()
        if not line:
            raise VestigeError(CONNECTION_ENDED)
        return cast("dict[str, Any]", decode_answer(line))

    def _line(self) -> bytes:
        begin = 0
        while (end := self._received.find(b"\n", begin)) < 0:
            begin = len(self._received)
            part = self._socket.recv(1 << 16)
            if not part or begin > LARGEST_MESSAGE:
                return b""
            self._received += part
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def __del__(self) -> None:
        # Who drops one without closing it has no use for a warning: nothing is lost.
        self._socket.close()
