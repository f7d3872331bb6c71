"""The part of a program of the kernel (BPF) that reads texts of system calls.

What an argument leads to, it writes by ``bpf_trace_printk``: see :mod:`.call_programs`.
"""

from __future__ import annotations

import struct

from ...._typing import TYPE_CHECKING
from .programs import (
    ADD,
    CALL,
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
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .programs import Assembly

__all__ = ["add_texts"]

_REGISTERS = (112, 104, 96, 56, 72, 64)
"""Where ``pt_regs`` has the arguments of a call: di, si, dx, r10, r8, r9."""
_REGS, _LENGTH = 6, 8
_ARGUMENT, _FORMAT, _COPY = -8, -24, -472
"""Places on the stack."""
_FORMAT_BYTES = 16
_PIECE_BYTES, _PIECES = 63, 7
"""What older kernels print of a text at once, and how many of these the stack has."""


def add_texts(
    made: Assembly, calls: Mapping[int, Sequence[int]], *, in_pieces: bool = False
) -> dict[int, str]:
    """Add what tells texts.

    Args:
        made: A program with the registers of a call in its register 6.
        calls: By the number of a call, which of its arguments lead to texts.
        in_pieces: Whether what is longer than older kernels print at once is told in
            several records.

    Returns:
        By the numbers, the places to which they lead.
    """
    places: dict[int, str] = {}
    tell = _tell_in_pieces if in_pieces else _tell
    for arguments in sorted({tuple(one) for one in calls.values()}):
        place = f"texts {arguments}"
        made.mark(place)
        for one in enumerate(arguments):
            made.add_all(tell(*one))
        made.add_all(done())
        places |= {key: place for key, one in calls.items() if tuple(one) == arguments}
    return places


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
