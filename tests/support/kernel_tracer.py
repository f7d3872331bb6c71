"""Whether the kernel can be recorded here, and how tests look at its tracefs."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

from vestige.record.backends.kernel.points import why_not
from vestige.record.backends.kernel.tracefs import Tracefs
from vestige.record.process_stat import stat_words

__all__ = [
    "children_of",
    "instances",
    "instances_of",
    "page",
    "why_no_places",
    "why_not",
]


def why_no_places() -> str | None:
    """Return why this kernel takes no probes in itself; ``None``: it does."""
    if (reason := why_not()) is not None:
        return f"no kernel tracer: {reason}"
    tracefs = Tracefs()
    try:
        is_there = "kprobe_events" in tracefs.names(".")
    finally:
        tracefs.close()
    return None if is_there else "this kernel has no CONFIG_KPROBE_EVENTS"


def instances() -> list[str]:
    """Return the names of the instances that there are."""
    tracefs = Tracefs()
    try:
        return tracefs.names("instances")
    finally:
        tracefs.close()


def instances_of(recorder: int) -> list[str]:
    """Return the instances of processes that a recorder has started."""
    found = [name for name in instances() if name.startswith("vestige-")]
    return [
        name
        for name in found
        if stat_words(int(name.split("-")[1]))[1:2] == [str(recorder)]
    ]


def children_of(process: int) -> list[int]:
    """Return the children of a process."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(one) for one in text.split()]


def page(time: int, records: Sequence[tuple[int, bytes]], lost: int = 0) -> bytes:
    """Make a page of a ring buffer.

    Args:
        time: That of the page.
        records: How much later than the one before, and the bytes: whole words.
        lost: How many event records were lost before it.
    """
    data = b"".join(_record(*one) for one in records)
    told = (1 << 31 | 1 << 30) if lost else 0
    whole = struct.pack("<QQ", time, len(data) | told) + data
    if lost:
        whole += struct.pack("<Q", lost)
    return whole.ljust(4096, b"\0")


def _record(later: int, body: bytes) -> bytes:
    if later >> 27:
        extend = struct.pack("<II", 30 | (later & 0x7FFFFFF) << 5, later >> 27)
        return extend + _record(0, body)
    return struct.pack("<II", later << 5, len(body) + 4) + body
