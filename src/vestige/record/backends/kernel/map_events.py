"""What the kernel tells of the memory of processes: its events of performance counters.

A counter that counts nothing tells what is mapped, and of processes and threads that
begin or execute a program (perf_event_open(2): ``PERF_RECORD_MMAP2``, ``COMM``,
``FORK``), and how much of that had no room (``LOST``). The process with the rights
opens it on each CPU; the one that reads maps its memory. So also processes are known
that have ended since.
"""

from __future__ import annotations

import errno
import mmap
import os
import struct
from contextlib import suppress

from ...._typing import TYPE_CHECKING, NamedTuple
from ..._kernel import open_map_events

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Began", "Executed", "MapEvents", "Mapped", "Told", "open_all"]

_BYTES = 1 << 17
"""Of the memory of a CPU, without its first page: the kernel lets a user have 516 KiB
(``perf_event_mlock_kb``)."""
_HEAD, _TAIL = 1024 // 8, 1032 // 8
"""Words of the first page: up to where there is something, and from where."""
_HEADER = struct.Struct("<IHH")
_LOST, _COMM, _FORK, _MMAP2 = 2, 3, 7, 10
_IS_EXEC, _HAS_BUILD_ID = 1 << 13, 1 << 14
_IDS = struct.Struct("<II")
_FORKED = struct.Struct("<IIIIQ")
_PLACE = struct.Struct("<IIQQQ")
_NAME_AT = 64
_TIME = struct.Struct("<Q")
_COUNT = struct.Struct("<8xQ")
_BUILD_ID_AT = 32
_MOST_ID = 20


class Began(NamedTuple):
    """A process or a thread began."""

    time: int
    """``CLOCK_MONOTONIC``, nanoseconds."""
    process: int
    parent: int
    """The process that made it; that itself, if it is a thread of it."""
    thread: int


class Executed(NamedTuple):
    """A process executes a program: nothing of before is mapped."""

    time: int
    process: int
    thread: int


class Mapped(NamedTuple):
    """A part of a file is mapped."""

    time: int
    process: int
    begin: int
    size: int
    offset: int
    path: bytes
    build_id: bytes
    """Empty: nobody knows it."""


Told = Began | Executed | Mapped


def open_all(cpus: Iterable[int]) -> list[int]:
    """Let the kernel tell, on some CPUs.

    Args:
        cpus: The CPUs.

    Returns:
        Descriptors; none, where the kernel does not.
    """
    opened: list[int] = []
    try:
        for cpu in cpus:
            try:
                opened.append(open_map_events(cpu, _BYTES // 4))
            except OSError as error:
                # One that is switched off has no events.
                if error.errno != errno.ENODEV:
                    raise
    except OSError:
        for one in opened:
            os.close(one)
        return []
    return opened


class MapEvents:
    """Reads what the kernel tells.

    Args:
        files: The descriptors of all CPUs.
    """

    def __init__(self, files: Sequence[int]) -> None:
        self._rings: list[_Ring] = []
        self._held: list[Told] = []
        # Where another program has all memory that the kernel gives, nobody tells.
        with suppress(OSError, ValueError):
            self._rings = [_Ring(one) for one in files]

    @property
    def lost(self) -> int:
        """How much the kernel could not tell, since there was no room."""
        return sum(one.lost for one in self._rings)

    def read(self, until: int | None) -> list[Told]:
        """Return what came, by its time.

        Args:
            until: Up to when all is there: the time before this call.
                ``None``: nothing more comes.
        """
        self._held += [one for ring in self._rings for one in ring.read()]
        self._held.sort(key=lambda one: one.time)
        ends = (at for at, one in enumerate(self._held) if until and one.time > until)
        count = next(ends, len(self._held))
        done, self._held = self._held[:count], self._held[count:]
        return done


class _Ring:
    """The memory of a CPU."""

    def __init__(self, file: int) -> None:
        page = mmap.PAGESIZE
        self.lost = 0
        self._memory = mmap.mmap(file, page + _BYTES)
        self._words = memoryview(self._memory)[:page].cast("Q")
        self._data = memoryview(self._memory)[page:]

    def read(self) -> Iterator[Told]:
        head, tail = self._words[_HEAD], self._words[_TAIL]
        data = self._part(tail, head - tail)
        at = 0
        while at + _HEADER.size <= len(data):
            kind, facts, size = _HEADER.unpack_from(data, at)
            if size < _HEADER.size:
                break
            body = data[at + _HEADER.size : at + size]
            with suppress(struct.error):
                if kind == _LOST:
                    self.lost += _COUNT.unpack_from(body)[0]
                elif (one := _event(kind, facts, body)) is not None:
                    yield one
            at += size
        self._words[_TAIL] = head

    def _part(self, begin: int, size: int) -> bytes:
        begin %= _BYTES
        first = bytes(self._data[begin : begin + size])
        return first + bytes(self._data[: size - len(first)])


def _event(kind: int, facts: int, body: bytes) -> Told | None:
    if kind == _FORK:
        process, parent, thread, _, time = _FORKED.unpack_from(body)
        return Began(time, process, parent, thread)
    (time,) = _TIME.unpack(body[-_TIME.size :])
    if kind == _COMM and facts & _IS_EXEC:
        return Executed(time, *_IDS.unpack_from(body))
    if kind == _MMAP2:
        process, _, begin, size, offset = _PLACE.unpack_from(body)
        path = body[_NAME_AT : -_TIME.size].split(b"\0", 1)[0]
        build_id = b""
        if facts & _HAS_BUILD_ID:
            count = min(body[_BUILD_ID_AT], _MOST_ID)
            build_id = body[_BUILD_ID_AT + 4 : _BUILD_ID_AT + 4 + count]
        return Mapped(time, process, begin, size, offset, path, build_id)
    return None
