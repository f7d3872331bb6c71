"""A connection to the session daemon.

This is imported by each verb: no asyncio, no core, nothing that takes long. So sockets
and locks are those of the modules that :mod:`socket` and :mod:`threading` are made of.
"""

from __future__ import annotations

from _socket import AF_UNIX, SOCK_STREAM, socket
from _thread import RLock

from .._typing import TYPE_CHECKING, cast
from ..errors import VestigeError
from .protocol import LARGEST_MESSAGE, Answer, decode_answer, encode_request
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

    def __init__(self, connection: socket) -> None:
        self._socket = connection
        # Ctrl-C just after it was taken leaves it taken: for others than this thread.
        self._turn = RLock()
        self._received = bytearray()
        self._searched = 0
        """Bytes of that which have no end of a line."""
        self._number = 0
        """Of the request before."""
        self._is_broken_off = False
        """Whether its answer was not read, and maybe not all of it was sent."""

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
            connection = socket(AF_UNIX, SOCK_STREAM)
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
        if not self._turn.acquire(timeout=LONGEST_WAIT):
            raise VestigeError("the session daemon answers another request")
        try:
            self._number += 1
            answer = self._exchange(encode_request(verb, values, self._number))
        except TimeoutError:
            raise VestigeError(
                f"the session daemon gave no answer for {LONGEST_WAIT:.0f} s"
            ) from None
        except OSError:
            raise VestigeError(CONNECTION_ENDED) from None
        finally:
            self._turn.release()
        if answer.refusal is not None:
            raise refused(*answer.refusal)
        return cast("dict[str, Any]", answer.value)

    def _exchange(self, request: bytes) -> Answer:
        """Send a request and return the answer to it.

        Ctrl-C may have broken off the one before: then a part of it was sent, or of
        its answer a part is still to come.
        """
        follows_another, self._is_broken_off = self._is_broken_off, True
        self._socket.sendall(b"\n" + request if follows_another else request)
        while line := self._line():
            try:
                answer = decode_answer(line)
            except VestigeError:
                if follows_another:
                    continue
                raise
            # Who could not read a request has no number for its answer.
            is_ours = answer.number == self._number
            if is_ours or (answer.number is None and not follows_another):
                self._is_broken_off = False
                return answer
        raise VestigeError(CONNECTION_ENDED)

    def _line(self) -> bytes:
        while (line := self._whole_line()) is None:
            if not self._receive():
                return b""
        return line

    def _whole_line(self) -> bytes | None:
        """Return the next line that was received; ``None`` if that is not all of it."""
        end = self._received.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._received)
            return None
        self._searched = 0
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line

    def _receive(self) -> bool:
        """Receive more; return whether there is any."""
        part = self._socket.recv(1 << 16)
        if not part or len(self._received) > LARGEST_MESSAGE:
            return False
        self._received += part
        return True

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def __del__(self) -> None:
        # Who drops one without closing it has no use for a warning: nothing is lost.
        self._socket.close()
