"""One file from one web server, within limits of time and size.

A request runs in a thread of its own, so that nothing can hold up the caller for longer
than the limit: no slow name server, no header that comes byte by byte. A thread that is
given up ends with its next byte, or with the program.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from http.client import HTTPException, HTTPMessage
from urllib.error import HTTPError, URLError
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from ..._typing import TYPE_CHECKING
from ..._version import __version__
from ..attempt import Outcome, Refusal

if TYPE_CHECKING:
    from typing import IO

__all__ = ["download"]

_BLOCK_SIZE = 1 << 16
_NOT_FOUND = 404
_WAIT_SECONDS = 0.2


def download(
    url: str,
    target: int,
    *,
    seconds: float | None,
    largest: int,
    announce: Callable[[int | None], None],
) -> Refusal | None:
    """Download a file.

    Args:
        url: Its address, of the scheme ``http`` or ``https``.
        target: The descriptor of the file to write to; it is closed at the end.
        seconds: The time that may pass, from name to last byte; ``None`` for any.
        largest: The largest size in bytes; 0 for any.
        announce: Called with the size, if it is known, when a file comes.

    Returns:
        Why there is no file, or ``None`` when it is complete.
    """
    request = _Download(url, target, seconds, largest)
    end = None if seconds is None else time.monotonic() + seconds
    announced = False
    request.start()
    try:
        while True:
            # Asked first: a short file may be there at once, and is announced, too.
            is_alive = request.is_alive()
            if request.has_answer and not announced:
                announced = True
                announce(request.size)
            left = _WAIT_SECONDS if end is None else end - time.monotonic()
            if not is_alive or left <= 0:
                break
            request.join(min(_WAIT_SECONDS, left))
        if is_alive:
            return Refusal(Outcome.FAILED, f"not complete within {seconds:.1f} s")
        return request.refusal
    finally:
        request.is_cancelled = True


class _RefusedError(Exception):
    # What ends a download, with the reason.

    def __init__(self, outcome: Outcome, detail: str = "") -> None:
        super().__init__(detail)
        self.refusal = Refusal(outcome, detail)


class _Redirects(HTTPRedirectHandler):
    # Redirects stay in the web, and a connection that is encrypted stays so.
    max_redirections = 5

    def redirect_request(  # noqa: PLR0913, PLR0917 - as in the base class
        self,
        req: Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> Request | None:
        allowed = ("https:",) if req.type == "https" else ("http:", "https:")
        if not newurl.lower().startswith(allowed):
            detail = f"it redirects to {newurl[:200]!r}"
            raise _RefusedError(Outcome.FAILED, detail)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Download(threading.Thread):
    # A request and its answer.

    def __init__(
        self, url: str, target: int, seconds: float | None, largest: int
    ) -> None:
        super().__init__(name="debuginfod", daemon=True)
        self._url = url
        self._target = target
        self._seconds = seconds
        self._largest = largest
        self.refusal: Refusal | None = None
        self.size: int | None = None
        self.has_answer = False
        self.is_cancelled = False

    def run(self) -> None:
        try:
            self._receive()
        except _RefusedError as refused:
            self.refusal = refused.refusal
        except HTTPError as error:
            missing = error.code == _NOT_FOUND
            self.refusal = (
                Refusal(Outcome.MISSING)
                if missing
                else Refusal(Outcome.FAILED, f"HTTP status {error.code}")
            )
            error.close()
        except URLError as error:
            self.refusal = Refusal(Outcome.FAILED, _reason(error.reason))
        except (OSError, HTTPException, ValueError) as error:
            self.refusal = Refusal(Outcome.FAILED, _reason(error))
        finally:
            os.close(self._target)

    def _receive(self) -> None:
        request = Request(  # noqa: S310 - the caller has checked the scheme
            self._url, headers={"User-Agent": f"vestige/{__version__}"}
        )
        with _opener().open(request, timeout=self._seconds) as answer:
            self.size = _size(answer.headers)
            self._check_size(self.size or 0)
            self.has_answer = True
            received = 0
            while block := answer.read(_BLOCK_SIZE):
                received += len(block)
                self._check_size(received)
                if self.is_cancelled:
                    return
                self._write(block)
        if self.size is not None and received < self.size:
            detail = f"the connection ended after {received:,} of {self.size:,} bytes"
            raise _RefusedError(Outcome.FAILED, detail)

    def _write(self, block: bytes) -> None:
        # Unbuffered: a full disk is met here, not when the file is closed.
        left = memoryview(block)
        try:
            while left:
                left = left[os.write(self._target, left) :]
        except OSError as error:
            detail = f"the cache cannot be written: {_reason(error)}"
            raise _RefusedError(Outcome.UNREADABLE, detail) from None

    def _check_size(self, size: int) -> None:
        if self._largest and size > self._largest:
            detail = f"more than DEBUGINFOD_MAXSIZE ({self._largest:,} bytes)"
            raise _RefusedError(Outcome.TOO_LARGE, detail)


def _opener() -> OpenerDirector:
    # Unlike that of build_opener(), it knows no "file:", "ftp:" or "data:".
    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),
        HTTPHandler(),
        HTTPSHandler(),
        HTTPDefaultErrorHandler(),
        _Redirects(),
        HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _size(headers: HTTPMessage) -> int | None:
    text = headers.get("Content-Length") or ""
    return int(text) if text.isdecimal() else None


def _reason(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    text = getattr(error, "strerror", None) or str(error)
    return text or type(error).__name__
