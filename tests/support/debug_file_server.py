"""Servers of debug files on this machine: the real one, and some that misbehave."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from .ports import free_ports

__all__ = ["DEBUGINFOD", "Answer", "debuginfod", "server"]

DEBUGINFOD = shutil.which("debuginfod")

Answer = Callable[[BaseHTTPRequestHandler], None]
"""Answers a request."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients that give up are part of the tests."""


@contextmanager
def server(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """Run a server in this process.

    Args:
        answer: Answers each request.

    Yields:
        Its address, and the paths that it was asked for.
    """
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    running = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_port}", paths
    finally:
        running.shutdown()
        running.server_close()


@contextmanager
def debuginfod(directory: Path, build_id: str) -> Iterator[str]:
    """Run the server of elfutils.

    Args:
        directory: The debug files that it offers.
        build_id: That of one of them; the server is ready when it has it.

    Yields:
        Its address.
    """
    [port] = free_ports(1)
    command = ["-d", ":memory:", "-F", "-p", str(port), "-t", "0", str(directory)]
    running = subprocess.Popen(
        [str(DEBUGINFOD), *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port, f"/buildid/{build_id}/debuginfo")
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait(60)


def _wait_for(port: int, path: str) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("GET", path)
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        finally:
            connection.close()
        time.sleep(0.05)
    raise TimeoutError("debuginfod did not index its directory")
