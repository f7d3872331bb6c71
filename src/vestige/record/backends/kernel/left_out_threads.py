"""The recorder's own threads that a trace of the kernel leaves out, until they end.

Who leaves them out, the kernel or those who collect, is up to each channel: see
:mod:`.own_threads`.
"""

from __future__ import annotations

import os

from ...._typing import TYPE_CHECKING
from .proc_files import is_in_pid_namespace
from .reader_link import ReaderGoneError
from .watched_threads import WatchedThreads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from .channel import Channel
    from .kernel_ids import KernelIds

__all__ = ["LeftOutThreads"]

_WITHOUT_ID = "the kernel's ID of the recorder, in this PID namespace, is unknown"
_PERIOD = 1.0
"""Seconds between two looks whether somebody has the ID of a thread that has ended."""


class LeftOutThreads:
    """Leaves out threads of the recorder, each from the moment at which it is told.

    Args:
        channels: All channels, once they are made.
        ids: Knows the kernel's IDs.
        now: Gives the present value of the clock.
        tell: Tells the process that reads, if it does: see :meth:`.TraceReader.tell`.
    """

    def __init__(
        self,
        channels: Sequence[Channel],
        ids: KernelIds,
        now: Callable[[], int],
        tell: Callable[..., Any],
    ) -> None:
        self._channels, self._ids, self._now, self._tell = channels, ids, now, tell
        self.since: dict[int, int] = {}
        """Those threads, and since when; only what is new matters."""
        self._watched = WatchedThreads()
        self._ended: set[int] = set()
        """Those that have ended, and that the kernel leaves out."""

    @property
    def descriptors(self) -> list[int]:
        """What can be read once one has ended."""
        return self._watched.descriptors

    @property
    def pause(self) -> float | None:
        """Seconds after which one looks in any case; ``None``: there is no need."""
        return _PERIOD if self._ended else self._watched.pause

    def leave_out(self, threads: Sequence[int], *, lasting: Sequence[int] = ()) -> None:
        """Record nothing more of some threads.

        Args:
            threads: Their IDs here.
            lasting: Those of more that do not end before the trace does.

        Raises:
            ReaderGoneError: The process that reads has ended.
            OSError: The kernel refuses what it is told.
        """
        known = self._ids.find([*lasting, *threads])
        self._add(known)
        self._watch(threads)
        for one in self._channels:
            one.leave_out(known)

    def follow(self, thread: int) -> None:
        """Record what a thread starts from now on, and nothing of itself.

        Args:
            thread: Its ID here.

        Raises:
            ReaderGoneError: The process that reads has ended, or the kernel has another
                ID that is not known.
            OSError: The kernel refuses what it is told.
        """
        found = self._ids.find([thread])
        if not found:
            raise ReaderGoneError(_WITHOUT_ID)
        self._add(found)
        self._watch([thread])
        for channel in self._channels:
            channel.follow(found[0])

    def leave_out_of_channels(self, threads: Sequence[int]) -> None:
        """Let the kernel leave out threads that those who collect know already.

        Args:
            threads: Their IDs here.

        Raises:
            OSError: The kernel refuses what it is told.
        """
        known = self._ids.find(threads)
        for one in self._channels:
            # Events that come later may need the kernel to leave them out.
            one.leave_out(known)

    def _add(self, known: Sequence[int]) -> None:
        """Let those who collect leave out threads, by the kernel's IDs."""
        now = self._now()
        self.since |= {one: now for one in known if one not in self.since}
        self._tell("leave_out", left_out=self.since)

    def _watch(self, threads: Sequence[int]) -> None:
        """Watch threads that are left out for their end."""
        known = self._ids.here(threads)
        self._ended -= known.keys()
        self._watched.add(known)

    def forget_ended(self) -> None:
        """Leave out no more threads that have ended: others may get their IDs.

        Raises:
            ReaderGoneError: The process that reads has ended.
            OSError: The kernel refuses what it is told.
        """
        ended = self._watched.ended()
        if ended:
            for one in ended:
                self.since.pop(one, None)
            self._ids.forget(ended)
            self._ended.update(ended)
            self._tell("end_own", threads=ended)
        # Of another namespace nobody knows whether there is somebody with the ID.
        used = {
            one
            for one in self._ended
            if is_in_pid_namespace() or os.path.exists(f"/proc/{one}")
        }
        if ended or used:
            left = [one.forget(self._ended, used) for one in self._channels]
            self._ended = set().union(*left)

    def close(self) -> None:
        """Watch none any more."""
        self._watched.close()
