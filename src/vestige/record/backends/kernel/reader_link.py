"""The process that reads, as the one with the rights starts it and talks to it."""

from __future__ import annotations

import json
import os
import socket

from ...._typing import TYPE_CHECKING
from .process_link import READER_ENDED
from .reader_process import run_reader

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .to_read import TraceToRead

__all__ = ["ReaderGoneError", "ReaderLink"]


class ReaderGoneError(Exception):
    """The process that reads has ended, or cannot do what it is told."""


class ReaderLink:
    """Starts the process, which has the files of this one that it needs.

    Args:
        trace: What it reads.
        now: Gives the present value of the clock.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, trace: TraceToRead, now: Callable[[], int]) -> None:
        mine, theirs = socket.socketpair()
        try:
            self.process = os.fork()
            """Its ID."""
            if self.process == 0:
                run_reader(trace, theirs, now)
        except OSError:
            mine.close()
            raise
        finally:
            theirs.close()
        self.control = mine
        """What can be read, though nothing was asked, once it has ended."""
        self._answers = mine.makefile("rb")

    def ask(self, order: str, **facts: Any) -> Any:
        """Tell it what to do, and wait until it is done.

        Args:
            order: What, see :mod:`.reader_process`.
            facts: What belongs to it.

        Returns:
            What it says.

        Raises:
            ReaderGoneError: It has ended, or cannot do it.
        """
        try:
            self.control.sendall(json.dumps({"do": order, **facts}).encode() + b"\n")
            line = self._answers.readline()
        except OSError:
            line = b""
        is_whole = line.endswith(b"\n")
        answer = json.loads(line) if is_whole else {"failed": READER_ENDED}
        if "failed" in answer:
            raise ReaderGoneError(answer["failed"])
        return answer["done"]

    def close(self) -> None:
        """Let it complete what it writes, and end."""
        self._answers.close()
        self.control.close()
        os.waitpid(self.process, 0)
