"""Writes traces of what library calls do to mutexes and memory."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from vestige.components.sources.ctf_fs import CtfFsSource

from .ctf_writer import Event, Packet, metadata_head, write_trace

__all__ = ["Call", "write_resources"]

MEMORY, MUTEX = "lttng_ust_libc:", "lttng_ust_pthread:pthread_mutex_"
FIELDS = {
    f"{MEMORY}malloc": ("size", "ptr"),
    f"{MEMORY}calloc": ("nmemb", "size", "ptr"),
    f"{MEMORY}realloc": ("in_ptr", "size", "ptr"),
    f"{MEMORY}free": ("ptr",),
    f"{MEMORY}memalign": ("alignment", "size", "ptr"),
    f"{MEMORY}posix_memalign": ("out_ptr", "alignment", "size", "result"),
    f"{MUTEX}lock_req": ("mutex",),
    f"{MUTEX}lock_acq": ("mutex", "status"),
    f"{MUTEX}trylock": ("mutex", "status"),
    f"{MUTEX}unlock": ("mutex", "status"),
}
"""Members of the payload of each event."""

Call = tuple[int, int, str, tuple[int, ...]]
"""Time, thread ID, the last part of the event's name, and its fields."""


def write_resources(
    directory: Path, calls: Iterable[Call], pid: int = 7
) -> CtfFsSource:
    """Write a trace of a process, with a data stream for each thread; open it.

    Args:
        directory: Where.
        calls: What the threads do.
        pid: The process.
    """
    head = metadata_head(packet="int32_t vpid; int32_t vtid;")
    for index, (name, members) in enumerate(FIELDS.items()):
        fields = " ".join(f"uint64_t {member};" for member in members)
        head += (
            f'event {{ id = {index}; stream_id = 0; name = "{name}"; '
            f"fields := struct {{ {fields} }}; }};\n"
        )
    streams: dict[int, list[Event]] = {}
    ids = {name.replace(MUTEX, MEMORY)[len(MEMORY) :]: name for name in FIELDS}
    for time, thread, short, values in calls:
        index = list(FIELDS).index(ids[short])
        payload = struct.pack(f"<{len(values)}Q", *values)
        streams.setdefault(thread, []).append(Event(time, payload, index))
    files = {
        f"s{thread}": Packet(events, context=struct.pack("<ii", pid, thread)).encode()
        for thread, events in streams.items()
    }
    return CtfFsSource([write_trace(directory, head, files)])
