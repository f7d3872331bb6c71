"""Texts of system calls where the kernel's events have none: a program reads them.

The program (BPF) runs at the entry of each system call, before the call's event. What
an argument leads to, it writes by ``bpf_trace_printk``, which is an event itself: so
it stands in the pages of the same CPU, on the same clock, right before the call. It is
loaded once for the calls that are recorded, and gone with its descriptor.
"""

from __future__ import annotations

import os
import platform
import re
import struct
from typing import TYPE_CHECKING

from ..._kernel import attach_program
from .call_numbers import KNOWN_MACHINE, call_number
from .programs import (
    ADD,
    CALL,
    IF_OTHER,
    IF_SAME,
    IF_SIGNED_AT_MOST,
    INSTRUCTION_BYTES,
    LOAD,
    MOVE,
    PRINT,
    READ_KERNEL,
    READ_TEXT,
    SET,
    STACK,
    STORE,
    done,
    instruction,
    long_value,
    setting_kept,
)
from .system_calls import ENTRY, has_unread_texts, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .formats import EventFormat
    from .tracefs import Tracefs

__all__ = ["CallTexts", "joined_at", "program"]

_REGISTERS = (112, 104, 96, 56, 72, 64)
"""Where ``pt_regs`` has the arguments of a call: di, si, dx, r10, r8, r9."""
_FIRST_ARGUMENT, _ARGUMENT_BYTES = 16, 8
"""Where the events of calls have theirs."""
_WORD = 4


class CallTexts:
    """Lets the kernel tell texts of system calls.

    Args:
        tracefs: Where its events are.
    """

    def __init__(self, tracefs: Tracefs) -> None:
        self._tracefs = tracefs
        self._calls: dict[int, tuple[int, ...]] = {}
        self._running: int | None = None
        self._has_failed = platform.machine() != KNOWN_MACHINE

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
            number = call_number(event.name.removeprefix(ENTRY))
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
        made = program(self._calls, in_pieces=_prints_little())
        with setting_kept(self._tracefs):
            return attach_program(made, "sys_enter")

    def has(self, event: EventFormat) -> bool:
        """Tell whether the texts of an event are told."""
        return (
            self.is_running
            and has_unread_texts(event)
            and call_number(event.name.removeprefix(ENTRY)) in self._calls
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


_REGS, _NUMBER, _LENGTH = 6, 7, 8
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
        instruction(LOAD, _REGS, 1, 0) + instruction(LOAD, _NUMBER, 1, 8),
    ]
    for arguments, numbers in by_arguments.items():
        tell = _tell_in_pieces if in_pieces else _tell
        body = b"".join(tell(*one) for one in enumerate(arguments)) + done()
        parts.append(_choice(numbers, body))
    return b"".join((*parts, done()))


def _choice(numbers: Sequence[int], body: bytes) -> bytes:
    """Return what runs a body for some numbers of calls."""
    *others, last = numbers
    jumps = [
        instruction(IF_SAME, _NUMBER, 0, len(others) - place, number)
        for place, number in enumerate(others)
    ]
    over = len(body) // INSTRUCTION_BYTES
    jumps.append(instruction(IF_OTHER, _NUMBER, 0, over, last))
    return b"".join(jumps) + body


def _tell(number: int, argument: int) -> bytes:
    """Return what writes the text to which an argument leads."""
    place = instruction(LOAD, 3, STACK, _ARGUMENT)
    return _read(argument) + place + _print(f"vestige: {number} %pus")


def _tell_in_pieces(number: int, argument: int) -> bytes:
    """Return what copies a text to the stack and writes it piece by piece."""
    parts = [
        _read(argument),
        instruction(MOVE, 1, STACK) + instruction(ADD, 1, value=_COPY),
        instruction(SET, 2, value=_PIECES * _PIECE_BYTES + 1),
        instruction(LOAD, 3, STACK, _ARGUMENT),
        instruction(CALL, value=READ_TEXT),
        instruction(MOVE, _LENGTH, 0),
    ]
    for piece in range(_PIECES):
        place = _COPY + piece * _PIECE_BYTES
        mark = "+" if piece else " "
        body = (
            instruction(MOVE, 3, STACK)
            + instruction(ADD, 3, value=place)
            + _print(f"vestige: {number}{mark}%pks")
        )
        if piece:
            # The length has the byte behind the text; an error is less than none.
            over, most = len(body) // INSTRUCTION_BYTES, piece * _PIECE_BYTES + 1
            parts.append(instruction(IF_SIGNED_AT_MOST, _LENGTH, 0, over, most))
        parts.append(body)
    return b"".join(parts)


def _read(argument: int) -> bytes:
    """Return what puts an argument on the stack."""
    return b"".join(
        (
            instruction(MOVE, 1, STACK) + instruction(ADD, 1, value=_ARGUMENT),
            instruction(SET, 2, value=8),
            instruction(MOVE, 3, _REGS),
            instruction(ADD, 3, value=_REGISTERS[argument]),
            instruction(CALL, value=READ_KERNEL),
        )
    )


def _print(text: str) -> bytes:
    """Return what prints by a format, with the third register as what it shows."""
    first, second = struct.unpack("<QQ", text.encode().ljust(_FORMAT_BYTES, b"\0"))
    return b"".join(
        (
            long_value(1, first) + instruction(STORE, STACK, 1, _FORMAT),
            long_value(1, second) + instruction(STORE, STACK, 1, _FORMAT + 8),
            instruction(MOVE, 1, STACK) + instruction(ADD, 1, value=_FORMAT),
            instruction(SET, 2, value=_FORMAT_BYTES),
            instruction(CALL, value=PRINT),
        )
    )
