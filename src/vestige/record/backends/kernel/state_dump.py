"""The state that there is when a recording begins: processes, their files, disks.

It is read from ``/proc``. What has ended meanwhile is left out, and what nobody can
know is left out, too: a thread's table of files has no address here, so the ID of its
process stands for it.
"""

from __future__ import annotations

import os
import re
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

from .event_classes import integer, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CLASSES", "StateDump"]

_SIGNED = integer(4, is_signed=True)
_UNSIGNED = integer(4)
_ADDRESS = integer(8, base=16)

CLASSES: dict[str, str] = {
    "lttng_statedump_start": "",
    "lttng_statedump_end": "",
    "lttng_statedump_process_state": "".join(
        (
            f"{_SIGNED} _tid; {_SIGNED} _pid; {_SIGNED} _ppid; ",
            f"{text_of(16).format('_name')} {_SIGNED} _type; {_SIGNED} _mode; ",
            f"{_SIGNED} _submode; {_SIGNED} _status; {_UNSIGNED} _cpu; ",
            f"{_ADDRESS} _file_table_address;",
        )
    ),
    "lttng_statedump_process_pid_ns": f"{_SIGNED} _tid; {_SIGNED} _vtid; "
    f"{_SIGNED} _vpid; {_SIGNED} _vppid; {_SIGNED} _ns_level; {_UNSIGNED} _ns_inum;",
    # Readers of traces before 2.13 want the process as well.
    "lttng_statedump_file_descriptor": f"{_ADDRESS} _file_table_address; "
    f"{_SIGNED} _fd; {integer(4, base=8)} _flags; {integer(4, base=16)} _fmode; "
    f"string _filename; {_SIGNED} _pid;",
    "lttng_statedump_block_device": f"{_UNSIGNED} _dev; string _diskname;",
}
"""Names of the events, and their fields."""

_NUMBERS = {name: number for number, name in enumerate(CLASSES)}
_STATUS = {"R": 6, "S": 5, "D": 5, "I": 5, "T": 5, "t": 5, "Z": 4, "X": 7}
"""LTTng's numbers: it runs, waits, is a zombie, is dead; 0: nobody knows."""
_USER_THREAD, _KERNEL_THREAD = 0, 1
_IN_SYSTEM_CALL, _IN_KERNEL = 5, 1
_MAJOR = 20
"""Bits of the minor number of a disk."""
_FLAGS = re.compile(r"^flags:\s*([0-7]+)", re.MULTILINE)
_NAMESPACES = re.compile(r"^NSpid:\t([\d\t]+)$", re.MULTILINE)


class StateDump:
    """Reads the state.

    Args:
        now: Gives the present value of the recording's clock.
        first: The ID of the first of :data:`CLASSES` in the trace.
    """

    def __init__(self, now: Callable[[], int], first: int) -> None:
        self._now = now
        self._first = first
        self._inner: dict[int, tuple[int, int]] = {}
        self._context = struct.pack("<i", os.getpid())
        self.groups: dict[int, int] = {}
        """The process of each thread."""
        self.records: list[tuple[int, int, bytes]] = []
        """Value of the clock, class, context and fields."""

    def read(self) -> None:
        """Read all of it."""
        self._put("start", b"")
        for number, name in _disks():
            self._put("block_device", struct.pack("<I", number) + _text(name))
        for process in sorted(int(one) for one in os.listdir("/proc") if one.isdigit()):
            with suppress(OSError, IndexError, ValueError):
                self._read_process(process)
        self._put("end", b"")

    def _put(self, name: str, body: bytes) -> None:
        number = self._first + _NUMBERS[f"lttng_statedump_{name}"]
        self.records.append((self._now(), number, self._context + body))

    def _read_process(self, process: int) -> None:
        place = f"/proc/{process}"
        kind = _USER_THREAD if _has_memory(place) else _KERNEL_THREAD
        for thread in sorted(map(int, os.listdir(f"{place}/task"))):
            # It may have ended.
            with suppress(OSError, IndexError, ValueError):
                self._read_thread(f"{place}/task/{thread}", thread, process, kind)
        if kind == _USER_THREAD:
            for number in sorted(map(int, os.listdir(f"{place}/fd"))):
                with suppress(OSError, ValueError):
                    self._read_file(place, process, number)

    def _read_thread(self, place: str, thread: int, process: int, kind: int) -> None:
        line = _read(f"{place}/stat")
        name = line[line.index(b"(") + 1 : line.rindex(b")")]
        words = line[line.rindex(b")") + 2 :].split()
        parent = int(words[1])
        self.groups[thread] = process
        mode = _IN_KERNEL if kind == _KERNEL_THREAD else _IN_SYSTEM_CALL
        body = struct.pack(
            "<iii16siiiiIQ",
            *(thread, process, parent, name[:15], kind, mode, 0),
            *(_STATUS.get(words[0].decode(), 0), int(words[36]), process),
        )
        self._put("process_state", body)
        found = _NAMESPACES.search(_read(f"{place}/status").decode(errors="replace"))
        if found is None:
            return
        numbers = [int(one) for one in found[1].split()]
        space = os.stat(f"{place}/ns/pid").st_ino & 0xFFFFFFFF
        if thread == process:
            self._inner[process] = (numbers[-1], space)
        inner = self._inner.get(process, (numbers[-1], space))[0]
        above = self._inner.get(parent, (0, 0))
        # A parent in another namespace has no ID in this one.
        of_parent = above[0] if above[1] == space else 0
        level = len(numbers) - 1
        fields = (thread, numbers[-1], inner, of_parent, level, space)
        self._put("process_pid_ns", struct.pack("<iiiiiI", *fields))

    def _read_file(self, place: str, process: int, number: int) -> None:
        name = os.readlink(os.fsencode(f"{place}/fd/{number}"))
        found = _FLAGS.search(_read(f"{place}/fdinfo/{number}").decode())
        flags = int(found[1], 8) if found else 0
        # The kernel's bits: read is 1, write is 2.
        mode = (flags & os.O_ACCMODE) + 1
        fields = struct.pack("<QiII", process, number, flags, mode)
        self._put("file_descriptor", fields + _text(name) + struct.pack("<i", process))


def _has_memory(place: str) -> bool:
    """Tell whether a process has memory of its own: threads of the kernel do not."""
    words = _read(f"{place}/statm").split()
    return bool(words) and words[0] != b"0"


def _disks() -> Iterator[tuple[int, bytes]]:
    """Yield the numbers of disks, as the kernel has them, and their names."""
    with suppress(OSError):
        for line in _read("/proc/partitions").splitlines()[2:]:
            words = line.split()
            if len(words) == 4:  # noqa: PLR2004 - see proc_partitions(5)
                yield int(words[0]) << _MAJOR | int(words[1]), words[3]


def _text(value: bytes) -> bytes:
    return value.replace(b"\0", b"") + b"\0"


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
