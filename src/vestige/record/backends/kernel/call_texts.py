"""Texts of system calls where the kernel's events have none: a program reads them.

The program (BPF) runs at the entry of each system call, before the call's event. What
an argument leads to, it writes by ``bpf_trace_printk``, which is an event itself: so
it stands in the pages of the same CPU, on the same clock, right before the call. It is
loaded once for the calls that are recorded, and gone with its descriptor.
"""

from __future__ import annotations

import fcntl
import os
import platform
import re
import struct
import time
from typing import TYPE_CHECKING

from ..._kernel import attach_to_system_calls
from .system_calls import ENTRY, has_unread_texts, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .formats import EventFormat
    from .tracefs import Tracefs

__all__ = ["TEXT_EVENT", "CallTexts", "joined_at", "program"]

TEXT_EVENT = ("bpf_trace", "bpf_trace_printk")
"""The event that has the texts."""
_SETTING = "events/bpf_trace/bpf_trace_printk/enable"
_LOOKS, _QUIET, _PAUSE = 500, 20, 0.0005
"""How often one looks at most whether the kernel has done so, how often in a row once
it has, and the seconds between."""
_MACHINE = "x86_64"
"""The only one whose registers and numbers of calls are known here."""
_REGISTERS = (112, 104, 96, 56, 72, 64)
"""Where ``pt_regs`` has the arguments of a call: di, si, dx, r10, r8, r9."""
_FIRST_ARGUMENT, _ARGUMENT_BYTES = 16, 8
"""Where the events of calls have theirs."""
_WORD = 4

_CALLS = (
    "open=2 newstat=4 newlstat=6 access=21 execve=59 truncate=76 chdir=80 "
    "rename=82 mkdir=83 rmdir=84 creat=85 link=86 unlink=87 symlink=88 "
    "readlink=89 chmod=90 chown=92 lchown=94 utime=132 mknod=133 statfs=137 "
    "pivot_root=155 chroot=161 acct=163 mount=165 umount=166 swapon=167 "
    "swapoff=168 sethostname=170 setdomainname=171 init_module=175 "
    "delete_module=176 setxattr=188 lsetxattr=189 fsetxattr=190 getxattr=191 "
    "lgetxattr=192 fgetxattr=193 listxattr=194 llistxattr=195 removexattr=197 "
    "lremovexattr=198 fremovexattr=199 utimes=235 mq_open=240 mq_unlink=241 "
    "add_key=248 request_key=249 inotify_add_watch=254 openat=257 mkdirat=258 "
    "mknodat=259 fchownat=260 futimesat=261 newfstatat=262 unlinkat=263 "
    "renameat=264 linkat=265 symlinkat=266 readlinkat=267 fchmodat=268 "
    "faccessat=269 utimensat=280 fanotify_mark=301 name_to_handle_at=303 "
    "renameat2=316 memfd_create=319 execveat=322 statx=332 open_tree=428 "
    "move_mount=429 fsopen=430 fspick=433 openat2=437 faccessat2=439 "
    "mount_setattr=442 fchmodat2=452 setxattrat=463 getxattrat=464 "
    "listxattrat=465 removexattrat=466 open_tree_attr=467 file_getattr=468 "
    "file_setattr=469 "
)
"""Numbers of calls (Linux, ``arch/x86/entry/syscalls/syscall_64.tbl``)."""
_NUMBERS = {
    name: int(number)
    for name, _, number in (one.partition("=") for one in _CALLS.split())
}


class CallTexts:
    """Lets the kernel tell texts of system calls.

    Args:
        tracefs: Where its events are.
    """

    def __init__(self, tracefs: Tracefs) -> None:
        self._tracefs = tracefs
        self._calls: dict[int, tuple[int, ...]] = {}
        self._running: int | None = None
        self._has_failed = platform.machine() != _MACHINE

    @property
    def is_running(self) -> bool:
        """Whether texts are told."""
        return self._running is not None

    def tell(self, events: Iterable[EventFormat]) -> bool:
        """Let the texts of further calls be told, before their events are switched on.

        Args:
            events: The events that are wanted.

        Returns:
            Whether it was not yet so for one of them.
        """
        before = len(self._calls)
        for event in events:
            number = _NUMBERS.get(event.name.removeprefix(ENTRY))
            if number is not None and has_unread_texts(event):
                self._calls[number] = tuple(
                    (field.at - _FIRST_ARGUMENT) // _ARGUMENT_BYTES
                    for field, _ in texts(event)
                )
        if self._has_failed or len(self._calls) == before:
            return False
        try:
            new = self._load()
        except OSError:
            self.close()
            self._has_failed = True
            return False
        self.close()
        self._running = new
        return True

    def _load(self) -> int:
        """Load the program, and leave the kernel's setting as it is.

        To load one switches the event on for everybody. Of two who do so at a time, the
        second one would take the first one's setting for that of others.
        """
        lock = self._tracefs.open("instances", os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            is_off = self._is_off()
            made = program(self._calls, in_pieces=_prints_little())
            running = attach_to_system_calls(made)
            if is_off:
                self._switch_off()
            return running
        finally:
            os.close(lock)

    def _is_off(self) -> bool:
        return self._tracefs.read(_SETTING).strip() == "0"

    def _switch_off(self) -> None:
        """Switch the event off for everybody, once the kernel has switched it on.

        Newer kernels do so a little later and in a thread of their own, maybe more
        than once for a program.
        """
        quiet, was_on = 0, False
        for _ in range(_LOOKS):
            if not self._is_off():
                self._tracefs.write(_SETTING, 0)
                quiet, was_on = 0, True
            quiet += 1
            if was_on and quiet > _QUIET:
                return
            time.sleep(_PAUSE)

    def has(self, event: EventFormat) -> bool:
        """Tell whether the texts of an event are told."""
        return (
            self.is_running
            and has_unread_texts(event)
            and _NUMBERS.get(event.name.removeprefix(ENTRY)) in self._calls
        )

    def close(self) -> None:
        """Let nothing be told any more."""
        if self._running is not None:
            os.close(self._running)
            self._running = None


def joined_at(event: EventFormat) -> int:
    """Return where words that lead to texts are put: behind the kernel's own fields."""
    end = max(field.at + field.bytes for field in event.fields)
    return -(-end // _WORD) * _WORD


# Numbers of instructions, registers and functions: Linux, include/uapi/linux/bpf.h.
_MOVE, _SET, _ADD, _LOAD, _STORE = 0xBF, 0xB7, 0x07, 0x79, 0x7B
_SET_LONG, _IF_SAME, _IF_OTHER, _CALL, _END = 0x18, 0x15, 0x55, 0x85, 0x95
_INSTRUCTION_BYTES = 8
_IF_AT_MOST = 0xD5
_READ_KERNEL, _READ_TEXT, _PRINT = 113, 114, 6
_REGS, _NUMBER, _LENGTH, _STACK = 6, 7, 8, 10
_ARGUMENT, _FORMAT, _COPY = -8, -24, -472
"""Places on the stack."""
_FORMAT_BYTES = 16
_PIECE_BYTES, _PIECES = 63, 7
"""What older kernels print of a text at once, and how many of these the stack has."""


def _prints_little() -> bool:
    """Tell whether the kernel cuts texts that programs print at 63 bytes.

    Linux does so before 5.13 (``bpf_trace_printk``).
    """
    version = re.match(r"(\d+)\.(\d+)", platform.release())
    return version is not None and (int(version[1]), int(version[2])) < (5, 13)


def program(calls: Mapping[int, Sequence[int]], *, in_pieces: bool = False) -> bytes:
    """Return the program that tells texts.

    Args:
        calls: By the number of a call, which of its arguments lead to texts.
        in_pieces: Whether what is longer than older kernels print at once is told in
            several records.

    Returns:
        Its instructions, for a raw tracepoint ``sys_enter``.
    """
    by_arguments: dict[tuple[int, ...], list[int]] = {}
    for number, arguments in sorted(calls.items()):
        by_arguments.setdefault(tuple(arguments), []).append(number)
    parts = [
        _instruction(_LOAD, _REGS, 1, 0) + _instruction(_LOAD, _NUMBER, 1, 8),
    ]
    for arguments, numbers in by_arguments.items():
        tell = _tell_in_pieces if in_pieces else _tell
        body = b"".join(tell(*one) for one in enumerate(arguments)) + _done()
        parts.append(_choice(numbers, body))
    return b"".join((*parts, _done()))


def _choice(numbers: Sequence[int], body: bytes) -> bytes:
    """Return what runs a body for some numbers of calls."""
    *others, last = numbers
    jumps = [
        _instruction(_IF_SAME, _NUMBER, 0, len(others) - place, number)
        for place, number in enumerate(others)
    ]
    over = len(body) // _INSTRUCTION_BYTES
    jumps.append(_instruction(_IF_OTHER, _NUMBER, 0, over, last))
    return b"".join(jumps) + body


def _tell(number: int, argument: int) -> bytes:
    """Return what writes the text to which an argument leads."""
    place = _instruction(_LOAD, 3, _STACK, _ARGUMENT)
    return _read(argument) + place + _print(f"vestige: {number} %pus")


def _tell_in_pieces(number: int, argument: int) -> bytes:
    """Return what copies a text to the stack and writes it piece by piece."""
    parts = [
        _read(argument),
        _instruction(_MOVE, 1, _STACK) + _instruction(_ADD, 1, value=_COPY),
        _instruction(_SET, 2, value=_PIECES * _PIECE_BYTES + 1),
        _instruction(_LOAD, 3, _STACK, _ARGUMENT),
        _instruction(_CALL, value=_READ_TEXT),
        _instruction(_MOVE, _LENGTH, 0),
    ]
    for piece in range(_PIECES):
        place = _COPY + piece * _PIECE_BYTES
        mark = "+" if piece else " "
        body = (
            _instruction(_MOVE, 3, _STACK)
            + _instruction(_ADD, 3, value=place)
            + _print(f"vestige: {number}{mark}%pks")
        )
        if piece:
            # The length has the byte behind the text; an error is less than none.
            over, most = len(body) // _INSTRUCTION_BYTES, piece * _PIECE_BYTES + 1
            parts.append(_instruction(_IF_AT_MOST, _LENGTH, 0, over, most))
        parts.append(body)
    return b"".join(parts)


def _read(argument: int) -> bytes:
    """Return what puts an argument on the stack."""
    return b"".join(
        (
            _instruction(_MOVE, 1, _STACK) + _instruction(_ADD, 1, value=_ARGUMENT),
            _instruction(_SET, 2, value=8),
            _instruction(_MOVE, 3, _REGS),
            _instruction(_ADD, 3, value=_REGISTERS[argument]),
            _instruction(_CALL, value=_READ_KERNEL),
        )
    )


def _print(text: str) -> bytes:
    """Return what prints by a format, with the third register as what it shows."""
    first, second = struct.unpack("<QQ", text.encode().ljust(_FORMAT_BYTES, b"\0"))
    return b"".join(
        (
            _long(1, first) + _instruction(_STORE, _STACK, 1, _FORMAT),
            _long(1, second) + _instruction(_STORE, _STACK, 1, _FORMAT + 8),
            _instruction(_MOVE, 1, _STACK) + _instruction(_ADD, 1, value=_FORMAT),
            _instruction(_SET, 2, value=_FORMAT_BYTES),
            _instruction(_CALL, value=_PRINT),
        )
    )


def _done() -> bytes:
    return _instruction(_SET, 0, value=0) + _instruction(_END)


def _instruction(
    code: int, target: int = 0, source: int = 0, offset: int = 0, value: int = 0
) -> bytes:
    return struct.pack("<BBhi", code, target | source << 4, offset, value)


def _long(target: int, value: int) -> bytes:
    """Return what sets a register to 8 bytes, which takes two instructions."""
    low, high = struct.unpack("<ii", struct.pack("<Q", value))
    return _instruction(_SET_LONG, target, value=low) + _instruction(0, value=high)
