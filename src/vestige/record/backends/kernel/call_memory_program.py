"""The part of a program of the kernel (BPF) that reads memory of system calls.

What it reads, it writes by ``bpf_trace_printk``. Since that ends at a zero, 7 bytes are
written as 8 characters of 7 bits each, with the highest bit of each set; what is longer
than is printed at once goes on in further records (``memory.rs``).
"""

from __future__ import annotations

from ...._typing import TYPE_CHECKING, NamedTuple
from . import programs as code
from .call_memory import RESULT
from .programs import STACK, long_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .call_memory import CallMemory, Length, Part
    from .programs import Assembly

__all__ = [
    "REGISTERS",
    "WORK_BYTES",
    "MemoryProgram",
    "add_memory",
    "read_number",
]

WORK_BYTES = 9728
"""Of the memory in which it works."""
_WRITTEN = 4608
"""Where what is written begins there, behind what was read."""
_HEAD, _CALL, _ARGUMENT, _EXCEEDS = 17, 6, 8, 16
"""What stands before the parts: their lengths, which call, an argument, whether there
was more."""
_END_AT = WORK_BYTES - 8
"""Where it is put down in between how much was read."""
_IS_END = 0x1000
_BYTES, _CHARACTERS = 7, 8
_GROUPS, _GROUPS_LITTLE = 63, 7
"""Groups of characters that are printed at once, and on older kernels."""
_MOST_LITTLE = 64
"""Elements that are read there: what is long takes them many records."""

_RESULT, _LENGTH, _NUMBER, _WORK, _END = 6, 7, 7, 8, 9
"""Registers: what the call returns; a length, the number of the call before that; the
memory in which it works; how much of it is read."""
_KEY, _FORMAT = -80, -96
"""Places on the stack."""
_FORMAT_BYTES = len("vestige:b%pks") + 1
"""With one zero: before Linux 5.13, no other byte may be one."""
_PLACES = (-8, -16, -24, -64, -48, -56)
"""Where arguments are there: di, si, dx, r10, r8, r9 of ``pt_regs``, from r10 on."""
REGISTERS, _COPIED_FROM, _COPIED_BYTES = 8, 56, 64
"""The register with the place of ``pt_regs``, and what is copied of these."""
_NUMBER_FROM, _NUMBER_AT, _WORD = 120, -8, 8
"""Where ``pt_regs`` has the number of the call (``orig_ax``), and the stack."""


class MemoryProgram(NamedTuple):
    """How memory is read."""

    calls: Mapping[int, CallMemory]
    """By the numbers of calls."""

    work: int
    """The descriptor of memory in which programs work."""

    is_end: bool
    """Whether where calls end."""

    prints_little: bool = False
    """Whether the kernel prints 63 bytes at once."""


def add_memory(made: Assembly, wanted: MemoryProgram) -> dict[int, str]:
    """Add what reads and writes memory.

    Args:
        made: A program with the number of the call in register 7, the place of the
            call's registers in register 8, and in register 6 what it returns, where it
            ends.
        wanted: How.

    Returns:
        By the numbers, the places to which they lead.
    """
    if not wanted.calls:
        return {}
    places: dict[int, str] = {}
    for memory in dict.fromkeys(wanted.calls.values()):
        numbers = [key for key, one in wanted.calls.items() if one == memory]
        place = f"memory {numbers[0]}"
        made.mark(place)
        _read_call(made, place, memory, wanted)
        made.jump("memory", code.JUMP)
        places |= dict.fromkeys(numbers, place)
    made.mark("memory")
    most = max(map(_most_read, wanted.calls.values()))
    made.add(code.STORE, _WORK, _END, _END_AT)
    _forget_end(made, most)
    _encode(made)
    _forget_end(made, most)
    _print(made, _GROUPS_LITTLE if wanted.prints_little else _GROUPS)
    made.add_all(code.done())
    return places


def _most_read(memory: CallMemory) -> int:
    """Return how many bytes are read of a call at most, with what stands before."""
    return _HEAD + sum(_most_bytes(part.length) for part in memory.parts)


def _most_bytes(length: Length) -> int:
    if length.kind == "bits":
        return -(-length.most // 8)
    return length.most * length.unit


def _forget_end(made: Assembly, most: int) -> None:
    """Add what lets the kernel know no more of the end than that it is not above.

    What is in that memory, it does not follow. Else it would go through the loop that
    comes anew for each end that there may be, when it looks at a program before it runs
    (Linux, ``kernel/bpf/verifier.c``).
    """
    made.add(code.LOAD, _END, _WORK, _END_AT)
    made.jump("end", code.IF_MORE, _END, value=most)


def read_number(made: Assembly) -> None:
    """Add what puts the number of a call that ends into register 7.

    Args:
        made: A program with the place of the call's registers in its register 8.
    """
    made.add(code.MOVE, 1, STACK)
    made.add(code.ADD, 1, value=_NUMBER_AT)
    made.add(code.SET, 2, value=_WORD)
    made.add(code.MOVE, 3, REGISTERS)
    made.add(code.ADD, 3, value=_NUMBER_FROM)
    made.add(code.CALL, value=code.READ_KERNEL)
    made.add(code.LOAD, _NUMBER, STACK, _NUMBER_AT)


def _copy_registers(made: Assembly) -> None:
    """Add what copies the registers of a call to the stack."""
    made.add(code.MOVE, 1, STACK)
    made.add(code.ADD, 1, value=-_COPIED_BYTES)
    made.add(code.SET, 2, value=_COPIED_BYTES)
    made.add(code.MOVE, 3, REGISTERS)
    made.add(code.ADD, 3, value=_COPIED_FROM)
    made.add(code.CALL, value=code.READ_KERNEL)


def _read_call(
    made: Assembly, place: str, memory: CallMemory, wanted: MemoryProgram
) -> None:
    if memory.when == "succeeded":
        made.jump("end", code.IF_SIGNED_LESS, _RESULT, value=0)
    elif memory.when == "found":
        made.jump("end", code.IF_SIGNED_AT_MOST, _RESULT, value=0)
    _copy_registers(made)
    if memory.needed is not None:
        made.add(code.LOAD, 1, STACK, _PLACES[memory.needed])
        made.jump("end", code.IF_SAME, 1, value=0)
    _begin(made, memory, wanted)
    read = f"{place} read"
    if memory.when == "found or told":
        made.jump(read, code.IF_SIGNED_AT_MOST, _RESULT, value=0)
    if memory.most_found is not None:
        made.add(code.LOAD_WORD, 1, STACK, _PLACES[memory.most_found])
        made.jump(read, code.IF_MORE_THAN, _RESULT, 1)
    for number, part in enumerate(memory.parts):
        _set_length(made, f"{place} {number}", part.length, wanted)
        _read_part(made, place, number, part)
    made.mark(read)


def _begin(made: Assembly, memory: CallMemory, wanted: MemoryProgram) -> None:
    """Find the memory in which it works, and write what stands before the parts."""
    made.add(code.SET_WORD_AT, STACK, offset=_KEY)
    made.add_all(long_value(1, wanted.work, is_array=True))
    made.add(code.MOVE, 2, STACK)
    made.add(code.ADD, 2, value=_KEY)
    made.add(code.CALL, value=code.LOOK_UP)
    made.jump("end", code.IF_SAME, 0, value=0)
    made.add(code.MOVE, _WORK, 0)
    made.add(code.SET_LONG_AT, _WORK)
    made.add(code.SET_LONG_AT, _WORK, offset=_ARGUMENT)
    made.add(code.SET_BYTE, _WORK, offset=_EXCEEDS)
    if wanted.is_end:
        made.add(code.OR, _NUMBER, value=_IS_END)
    made.add(code.STORE_SHORT, _WORK, _NUMBER, _CALL)
    if memory.argument is not None:
        made.add(code.LOAD, 1, STACK, _PLACES[memory.argument])
        made.add(code.STORE, _WORK, 1, _ARGUMENT)
    made.add(code.SET, _END, value=_HEAD)


def _set_length(
    made: Assembly, place: str, length: Length, wanted: MemoryProgram
) -> None:
    fits = f"{place} fits"
    if length.kind == "fixed":
        made.add(code.SET, _LENGTH, value=length.most)
        return
    if length.kind == "told":
        made.add(code.LOAD_WORD, _LENGTH, _WORK, _HEAD)
    elif length.argument == RESULT:
        made.add(code.MOVE, _LENGTH, _RESULT)
    else:
        made.add(code.LOAD_WORD, _LENGTH, STACK, _PLACES[length.argument])
    most = length.most
    if wanted.prints_little and length.unit > 1:
        most = min(most, _MOST_LITTLE)
    made.jump(fits, code.IF_NOT_MORE, _LENGTH, value=most)
    if length.kind == "bits":
        made.add(code.SET, _LENGTH)
    else:
        made.add(code.SET, _LENGTH, value=most)
    if length.unit > 1:
        made.add(code.SET_BYTE, _WORK, offset=_EXCEEDS, value=1)
    made.mark(fits)
    if length.unit > 1:
        made.add(code.MULTIPLY, _LENGTH, value=length.unit)
    if length.kind == "bits":
        made.add(code.ADD, _LENGTH, value=7)
        made.add(code.SHIFT, _LENGTH, value=3)


def _read_part(made: Assembly, place: str, number: int, part: Part) -> None:
    """Read so many bytes of the program's memory behind what was read; or none.

    Of several sets, none is told if one cannot be read.
    """
    is_set = part.length.kind == "bits"
    is_there, is_read = f"{place} {number} is there", f"{place} {number} is read"
    made.add(code.LOAD, 3, STACK, _PLACES[part.pointer])
    if is_set:
        made.jump(is_there, code.IF_OTHER, 3, value=0)
        made.add(code.SET, _LENGTH)
        made.mark(is_there)
    made.add(code.MOVE, 1, _WORK)
    made.add(code.ADD_OTHER, 1, _END)
    made.add(code.MOVE, 2, _LENGTH)
    made.add(code.CALL, value=code.READ_PROGRAM)
    made.jump(is_read, code.IF_SAME, 0, value=0)
    if is_set:
        made.add(code.SET_WORD_AT, _WORK)
        made.add(code.SET_SHORT_AT, _WORK, offset=4)
        made.add(code.SET, _END, value=_HEAD)
        made.jump(f"{place} read", code.JUMP)
    else:
        made.add(code.SET, _LENGTH)
    made.mark(is_read)
    made.add(code.STORE_SHORT, _WORK, _LENGTH, number * 2)
    made.add(code.ADD_OTHER, _END, _LENGTH)


def _encode(made: Assembly) -> None:
    """Write 8 characters for 7 bytes, with a zero at the end."""
    read, written, done, bits, part, wide, narrow = 3, 4, 1, 0, 2, 6, 7
    made.add_all(long_value(wide, 0x0FFFC0000FFFC000))
    made.add_all(long_value(narrow, 0x3F803F803F803F80))
    made.add_all(long_value(5, 0x8080808080808080))
    made.add(code.MOVE, read, _WORK)
    made.add(code.MOVE, written, _WORK)
    made.add(code.ADD, written, value=_WRITTEN)
    made.add(code.SET, done)
    made.mark("encode")
    made.add(code.LOAD, bits, read)
    # 56 bits become 2 times 28 in 32 bits each, then 4 times 14, then 8 times 7.
    made.add(code.MOVE, part, bits)
    made.add(code.SHIFT_UP, part, value=8)
    made.add(code.SHIFT, part, value=36)
    made.add(code.SHIFT_UP, part, value=32)
    made.add(code.AND, bits, value=0x0FFFFFFF)
    made.add(code.OR_OTHER, bits, part)
    made.add(code.MOVE, part, bits)
    made.add(code.AND_OTHER, part, wide)
    made.add(code.ADD_OTHER, bits, part)
    made.add(code.SHIFT_UP, part, value=1)
    made.add(code.ADD_OTHER, bits, part)
    made.add(code.MOVE, part, bits)
    made.add(code.AND_OTHER, part, narrow)
    made.add(code.ADD_OTHER, bits, part)
    made.add(code.OR_OTHER, bits, 5)
    made.add(code.STORE, written, bits)
    made.add(code.ADD, read, value=_BYTES)
    made.add(code.ADD, written, value=_CHARACTERS)
    made.add(code.ADD, done, value=_BYTES)
    # In this order: older kernels see the end of a loop where the number that they know
    # is the second one.
    made.jump("encode", code.IF_MORE_THAN, _END, done)
    made.add(code.SET_BYTE, written)


def _print(made: Assembly, groups: int) -> None:
    """Print what is written, so many groups at once."""
    place, printed, kept = 6, 7, 8
    first = int.from_bytes(b"vestige:", "little")
    begins = int.from_bytes(b"b%pks\0\0\0", "little")
    made.add_all(long_value(1, first))
    made.add(code.STORE, STACK, 1, _FORMAT)
    made.add_all(long_value(1, begins))
    made.add(code.STORE, STACK, 1, _FORMAT + 8)
    made.add(code.MOVE, place, _WORK)
    made.add(code.ADD, place, value=_WRITTEN)
    made.add(code.SET, printed)
    made.mark("print")
    # What follows is cut off meanwhile.
    made.add(code.LOAD_BYTE, kept, place, groups * _CHARACTERS)
    made.add(code.SET_BYTE, place, offset=groups * _CHARACTERS)
    made.add(code.MOVE, 1, STACK)
    made.add(code.ADD, 1, value=_FORMAT)
    made.add(code.SET, 2, value=_FORMAT_BYTES)
    made.add(code.MOVE, 3, place)
    made.add(code.CALL, value=code.PRINT)
    made.add(code.STORE_BYTE, place, kept, groups * _CHARACTERS)
    made.add(code.SET_BYTE, STACK, offset=_FORMAT + 8, value=ord("+"))
    made.add(code.ADD, place, value=groups * _CHARACTERS)
    made.add(code.ADD, printed, value=groups * _BYTES)
    made.jump("print", code.IF_MORE_THAN, _END, printed)
