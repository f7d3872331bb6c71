"""The names of data stream files."""

from __future__ import annotations

from ..._agreement import LOST_STREAM, OPEN_SUFFIX, RING_PREFIX

__all__ = ["is_stream_file"]

CHANNEL = "channel0"
"""What the files of CPUs are called where there is no other name: as LTTng does."""


def is_stream_file(name: str, channel: str = CHANNEL) -> bool:
    r"""Tell whether a name is that of a data stream file.

    It is ``PROCESS-THREAD`` or ``CHANNEL_CPU``, perhaps with ``.NUMBER`` and a mark or
    the number of a file after it, or one that the collector gives. A program may write
    files of its own into the directory.

    Args:
        name: The name of a file in the directory of a trace.
        channel: What the files of CPUs are called before their number.

    Returns:
        Whether the collector made it, by its name.
    """
    if name == LOST_STREAM:
        return True
    if name.startswith(RING_PREFIX):
        return name.removeprefix(RING_PREFIX).isdecimal()
    if name.startswith(f"{channel}_"):
        name = f"0-{name.removeprefix(f'{channel}_')}"
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
