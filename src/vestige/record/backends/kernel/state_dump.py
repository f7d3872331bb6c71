"""The state that there is when a recording begins: processes and the machine.

It is read from ``/proc`` and ``/sys``. What has ended meanwhile is left out, and what
nobody can know is left out, too: a table of files has no address here, so the ID of its
process stands for it. Fields and their values are those of LTTng 2.13
(``lttng-statedump``).
"""

from __future__ import annotations

import os
import re
import struct
from contextlib import suppress
from functools import cache

from ...._typing import TYPE_CHECKING
from . import machine_dump, namespace_dump
from .event_classes import integer, text_of
from .machine_dump import machine_records
from .namespace_dump import Namespaces
from .proc_files import read_file, terminated, words_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["CLASSES", "StateDump"]

_SIGNED = integer(4, is_signed=True)
_UNSIGNED = integer(4)
_LONG = integer(8)
_ADDRESS = integer(8, base=16)
_PREFIX = "lttng_statedump_"

CLASSES: dict[str, str] = {
    f"{_PREFIX}{name}": fields
    for name, fields in {
        "start": "",
        "end": "",
        "process_state": "".join(
            (
                f"{_SIGNED} _tid; {_SIGNED} _pid; {_SIGNED} _ppid; ",
                f"{text_of(16).format('_name')} {_SIGNED} _type; {_SIGNED} _mode; ",
                f"{_SIGNED} _submode; {_SIGNED} _status; {_UNSIGNED} _cpu; ",
                f"{_ADDRESS} _file_table_address;",
            )
        ),
        **namespace_dump.CLASSES,
        # Readers of traces before 2.13 want the process as well.
        "file_descriptor": f"{_ADDRESS} _file_table_address; {_SIGNED} _fd; "
        f"{integer(4, base=8)} _flags; {integer(4, base=16)} _fmode; "
        f"string _filename; {_SIGNED} _pid;",
        "vm_map": f"{_SIGNED} _pid; {_ADDRESS} _start; {_ADDRESS} _end; "
        f"{_ADDRESS} _flags; {_LONG} _inode; {_LONG} _pgoff;",
        **machine_dump.CLASSES,
    }.items()
}
"""Names of the events, and their fields."""

_NUMBERS = {name: number for number, name in enumerate(CLASSES)}
_STATUS = {b"R": 2, b"S": 5, b"D": 5, b"I": 5, b"Z": 4, b"X": 7}
"""LTTng's numbers: it waits for a CPU or has one, waits, is a zombie, is dead; others
are 0, which has no name."""
_USER_THREAD, _KERNEL_THREAD = 0, 1
_MODE_UNKNOWN, _NO_SUBMODE = 5, 0
_NOBODY = 0
"""The parent of who has none here."""
_IS_KERNEL_THREAD = 0x200000
"""The flag ``PF_KTHREAD`` (Linux, ``include/linux/sched.h``)."""
_PATH_ONLY, _MODE_PATH = os.O_PATH, 0x4000
_MAP = re.compile(rb"^(\w+)-(\w+) (\S+) (\w+) \S+ (\d+)", re.MULTILINE)
_PIECE = 1000
"""Records that are passed on together, more or less."""
_PLACES = struct.Struct("<QQQQQ")


class StateDump:
    """Reads the state.

    Args:
        now: Gives the present value of the recording's clock.
        first: The ID of the first of :data:`CLASSES` in the trace.
        ids: In a PID namespace, the IDs that the kernel has for threads; others are
            left out. Levels of namespaces count from this one.
    """

    def __init__(
        self,
        now: Callable[[], int],
        first: int,
        ids: Mapping[int, int] | None = None,
    ) -> None:
        self._now, self._ids = now, ids
        self._first = first
        self._spaces = Namespaces()
        self._context = struct.pack("<i", os.getpid())
        self._kernel_threads: dict[bytes, int] = {}
        self.groups: dict[int, int] = {}
        """The process of each thread."""
        self.records: list[tuple[int, int, bytes]] = []
        """Value of the clock, class, context and fields."""

    def read(self) -> None:
        """Read all of it."""
        for _ in self.pieces():
            pass

    def pieces(self) -> Iterator[int]:
        """Read it piece by piece; the processes of all threads are in the first one.

        Readers learn of a thread's process by its state. Threads go on meanwhile, so
        all states come first, and what takes longer comes then.

        Yields:
            The value of the clock up to which all records are there, or were taken.
        """
        self._put("start", b"")
        threads = list(self._read_threads())
        yield self._now()
        for process, thread, parent in threads:
            with suppress(OSError, LookupError, ValueError):
                place = f"/proc/{process}/task/{thread}"
                known = self._id(thread)
                for name, fields in self._spaces.records(place, known, parent):
                    self._put(name, fields)
            yield from self._piece()
        for process in dict.fromkeys(one for one, _, _ in threads):
            # It may have ended, or be a thread of the kernel.
            with suppress(OSError, LookupError):
                yield from self._read_files(process)
                self._read_maps(process)
            yield from self._piece()
        for name, fields in machine_records(self._kernel_threads):
            self._put(name, fields)
        self._put("end", b"")
        yield self._now()

    def _piece(self) -> Iterator[int]:
        """Yield once if there is enough."""
        if len(self.records) >= _PIECE:
            yield self._now()

    def take(self) -> list[tuple[int, int, bytes]]:
        """Return the records that came since the last call."""
        records, self.records = self.records, []
        return records

    def _put(self, name: str, body: bytes) -> None:
        number = self._first + _NUMBERS[_PREFIX + name]
        self.records.append((self._now(), number, self._context + body))

    def _read_threads(self) -> Iterator[tuple[int, int, int]]:
        """Yield process, thread and parent of each thread, of which a record is put."""
        for process in sorted(int(one) for one in os.listdir("/proc") if one.isdigit()):
            with suppress(OSError):
                for thread in sorted(map(int, os.listdir(f"/proc/{process}/task"))):
                    # It may have ended.
                    with suppress(OSError, LookupError, ValueError):
                        yield process, thread, self._read_thread(process, thread)

    def _id(self, thread: int) -> int:
        """Return the ID that the kernel has for a thread, or a process.

        Raises:
            LookupError: Nobody knows it.
        """
        return thread if self._ids is None else self._ids[thread]

    def _read_thread(self, process: int, thread: int) -> int:
        """Put the state of a thread; return its parent."""
        known, group = self._id(thread), self._id(process)
        line = read_file(f"/proc/{process}/task/{thread}/stat", is_small=True)
        name = line[line.index(b"(") + 1 : line.rindex(b")")]
        words = line[line.rindex(b")") + 2 :].split()
        parent = int(words[1])
        self.groups[known] = group
        kind = _USER_THREAD
        if int(words[6]) & _IS_KERNEL_THREAD:
            kind = _KERNEL_THREAD
            self._kernel_threads[name] = known
        above = parent if self._ids is None else self._ids.get(parent, _NOBODY)
        body = struct.pack(
            "<iii16siiiiIQ",
            *(known, group, above, name[:15], kind, _MODE_UNKNOWN, _NO_SUBMODE),
            *(_STATUS.get(words[0], 0), int(words[36]), group),
        )
        self._put("process_state", body)
        return parent

    def _read_files(self, process: int) -> Iterator[int]:
        """Read which files a process has open; it may have a million."""
        place = f"/proc/{process}"
        known = self._id(process)
        for number in sorted(map(int, os.listdir(f"{place}/fd"))):
            with suppress(OSError, IndexError, ValueError):
                self._read_file(place, known, number)
            yield from self._piece()

    def _read_file(self, place: str, process: int, number: int) -> None:
        name = os.readlink(os.fsencode(f"{place}/fd/{number}"))
        info = read_file(f"{place}/fdinfo/{number}", is_small=True)
        flags = int(words_after(b"flags:", info)[0], 8)
        # The kernel's bits: read is 1, write is 2.
        mode = _MODE_PATH if flags & _PATH_ONLY else (flags & os.O_ACCMODE) + 1
        fields = struct.pack("<QiII", process, number, flags, mode)
        fields += terminated(name) + struct.pack("<i", process)
        self._put("file_descriptor", fields)

    def _read_maps(self, process: int) -> None:
        """Read what a process has mapped; the lowest bits of its flags are known."""
        found = _MAP.findall(read_file(f"/proc/{process}/maps"))
        number = self._first + _NUMBERS[f"{_PREFIX}vm_map"]
        known = struct.pack("<i", self._id(process))
        now, context = self._now(), self._context + known
        # There are many: they have one time.
        self.records += [
            (
                now,
                number,
                context
                + _PLACES.pack(
                    *(int(begin, 16), int(end, 16), _permissions(allowed)),
                    *(int(inode), int(offset, 16)),
                ),
            )
            for begin, end, allowed, offset, inode in found
        ]


@cache
def _permissions(letters: bytes) -> int:
    """Return the kernel's bits of letters such as ``r-xp``."""
    return sum(1 << place for place, letter in enumerate(letters) if letter in b"rwxs")
