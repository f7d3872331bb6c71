"""A server of the page, for one person on one machine.

It listens on 127.0.0.1 alone. Other users of the machine can reach that, and pages of
other sites that the same browser shows can send requests there. So an address has a
token in it that nobody can guess, the ``Host`` of a request must be this machine
(names of others may lead here: DNS rebinding), nothing but ``GET`` is answered, and no
request names a file.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qs, urlsplit

from ..errors import VestigeError
from .assembly import MODULES, STYLE, assembled, file_of_page

__all__ = ["PageData", "PageServer"]

_TOKEN_BYTES = 24
_IDLE_SECONDS = 60
"""How long a connection may say nothing."""
_OWN_NAMES = frozenset({"127.0.0.1", "localhost"})
_LARGEST = 1 << 62
"""No number of a request is larger."""
_MOST_EVENTS = 10_000
"""Event records in an answer."""

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # The address has the token in it.
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PageData(Protocol):
    """What the server answers with; all times are nanoseconds since the first event.

    Methods are called in several threads at once.
    """

    def meta(self) -> dict[str, Any]:
        """Return what the page is told of the trace."""

    def blocks(self, level: int, begin: int, end: int) -> bytes:
        """Return the blocks of a level, as columns.

        Args:
            level: The index of the level.
            begin: First time.
            end: Last time.
        """

    def window(self, begin: int, end: int) -> bytes:
        """Return single calls, as columns.

        Args:
            begin: First time.
            end: Last time.
        """

    def tree(self, begin: int, end: int) -> dict[str, Any]:
        """Return the call tree of a range.

        Args:
            begin: First time.
            end: Last time.
        """

    def events(self, begin: int, end: int, limit: int) -> dict[str, Any]:
        """Return event records that are neither entries nor exits of functions.

        Args:
            begin: First time.
            end: Last time.
            limit: How many at most.
        """

    def source(self, function: int) -> dict[str, Any] | None:
        """Return the lines around the begin of a function, where they are known.

        Args:
            function: Its number.
        """


class _Answer(NamedTuple):
    kind: str
    """Its media type."""
    body: bytes


class PageServer(ThreadingHTTPServer):
    """Serves the page and what it asks for.

    Args:
        data: What it is about.
        port: The port, 0 for any that is free.

    Raises:
        OSError: The port cannot be had.
    """

    daemon_threads = True

    def __init__(self, data: PageData, port: int = 0) -> None:
        self.data = data
        self.token = secrets.token_urlsafe(_TOKEN_BYTES)
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return self.server_port

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of browsers that go away."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def answer(self, path: str, query: str) -> _Answer | None:
        """Return the answer to a request.

        Args:
            path: What follows the token.
            query: The parameters.

        Returns:
            ``None`` if there is none.

        Raises:
            ValueError: A parameter is missing or wrong.
            VestigeError: The trace cannot be read.
        """
        if path == "":
            addresses = {name: f"./{name}" for name in (STYLE, *MODULES)}
            return _Answer(
                "text/html; charset=utf-8", _encoded(assembled("", addresses))
            )
        if path == STYLE:
            return _Answer("text/css; charset=utf-8", _encoded(file_of_page(path)))
        if path in MODULES:
            kind = "text/javascript; charset=utf-8"
            return _Answer(kind, _encoded(file_of_page(path)))
        made = _ANSWERS.get(path)
        if made is None:
            return None
        value = made(self.data, _Parameters(query))
        if isinstance(value, bytes):
            return _Answer("application/octet-stream", value)
        text = json.dumps(value, separators=(",", ":"))
        return _Answer("application/json", text.encode("ascii"))


class _Parameters:
    """The parameters of a request: numbers."""

    def __init__(self, query: str) -> None:
        self._values: Mapping[str, list[str]] = parse_qs(query, max_num_fields=8)

    def __getitem__(self, name: str) -> int:
        [text] = self._values.get(name, [""])
        if not (text.isascii() and text.isdecimal()) or len(text) > len(str(_LARGEST)):
            raise ValueError(f"{name}: expected a number")
        return min(int(text), _LARGEST)


_ANSWERS: Mapping[str, Callable[[PageData, _Parameters], Any]] = {
    "api/meta": lambda data, _: data.meta(),
    "api/blocks": lambda data, of: data.blocks(of["level"], of["begin"], of["end"]),
    "api/window": lambda data, of: data.window(of["begin"], of["end"]),
    "api/tree": lambda data, of: data.tree(of["begin"], of["end"]),
    "api/events": lambda data, of: data.events(
        of["begin"], of["end"], min(of["limit"], _MOST_EVENTS)
    ),
    "api/source": lambda data, of: data.source(of["function"]),
}


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version = "vestige"
    sys_version = ""
    timeout = _IDLE_SECONDS

    def parse_request(self) -> bool:
        """Read a request; refuse those of other methods, whatever they ask for."""
        if not super().parse_request():
            return False
        if self.command != "GET":
            self.close_connection = True
            self._refuse(HTTPStatus.METHOD_NOT_ALLOWED, "only GET", {"Allow": "GET"})
            return False
        return True

    def do_GET(self) -> None:
        """Answer a request."""
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            # What follows is not read, so it must not be taken for a request.
            self.close_connection = True
        if not self._is_for_this_machine():
            self._refuse(HTTPStatus.FORBIDDEN, "another host was asked for")
            return
        url = urlsplit(self.path)
        token, slash, path = url.path.removeprefix("/").partition("/")
        if not secrets.compare_digest(_encoded(token), _encoded(self.server.token)):
            self._refuse(HTTPStatus.NOT_FOUND, "nothing here")
            return
        if not slash:
            self._refuse(HTTPStatus.MOVED_PERMANENTLY, "", {"Location": f"/{token}/"})
            return
        try:
            answer = self.server.answer(path, url.query)
        except (VestigeError, OSError) as error:
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        except (ValueError, IndexError) as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
        else:
            if answer is None:
                self._refuse(HTTPStatus.NOT_FOUND, "nothing here")
            else:
                self._send(HTTPStatus.OK, answer)

    def _is_for_this_machine(self) -> bool:
        """Decide by the ``Host`` of a request; a tunnel may have another port."""
        names = self.headers.get_all("Host", [])
        if len(names) != 1:
            return False
        name, _, port = names[0].partition(":")
        return name in _OWN_NAMES and (
            not port or (port.isascii() and port.isdecimal())
        )

    def _refuse(
        self, status: HTTPStatus, text: str, headers: Mapping[str, str] | None = None
    ) -> None:
        answer = _Answer("text/plain; charset=utf-8", _encoded(text))
        self._send(status, answer, headers or {})

    def _send(
        self,
        status: HTTPStatus,
        answer: _Answer,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        own = {"Content-Type": answer.kind, "Content-Length": str(len(answer.body))}
        for name, value in {**_HEADERS, **own, **(headers or {})}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: object) -> None:
        """Say nothing: the terminal is the person's."""
