"""The names of data stream files."""

from __future__ import annotations

from ..._agreement import LOST_STREAM, OPEN_SUFFIX, RING_PREFIX

__all__ = ["is_stream_file"]

CPU_PREFIX = "channel0_"
"""Of the file of a CPU, whose number follows: as LTTng calls it."""


def is_stream_file(name: str) -> bool:
    r"""Tell whether a name is that of a data stream file.

    It is ``PROCESS-THREAD`` or ``channel0_CPU``, perhaps with ``.NUMBER`` and a mark or
    the number of a file after it, or one that the collector gives. A program may write
    files of its own into the directory.

    Args:
        name: The name of a file in the directory of a trace.

    Returns:
        Whether the collector made it, by its name.
    """
    if name == LOST_STREAM:
        return True
    if name.startswith(RING_PREFIX):
        return name.removeprefix(RING_PREFIX).isdecimal()
    if name.startswith(CPU_PREFIX):
        name = f"0-{name.removeprefix(CPU_PREFIX)}"
    process, _, rest = name.removesuffix(OPEN_SUFFIX).partition("-")
    first, line, number = rest.rpartition("_")
    if line and number.isdecimal():
        rest = first
    rest, mark, text = rest.partition("@")
    if mark and (name.endswith(OPEN_SUFFIX) or not text.replace("_", "0").isalnum()):
        return False
    thread, dot, number = rest.partition(".")
    numbers = [process, thread, number] if dot else [process, thread]
    return all(one.isdecimal() for one in numbers)
