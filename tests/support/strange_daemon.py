"""A daemon that answers clients of its socket with whatever a test wants."""

from __future__ import annotations

import os
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["strange_daemon"]


@contextmanager
def strange_daemon(
    folder: Path, say: Callable[[bytes], bytes]
) -> Iterator[dict[str, str]]:
    """Answer lines as a function says; yield the environment of clients."""

    class Handler(socketserver.StreamRequestHandler):
        """Speaks until what it says has no end."""

        def handle(self) -> None:
            with suppress(OSError):
                for line in self.rfile:
                    said = say(line)
                    self.wfile.write(said)
                    if not said.endswith(b"\n"):
                        return

        def finish(self) -> None:
            with suppress(OSError):
                super().finish()

    path = str(folder / "client-vestige-sessiond")
    with socketserver.ThreadingUnixStreamServer(path, Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield {**os.environ, "VESTIGE_RUNDIR": str(folder)}
        finally:
            server.shutdown()
            thread.join()
    Path(path).unlink()
