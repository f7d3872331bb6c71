"""Programs that read memory of calls, as older kernels look at them (Linux 5.10)."""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import NamedTuple

import pytest

from vestige.record.backends.kernel.call_memory import call_memory
from vestige.record.backends.kernel.call_memory_program import MemoryProgram
from vestige.record.backends.kernel.call_numbers import call_number
from vestige.record.backends.kernel.call_programs import entry_program, exit_program
from vestige.record.backends.kernel.programs import (
    CALL,
    IF_MORE_THAN,
    PRINT,
    SET,
    SET_LONG,
)

CALLS = ("connect", "accept", "poll", "select", "epoll_wait", "pipe2")
COMPARES = 0x0D
"""The lowest 4 bits of what goes elsewhere if two registers are so."""


class Step(NamedTuple):
    """An instruction."""

    code: int
    target: int
    source: int
    offset: int
    value: int


@pytest.fixture(params=[(False, False), (False, True), (True, False), (True, True)])
def program(request: pytest.FixtureRequest) -> list[Step]:
    """The program where calls begin, or end; for kernels that print much or little."""
    is_end, is_little = request.param
    read = {
        number: told
        for name in CALLS
        if (number := call_number(name)) is not None
        and (told := call_memory(name, is_end=is_end)) is not None
    }
    memory = MemoryProgram(read, 3, is_end, prints_little=is_little)
    code = exit_program(memory) if is_end else entry_program({}, memory)
    return [
        Step(code, pair & 15, pair >> 4, offset, value)
        for code, pair, offset, value in struct.iter_unpack("<BBhi", code)
    ]


def test_loops_end_where_a_number_is_more_than_a_known_one(program: list[Step]) -> None:
    """The kernel sees no end where the number that it knows is compared with the other."""
    loops = [one for one in program if one.code & 15 == COMPARES and one.offset < 0]

    assert [one.code for one in loops] == [IF_MORE_THAN] * 2
    for one in loops:
        counted = [at for at in program if at.code == SET and at.target == one.source]
        assert 0 in {at.value for at in counted}


def test_a_text_to_print_has_one_zero_at_its_end(program: list[Step]) -> None:
    """The kernel prints nothing if there are more."""
    place = program.index(Step(CALL, 0, 0, 0, PRINT))
    length = next(
        one.value
        for one in reversed(program[:place])
        if (one.code, one.target) == (SET, 2)
    )
    longs = [
        struct.pack("<ii", low.value, high.value)
        for low, high in pairwise(program)
        if low.code == SET_LONG
    ]
    begin = longs.index(b"vestige:")
    text = (longs[begin] + longs[begin + 1])[:length]

    assert text == b"vestige:b%pks\0"
