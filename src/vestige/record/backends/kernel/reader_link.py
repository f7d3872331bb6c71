"""The process that reads, as the one with the rights starts it and talks to it."""

from __future__ import annotations

import json
import os
import select
import signal
import socket

from ...._typing import TYPE_CHECKING
from .process_link import READER_ENDED
from .reader_process import run_reader

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .to_read import TraceToRead

__all__ = ["ReaderGoneError", "ReaderLink"]


LONGEST_END = 60.0
"""Seconds in which it ends once nobody tells it anything: by then all was written."""
LONGEST_KILL = 1.0
"""Seconds in which it ends when it is killed."""


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
        """Let it complete what it writes, and end: what was asked of it is done.

        One that does not end, as on a disk that does not answer, is killed.
        """
        self._answers.close()
        self.control.close()
        if not _has_ended(self.process, LONGEST_END):
            os.kill(self.process, signal.SIGKILL)
            if not _has_ended(self.process, LONGEST_KILL):
                # Not even that ends it while the disk is silent; it is nobody's child
                # once this process has ended.
                return
        os.waitpid(self.process, 0)


def _has_ended(process: int, longest: float) -> bool:
    """Wait until a child has ended, but not for ever.

    Args:
        process: Its ID.
        longest: For how many seconds.
    """
    try:
        handle = os.pidfd_open(process)
    except OSError:
        # Linux before 5.3, or forbidden: nothing tells without waiting for it.
        return True
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(longest * 1000))
    finally:
        os.close(handle)
