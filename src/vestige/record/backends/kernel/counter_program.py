"""The program of the kernel (BPF) that reads performance counters at an event."""

from __future__ import annotations

import struct

from ...._typing import NamedTuple
from .programs import (
    ADD,
    AND,
    CALL,
    IF_NOT_MORE,
    IF_OTHER,
    INSTRUCTION_BYTES,
    LOAD,
    MOVE,
    PRINT,
    READ_COUNTER,
    READ_KERNEL,
    SET,
    SET_BYTE,
    SHIFT,
    SHIFT_BY,
    STACK,
    STORE,
    STORE_BYTE,
    THIS_CPU,
    done,
    instruction,
    long_value,
)

__all__ = ["HEAD_BYTES", "MOST_COUNTERS", "CallSet", "counter_program"]

MOST_COUNTERS = 16
"""Counters that an event may have."""
HEAD_BYTES = 16
"""Of what stands before the values."""
_DIGITS, _DIGIT_BITS, _FIRST_DIGIT = 11, 6, 0x30
"""Of a value, the lowest digits first."""
_WORD, _WORD_BITS, _WORDS = 8, 64, 8
_CALL_AT = 120
"""Where ``pt_regs`` has the number of the call (``orig_ax``)."""
_NUMBER_PLACE = -8
"""Where it is put on the stack."""
_CONTEXT, _NUMBER, _CPU, _VALUE, _DIGIT = 6, 7, 8, 0, 1
"""Registers."""


class CallSet(NamedTuple):
    """System calls at which counters are read."""

    numbers: set[int]
    is_entry: bool
    """Whether where they begin; else where they end."""


def counter_program(
    array: int | None,
    counters: int,
    cpus: int,
    head: bytes,
    calls: CallSet | None = None,
) -> bytes:
    """Return the program.

    Args:
        array: The descriptor of an array of counters, those of one kind behind each
            other by CPUs; ``None``: it reads one, and writes nothing.
        counters: How many kinds.
        cpus: How many CPUs.
        head: What is written before the values, 16 bytes.
        calls: At which system calls it does so; ``None``: always.

    Returns:
        Its instructions, for a raw tracepoint.
    """
    if array is None:
        return done()
    parts = [instruction(MOVE, _CONTEXT, 1)]
    if calls is not None:
        parts += [_call_number(is_entry=calls.is_entry), _only(calls.numbers)]
    parts += [instruction(CALL, value=THIS_CPU), instruction(MOVE, _CPU, 0)]
    size = HEAD_BYTES + counters * _DIGITS + 1
    # Memory is set by whole words, from the first one on.
    begin = -(-(-size // _WORD) * _WORD)
    for place in range(counters):
        parts.append(_read(array, place * cpus))
        parts.append(_write_digits(begin + HEAD_BYTES + place * _DIGITS))
    for place, word in enumerate(struct.unpack("<QQ", head)):
        parts.append(long_value(1, word))
        parts.append(instruction(STORE, STACK, 1, begin + place * _WORD))
    parts += [
        instruction(SET_BYTE, STACK, offset=begin + size - 1),
        instruction(MOVE, 1, STACK),
        instruction(ADD, 1, value=begin),
        instruction(SET, 2, value=size),
        instruction(CALL, value=PRINT),
        done(),
    ]
    return b"".join(parts)


def _call_number(*, is_entry: bool) -> bytes:
    """Return what puts the number of the call into its register."""
    if is_entry:
        return instruction(LOAD, _NUMBER, _CONTEXT, 8)
    return b"".join(
        (
            instruction(MOVE, 1, STACK),
            instruction(ADD, 1, value=_NUMBER_PLACE),
            instruction(SET, 2, value=_WORD),
            instruction(LOAD, 3, _CONTEXT),
            instruction(ADD, 3, value=_CALL_AT),
            instruction(CALL, value=READ_KERNEL),
            instruction(LOAD, _NUMBER, STACK, _NUMBER_PLACE),
        )
    )


def _only(numbers: set[int]) -> bytes:
    """Return what ends the program at all other calls.

    Numbers are bits of words; which word it is, is found by comparisons.
    """
    words = [0] * _WORDS
    for number in numbers:
        words[number // _WORD_BITS] |= 1 << number % _WORD_BITS
    parts = []
    for place, word in enumerate(words):
        if word:
            body = long_value(2, word)
            parts.append(instruction(IF_OTHER, 1, offset=2, value=place) + body)
    choose = b"".join(parts)
    after = instruction(MOVE, 1, _NUMBER) + instruction(AND, 1, value=_WORD_BITS - 1)
    test = instruction(SHIFT_BY, 2, 1) + instruction(AND, 2, value=1)
    most, over = _WORDS * _WORD_BITS - 1, len(done()) // INSTRUCTION_BYTES
    return b"".join(
        (
            instruction(IF_NOT_MORE, _NUMBER, offset=over, value=most) + done(),
            instruction(MOVE, 1, _NUMBER) + instruction(SHIFT, 1, value=6),
            instruction(SET, 2, value=0),
            choose,
            after + test,
            instruction(IF_OTHER, 2, offset=over, value=0),
            done(),
        )
    )


def _read(array: int, place: int) -> bytes:
    """Return what reads the counter of this CPU, or an error's number."""
    return b"".join(
        (
            long_value(1, array, is_array=True),
            instruction(MOVE, 2, _CPU),
            instruction(ADD, 2, value=place),
            instruction(CALL, value=READ_COUNTER),
        )
    )


def _write_digits(at: int) -> bytes:
    """Return what writes the value to a place on the stack."""
    parts = []
    for digit in range(_DIGITS):
        parts.append(instruction(MOVE, _DIGIT, _VALUE))
        if digit:
            parts.append(instruction(SHIFT, _DIGIT, value=digit * _DIGIT_BITS))
        parts += [
            instruction(AND, _DIGIT, value=(1 << _DIGIT_BITS) - 1),
            instruction(ADD, _DIGIT, value=_FIRST_DIGIT),
            instruction(STORE_BYTE, STACK, _DIGIT, at + digit),
        ]
    return b"".join(parts)
