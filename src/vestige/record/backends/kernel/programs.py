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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .tracefs import Tracefs

__all__ = ["TEXT_EVENT", "done", "instruction", "long_value", "setting_kept"]

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
READ_KERNEL, READ_TEXT, PRINT, THIS_CPU, READ_COUNTER = 113, 114, 6, 8, 22
STACK = 10
"""The register with the end of the stack."""
INSTRUCTION_BYTES = 8
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
        yield
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
