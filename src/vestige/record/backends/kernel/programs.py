"""Programs for the kernel itself (BPF): their instructions, and what they write.

They tell what they see by ``bpf_trace_printk``, which is an event itself: so it stands
in the pages of the same CPU, on the same clock, right before the event at which they
run. Functions at a tracepoint are called in the order in which they were put there, so
a program must be there before its event is switched on in an instance.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from contextlib import contextmanager

from ...._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .tracefs import Tracefs

__all__ = [
    "TEXT_EVENT",
    "Assembly",
    "choose_call",
    "done",
    "instruction",
    "long_value",
    "setting_kept",
]

TEXT_EVENT = ("bpf_trace", "bpf_trace_printk")
"""The event that has what programs write."""
_SETTING = "events/bpf_trace/bpf_trace_printk/enable"
_LOOKS, _QUIET, _PAUSE = 500, 20, 0.0005
"""How often one looks at most whether the kernel has changed the setting, how often in
a row once it has, and the seconds between."""

# Numbers of instructions, registers and functions: Linux, include/uapi/linux/bpf.h.
MOVE, SET, ADD, LOAD, STORE = 0xBF, 0xB7, 0x07, 0x79, 0x7B
SET_LONG, IF_SAME, IF_OTHER, CALL, END = 0x18, 0x15, 0x55, 0x85, 0x95
IF_NOT_MORE, IF_SIGNED_AT_MOST = 0xB5, 0xD5
SHIFT, SHIFT_BY, AND, STORE_BYTE, SET_BYTE = 0x77, 0x7F, 0x57, 0x73, 0x72
ADD_OTHER, OR, OR_OTHER, AND_OTHER, MULTIPLY = 0x0F, 0x47, 0x4F, 0x5F, 0x27
SHIFT_UP, LOAD_WORD, LOAD_BYTE, STORE_SHORT = 0x67, 0x61, 0x71, 0x6B
SET_SHORT_AT, SET_WORD_AT, SET_LONG_AT = 0x6A, 0x62, 0x7A
JUMP, IF_MORE, IF_MORE_THAN = 0x05, 0x25, 0x2D
IF_SIGNED_LESS = 0xC5
LOOK_UP, READ_PROGRAM = 1, 112
READ_KERNEL, READ_TEXT, PRINT, THIS_CPU, READ_COUNTER = 113, 114, 6, 8, 22
STACK = 10
"""The register with the end of the stack."""
INSTRUCTION_BYTES = 8
_FEW_CALLS = 3
"""Numbers that are compared one after the other."""
_ARRAY = 1
"""The source of a long value that is an array: its descriptor (BPF_PSEUDO_MAP_FD)."""


def instruction(
    code: int, target: int = 0, source: int = 0, offset: int = 0, value: int = 0
) -> bytes:
    """Return an instruction, see bpf(2).

    Args:
        code: What it does.
        target: The register that it changes.
        source: The one that it reads.
        offset: Of memory, or how many instructions are left out.
        value: A number of 4 bytes.
    """
    return struct.pack("<BBhi", code, target | source << 4, offset, value)


def long_value(target: int, value: int, *, is_array: bool = False) -> bytes:
    """Return what sets a register to 8 bytes, which takes two instructions.

    Args:
        target: The register.
        value: The bytes as a number.
        is_array: Whether that is the descriptor of an array, and the register gets it.
    """
    low, high = struct.unpack("<ii", struct.pack("<Q", value))
    source = _ARRAY if is_array else 0
    first = instruction(SET_LONG, target, source, value=low)
    return first + instruction(0, value=high)


class Assembly:
    """Instructions whose jumps lead to places that have names."""

    def __init__(self) -> None:
        self._code: list[bytes] = []
        self._jumps: list[tuple[int, str]] = []
        self._places: dict[str, int] = {}
        self._length = 0

    def add(
        self,
        code: int,
        target: int = 0,
        source: int = 0,
        offset: int = 0,
        value: int = 0,
    ) -> None:
        """Add an instruction: see :func:`instruction`."""
        self.add_all(instruction(code, target, source, offset, value))

    def add_all(self, code: bytes) -> None:
        """Add instructions that are made already."""
        self._code.append(code)
        self._length += len(code) // INSTRUCTION_BYTES

    def jump(
        self, to: str, code: int, target: int = 0, source: int = 0, value: int = 0
    ) -> None:
        """Add one that leads to a place.

        Args:
            to: Its name.
            code: On what condition.
            target: The register that is looked at.
            source: The one with which it is compared.
            value: The number with which it is.
        """
        self._jumps.append((len(self._code), to))
        self.add(code, target, source, self._length + 1, value)

    def mark(self, name: str) -> None:
        """Give a name to the place of the next instruction."""
        self._places[name] = self._length

    def code(self) -> bytes:
        """Return all of them."""
        made = [*self._code]
        for number, to in self._jumps:
            kind, registers, after, value = struct.unpack("<BBhi", made[number])
            over = self._places[to] - after
            made[number] = struct.pack("<BBhi", kind, registers, over, value)
        return b"".join(made)


def choose_call(
    made: Assembly, register: int, places: Mapping[int, str], otherwise: str
) -> None:
    """Lead to a place by the number of a call, with few comparisons.

    Args:
        made: Where this is added.
        register: The register with the number.
        places: By the number, where it leads.
        otherwise: Where all others lead.
    """
    _choose(made, register, sorted(places.items()), otherwise)


def _choose(
    made: Assembly, register: int, places: Sequence[tuple[int, str]], otherwise: str
) -> None:
    if len(places) <= _FEW_CALLS:
        for number, to in places:
            made.jump(to, IF_SAME, register, value=number)
        made.jump(otherwise, JUMP)
        return
    middle = len(places) // 2
    above = f"more than {places[middle - 1][0]}"
    made.jump(above, IF_MORE, register, value=places[middle - 1][0])
    _choose(made, register, places[:middle], otherwise)
    made.mark(above)
    _choose(made, register, places[middle:], otherwise)


def done() -> bytes:
    """Return what ends a program."""
    return instruction(SET, 0, value=0) + instruction(END)


@contextmanager
def setting_kept(tracefs: Tracefs) -> Iterator[None]:
    """Leave the kernel's setting of the event as it is while programs are loaded.

    To load one switches the event on for everybody. Of two who do so at a time, the
    second one would take the first one's setting for that of others.

    Args:
        tracefs: Where the event is.
    """
    lock = tracefs.open("instances", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        is_off = _is_off(tracefs)
        try:
            yield
        finally:
            # One of several programs may have been loaded before another was refused.
            if is_off:
                _switch_off(tracefs)
    finally:
        os.close(lock)


def _is_off(tracefs: Tracefs) -> bool:
    return tracefs.read(_SETTING).strip() == "0"


def _switch_off(tracefs: Tracefs) -> None:
    """Switch the event off for everybody, once the kernel has switched it on.

    Newer kernels do so a little later and in a thread of their own, maybe more than
    once for a program.
    """
    quiet, was_on = 0, False
    for _ in range(_LOOKS):
        if not _is_off(tracefs):
            tracefs.write(_SETTING, 0)
            quiet, was_on = 0, True
        quiet += 1
        if was_on and quiet > _QUIET:
            return
        time.sleep(_PAUSE)
