"""System calls as the kernel describes them, and whether it tells what these lead to."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import vestige
from support.kernel_fixtures import format_text, write_trace
from support.kernel_tracer import page
from vestige.record.backends.kernel.call_programs import CallPrograms
from vestige.record.backends.kernel.formats import EventFormat, read_format
from vestige.record.backends.kernel.tracefs import Tracefs

__all__ = ["call", "read_back", "texts_told"]

_NUMBER = ("int __syscall_nr", 8, 4, 1)


def call(name: str, *arguments: str) -> EventFormat:
    """Return the kernel's event of a call: declarations of 8 bytes each."""
    fields = [(text, 16 + 8 * place, 8, 0) for place, text in enumerate(arguments)]
    return read_format("syscalls", name, format_text(7, _NUMBER, *fields))


def read_back(tmp_path: Path, event: EventFormat, *arguments: int) -> dict[str, Any]:
    """Return the fields of one event of a call, as a reader shows them."""
    record = struct.pack("<HBBii4x", 7, 0, 0, 1, 0)
    record += b"".join(one.to_bytes(8, "little") for one in arguments)
    write_trace(tmp_path, [event], [page(2000, [(1, record)])])
    [found] = vestige.open(tmp_path)
    return dict(found.payload)


def texts_told() -> bool:
    """Tell whether this kernel takes programs that tell texts."""
    tracefs = Tracefs()
    try:
        made = CallPrograms(tracefs)
        made.tell([call("sys_enter_openat", "int dfd", "const char * filename")])
        is_running = made.is_running
        made.close()
    finally:
        tracefs.close()
    return is_running
