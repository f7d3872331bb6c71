"""Crashes of processes that a recorded program has started.

They are nobody's children here, so nobody here is told how they end. A descriptor of a
process says it: pidfd_open(2), and since Linux 6.15 ``PIDFD_GET_INFO``, also when its
parent has waited for it.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import time
from typing import TYPE_CHECKING

from ...._signals import signals
from ...._suppress import suppress
from ...process_stat import stat_words
from .background import maps_memory, recording_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

__all__ = ["CRASH_SIGNALS", "CrashedProcesses"]

CRASH_SIGNALS = frozenset(
    (
        *(signals.SIGABRT, signals.SIGBUS, signals.SIGFPE, signals.SIGILL),
        *(signals.SIGSEGV, signals.SIGSYS, signals.SIGTRAP),
    )
)
"""Those that end a process that has done something wrong."""
STEP = 0.02
"""Seconds between two looks at which processes record."""
PAUSE = 10.0
"""Seconds after a snapshot in which no other is taken: a process that crashes whenever
it is started again would fill the disk."""
ECHO = 1.0
"""Seconds in which a shell ends with the status of what has crashed in it."""
MOST_WATCHED = 512
"""Of the descriptors that the recorder may have."""
PIDFD_INFO = struct.Struct("=2Q11Ii")
"""``struct pidfd_info``: what is wanted, and is there; numbers; how it ended."""
PIDFD_GET_INFO = 0xC000_FF0B | PIDFD_INFO.size << 16
PIDFD_INFO_EXIT = 1 << 3
EXIT_CODE = 49
"""The place of the exit status in stat_words(): field 52 of proc_pid_stat(5)."""


class CrashedProcesses:
    """Watches processes that record, and has a snapshot taken when one crashes.

    Args:
        processes: Returns those that record: their IDs in their own PID namespaces, and
            the inodes of these.
        memory: Returns the inodes of what they have mapped.
        take: Takes a snapshot.
    """

    def __init__(
        self,
        processes: Callable[[], set[tuple[int, int]]],
        memory: Callable[[], Collection[int]],
        take: Callable[[], object],
    ) -> None:
        self._processes, self._memory, self._take = processes, memory, take
        # Who is in another namespace has another ID here.
        self._space = os.stat("/proc/self/ns/pid").st_ino
        self._seen: set[tuple[int, int]] = set()
        self._watched: dict[int, int] = {}
        """Processes, by their descriptors."""
        self._ends = select.epoll()
        self._last = 0
        """The signal that ended the last one of which a snapshot was taken."""
        self._taken_at = -PAUSE
        self._left_out = 0

    @property
    def bell(self) -> tuple[int, Callable[[], None]]:
        """A descriptor, and what is to be done when it is readable."""
        return self._ends.fileno(), self.collect

    @property
    def problems(self) -> list[str]:
        """What was not done."""
        if not self._left_out:
            return []
        before = f"another had one less than {PAUSE:.0f} s before"
        return [f"crashes that have no snapshot, since {before}: {self._left_out}"]

    def ticks(self) -> Iterator[tuple[float, Callable[[int], object]]]:
        """Return when to look while the program runs, without an end."""
        moment = 0.0
        while True:
            moment += STEP
            yield moment, self._look

    def _look(self, program: int) -> None:
        """Watch who records, and was not seen yet; of the program others know."""
        recording = self._processes()
        for process in self._outer_ids(recording - self._seen) - {program}:
            if len(self._watched) < MOST_WATCHED:
                self._watch(process)
        self._seen = recording

    def _outer_ids(self, recording: set[tuple[int, int]]) -> set[int]:
        """Return what processes are called here."""
        here = {one for one in recording if one[1] in {self._space, 0}}
        found = {process for process, _ in here}
        if recording != here:
            # All processes are looked at, once for each that is new.
            found |= recording_processes(recording - here, self._memory())
        return found

    def _watch(self, process: int) -> None:
        if process in self._watched.values():
            return
        try:
            handle = os.pidfd_open(process)
        except OSError:
            return
        # What the memory says of it, a program may have written there.
        if maps_memory(process, self._memory()):
            self._ends.register(handle, select.EPOLLIN)
            self._watched[handle] = process
        else:
            os.close(handle)

    def collect(self) -> None:
        """Look at those that have ended."""
        for handle, events in self._ends.poll(0):
            status = _status(handle)
            if status is None and not events & select.EPOLLHUP:
                status = _status_of_zombie(self._watched[handle]) or _status(handle)
                if status is None and _tells_status(handle):
                    # It tells when its parent has waited for it.
                    self._ends.modify(handle, 0)
                    continue
            process = self._watched.pop(handle)
            self._seen -= {(process, self._space), (process, 0)}
            self._ends.unregister(handle)
            os.close(handle)
            number = 0 if status is None else status & 0x7F
            if number in CRASH_SIGNALS:
                self._note(number)

    def _note(self, number: int) -> None:
        """Take a snapshot, unless another was taken just now."""
        if time.monotonic() < self._taken_at + PAUSE:
            self._left_out += 1
            return
        self._take()
        self._last, self._taken_at = number, time.monotonic()

    def has_told(self, status: int) -> bool:
        """Tell whether an exit status is only that of a process that has crashed.

        Args:
            status: That of the program, which may be a shell.
        """
        is_now = time.monotonic() < self._taken_at + ECHO
        return is_now and status == 128 + self._last

    def close(self) -> None:
        """Watch nothing any more."""
        for handle in self._watched:
            os.close(handle)
        self._watched.clear()
        self._ends.close()


def _info(handle: int) -> tuple[int, ...] | None:
    raw = bytearray(PIDFD_INFO.size)
    PIDFD_INFO.pack_into(raw, 0, PIDFD_INFO_EXIT, *[0] * 13)
    with suppress(OSError):
        fcntl.ioctl(handle, PIDFD_GET_INFO, raw)
        return PIDFD_INFO.unpack(raw)
    return None


def _status(handle: int) -> int | None:
    """Return how a process has ended, as wait(2) has it, once its parent knows."""
    info = _info(handle)
    return info[-1] if info is not None and info[0] & PIDFD_INFO_EXIT else None


def _tells_status(handle: int) -> bool:
    """Tell whether this kernel will know: the process is there, and it has answered."""
    return _info(handle) is not None


def _status_of_zombie(process: int) -> int | None:
    """Return how a process has ended that nobody has waited for; 0: maybe so."""
    words = stat_words(process)
    is_there = len(words) > EXIT_CODE and words[0] == "Z"
    return int(words[EXIT_CODE]) if is_there else None
