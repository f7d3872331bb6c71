"""Traces of pages of the kernel, for which no kernel needs to be there."""

from __future__ import annotations

import gzip
import os
import re
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from vestige.record._kernel import Collector, CpuOutcome
from vestige.record.backends.kernel.event_classes import event_class
from vestige.record.backends.kernel.formats import EventFormat, read_format
from vestige.record.backends.kernel.metadata import (
    FEW,
    ClockFacts,
    DeclaredClass,
    StreamText,
    metadata_text,
)

__all__ = [
    "BEGIN",
    "CPU",
    "END",
    "FIXTURES",
    "format_text",
    "read_fixture",
    "write_trace",
]

FIXTURES = Path(__file__).parents[1] / "data" / "kernel-pages"
"""Pages that real kernels have made, see ``tools/record_kernel_pages.py``."""

UUID = "0d5d1ca2-6b4a-4dd8-9dd0-6b7d0a2e6f11"
CLOCK = ClockFacts("monotonic", "CLOCK_MONOTONIC", UUID, 10**9, 0)
CPU = 5
BEGIN, END = 1000, 1 << 40
"""When the traces begin and end: at the last page, where that begins later."""
COMMON = (
    ("unsigned short common_type", 0, 2, 0),
    ("unsigned char common_flags", 2, 1, 0),
    ("unsigned char common_preempt_count", 3, 1, 0),
    ("int common_pid", 4, 4, 1),
)


def format_text(number: int, *fields: tuple[str, int, int, int]) -> str:
    """Return a file ``format``.

    Args:
        number: The ID of the event.
        fields: Declaration, offset, size and sign of each of its own fields.
    """
    lines = [
        f"\tfield:{text};\toffset:{at};\tsize:{size};\tsigned:{signed};\n"
        for text, at, size, signed in (*COMMON, *fields)
    ]
    return f"ID: {number}\nformat:\n" + "".join(lines)


def read_fixture(base: Path) -> tuple[list[EventFormat], list[bytes], int]:
    """Return the events of a recording of pages, the pages, and the bytes of one.

    Args:
        base: The files of the recording, without what tells them apart.
    """
    text = base.with_name(f"{base.name}.formats").read_text()
    parts = re.split(r"^# (\w+):(\w+)\n", text, flags=re.MULTILINE)[1:]
    formats = [
        read_format(*parts[place : place + 3]) for place in range(0, len(parts), 3)
    ]
    data = gzip.decompress(base.with_name(f"{base.name}.pages.gz").read_bytes())
    size = 65536 if base.name.endswith("64k") else 4096
    pages = [data[begin : begin + size] for begin in range(0, len(data), size)]
    return formats, pages, size


def write_trace(
    directory: Path,
    formats: Sequence[EventFormat],
    pages: Sequence[bytes],
    *,
    page_bytes: int = 4096,
    statistics: str = "",
    own: Sequence[tuple[int, int, bytes]] = (),
    own_classes: Mapping[str, str] | None = None,
) -> CpuOutcome:
    """Write the trace of a CPU.

    Args:
        directory: Where, without a trace by now.
        formats: The events.
        pages: What the kernel gives for its buffer.
        page_bytes: Bytes of a page.
        statistics: What the kernel gives as its file ``stats``.
        own: Records besides.
        own_classes: Their names and fields; their IDs are behind those of events.

    Returns:
        What became of it.
    """
    (directory / "index").mkdir(parents=True)
    made = [event_class(one) for one in formats]
    classes = [(one.name, one.fields) for one in made] + list(
        (own_classes or {}).items()
    )
    declared = [DeclaredClass(number, *one) for number, one in enumerate(classes)]
    is_compact = len(classes) <= FEW
    stream = StreamText(0, is_compact=is_compact, classes=declared)
    (directory / "metadata").write_text(metadata_text(UUID, "test", CLOCK, [stream]))
    (directory / "stats").write_text(statistics)
    # As the kernel's file, a socket gives no more than was written at once.
    readable, writable = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    readable.setblocking(False)
    writable.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    for one in pages:
        writable.send(one)
    writable.close()
    new = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    events = [
        (one.id, place, list(made[place].operations), None)
        for place, one in enumerate(formats)
    ]
    cpu = CPU, readable.detach(), os.open(directory / "stats", os.O_RDONLY)
    (directory / "stats").unlink()
    files = (
        os.open(directory / f"channel0_{CPU}", new, 0o600),
        os.open(directory / "index" / f"channel0_{CPU}.idx", new, 0o600),
    )
    collector = Collector(page_bytes)
    recording = bytes.fromhex(UUID.replace("-", "")), 0, is_compact, BEGIN
    collector.add(recording, events, [cpu], [files], own=own)
    # What is newer than that is not waited for.
    begun = [int.from_bytes(one[:8], "little") for one in pages]
    [[outcome]] = collector.end(max([END, *begun]))
    return outcome
