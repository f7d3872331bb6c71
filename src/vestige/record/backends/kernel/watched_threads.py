"""The recorder's own threads, watched for their end: others may get their IDs then.

A descriptor of each says so at once (``PIDFD_THREAD``, Linux 6.9). An older kernel
makes none of threads, so these are looked at now and then, with the time at which they
were started: pidfd_open(2), proc_pid_stat(5).
"""

from __future__ import annotations

import os
import select

from ...._suppress import suppress
from ...._typing import TYPE_CHECKING
from .proc_files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["WatchedThreads"]

_OF_THREAD = os.O_EXCL
"""``PIDFD_THREAD`` (Linux, ``include/uapi/linux/pidfd.h``)."""
_LOOKS = 1.0
"""Seconds between two looks where nothing tells of itself."""
_STARTED = 19
"""The place of the start time behind the name, in words."""


class WatchedThreads:
    """Threads that have not ended, as far as is known, by their IDs for the kernel."""

    def __init__(self) -> None:
        self._descriptors: dict[int, int] = {}
        """By descriptor: the thread."""
        self._looked_at: dict[int, tuple[int, bytes]] = {}
        """Those without one: their IDs here, and when they were started."""

    def add(self, threads: Mapping[int, int]) -> None:
        """Watch some threads.

        Args:
            threads: The kernel's IDs and those that they have here.
        """
        known = {*self._descriptors.values(), *self._looked_at}
        for thread, here in threads.items():
            if thread in known:
                continue
            try:
                self._descriptors[os.pidfd_open(here, _OF_THREAD)] = thread
            except (AttributeError, OSError):
                # Python may lack it. It has ended, or cannot be watched so.
                self._looked_at[thread] = here, _started(here)

    @property
    def descriptors(self) -> list[int]:
        """What can be read once a thread has ended."""
        return [*self._descriptors]

    @property
    def pause(self) -> float | None:
        """Seconds after which one has to look again; ``None``: one is told."""
        return _LOOKS if self._looked_at else None

    def ended(self) -> list[int]:
        """Return the threads that have ended since the last call."""
        ended = []
        for descriptor in _readable(self._descriptors):
            os.close(descriptor)
            ended.append(self._descriptors.pop(descriptor))
        for thread, (here, started) in [*self._looked_at.items()]:
            if not started or _started(here) != started:
                del self._looked_at[thread]
                ended.append(thread)
        return ended

    def close(self) -> None:
        """Watch none any more."""
        for one in self._descriptors:
            os.close(one)
        self._descriptors.clear()
        self._looked_at.clear()


def _readable(descriptors: Iterable[int]) -> list[int]:
    asked = select.poll()
    for one in descriptors:
        asked.register(one, select.POLLIN)
    return [one for one, _ in asked.poll(0)]


def _started(thread: int) -> bytes:
    """Return when a thread was started, as the kernel says it; nothing: it is gone."""
    with suppress(OSError, IndexError):
        line = read_file(f"/proc/{thread}/stat", is_small=True)
        return line[line.rindex(b")") + 2 :].split()[_STARTED]
    return b""
