"""A connection to a relay daemon: requests, and answers in their order."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Iterable
from struct import Struct

from .._suppress import suppress
from .._typing import TYPE_CHECKING
from ..errors import TraceFormatError
from . import messages
from .messages import Command
from .url import LiveUrl

if TYPE_CHECKING:
    from typing import TypeVar

    _T = TypeVar("_T")

__all__ = ["Connection", "request"]

LONGEST_SILENCE = 30.0
"""How long an answer may take, seconds: the relay daemon never waits for anything."""
MOST_OWED = 64
"""How many answers are on their way before one is waited for."""
AT_ONCE = 256 * 1024
"""For how many bytes there is room before they have come."""
LEFT = "what the relay daemon has received is in its output directory"


class Connection:
    """A connection to a relay daemon.

    Args:
        url: Where it is.

    Raises:
        TraceFormatError: Nobody answers there.
    """

    def __init__(self, url: LiveUrl) -> None:
        self.url = url
        self._owed: deque[Callable[[], None]] = deque()
        self._socket = socket.socket(url.family, socket.SOCK_STREAM)
        try:
            self._connect()
        except TraceFormatError:
            self.close()
            raise

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def ask(self, command: Command, body: bytes = b"") -> None:
        """Send a request whose answer is read next.

        Args:
            command: What is asked.
            body: What follows.

        Raises:
            TraceFormatError: There is no connection any more.
        """
        self.take_all()
        self._send(request(command, body))

    def ask_ahead(self, asked: Iterable[tuple[bytes, Callable[[], None]]]) -> None:
        """Send requests whose answers are read later.

        Args:
            asked: The requests, with what reads the answer of each.

        Raises:
            TraceFormatError: There is no connection any more.
        """
        if len(self._owed) >= MOST_OWED:
            # Whoever does not read what the other side writes cannot write for ever.
            self.take_all()
        requests = [*asked]
        self._owed += [read for _, read in requests]
        self._send(b"".join(one for one, _ in requests))

    @property
    def is_owed(self) -> bool:
        """Whether any answer is on its way."""
        return bool(self._owed)

    def take_all(self) -> None:
        """Read all answers that are on their way.

        Raises:
            TraceFormatError: One makes no sense, or there is none.
        """
        while self._owed:
            self.take_next()

    def take_next(self) -> None:
        """Read the next of them.

        Raises:
            TraceFormatError: It makes no sense, or there is none.
        """
        try:
            self._owed.popleft()()
        except TraceFormatError:
            # Nobody knows where the next one begins.
            self._owed.clear()
            self.close()
            raise

    def numbers(self, form: Struct) -> tuple[int, ...]:
        """Read numbers of an answer.

        Args:
            form: How they are written.

        Raises:
            TraceFormatError: They do not come.
        """
        return form.unpack(self.receive(form.size))

    def receive(self, size: int, data: bytearray | None = None) -> bytearray:
        """Read bytes of an answer.

        Args:
            size: How many.
            data: Where they go, behind what is there.

        Raises:
            TraceFormatError: They do not come.
        """
        data = bytearray() if data is None else data
        at, end = len(data), len(data) + size
        try:
            while at < end:
                # What comes counts, not what was promised.
                data += bytes(min(end - at, AT_ONCE))
                with memoryview(data) as place:
                    while at < len(place):
                        with place[at:] as rest:
                            at += self._receive_into(rest)
        except TraceFormatError:
            del data[at:]
            raise
        return data

    def read(self, read: Callable[..., _T], *arguments: object) -> _T:
        """Read a part of an answer; whose it is is told if it makes no sense.

        Args:
            read: What reads it.
            arguments: Its arguments.

        Raises:
            TraceFormatError: It makes no sense.
        """
        try:
            return read(*arguments)
        except TraceFormatError as error:
            raise self.error(str(error)) from None

    def error(self, message: str) -> TraceFormatError:
        """Return an error that says whose it is.

        Args:
            message: What is wrong.
        """
        return TraceFormatError(f"{self.url.text}: {message}")

    def _connect(self) -> None:
        kind = socket.SOCK_STREAM
        try:
            found = socket.getaddrinfo(
                self.url.host, self.url.port, self.url.family, kind
            )
            self._socket.settimeout(LONGEST_SILENCE)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.connect(found[0][4])
        except OSError as error:
            raise self.error(
                f"cannot connect: {_reason(error)} (is a relay daemon there, and waits "
                f"for viewers on port {self.url.port}?)"
            ) from None

    def _send(self, request: bytes) -> None:
        try:
            # Of a connection that is lost, what has come is read before that is told.
            with suppress(ConnectionError):
                self._socket.sendall(request)
        except OSError as error:
            raise self.error(f"the connection is lost: {_reason(error)}") from None

    def _receive_into(self, place: memoryview) -> int:
        """Fill a place, or a part of it; return how many bytes have come."""
        try:
            count = self._socket.recv_into(place)
        except OSError as error:
            raise self.error(
                f"the connection is lost: {_reason(error)}; {LEFT}"
            ) from None
        if not count:
            raise self.error(f"the relay daemon has closed the connection; {LEFT}")
        return count


def request(command: Command, body: bytes = b"") -> bytes:
    """Return a request.

    Args:
        command: What is asked.
        body: What follows.
    """
    return messages.REQUEST.pack(len(body), command, 0) + body


def _reason(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer for {LONGEST_SILENCE:.0f} s"
    return error.strerror or str(error)
