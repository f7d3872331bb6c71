"""The tables of ``vestige report --io``, named as lttng-analyses names them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...plain_text import plain
from .call_style import CallStyle, duration
from .columns import part_lines, size
from .debuginfo import count
from .pair_table import PERCENTILES, percent_name

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.durations import Durations
    from ...analysis.kernel import DiskUse, IoOperation, KernelIo, LongIo, ThreadIo

__all__ = ["THREAD_COLUMNS", "io_facts", "io_lines"]

THREAD_COLUMNS = (
    *("tid", "name", "read_bytes", "written_bytes", "reads", "writes", "failed"),
    *("disk_read_bytes", "disk_written_bytes", "pages_allocated", "pages_freed"),
)
"""What JSON and CSV have of a thread."""
THREAD_HEAD = (
    *("read", "written", "reads", "writes", "failed"),
    *("disk read", "disk written", "thread"),
)
"""Titles of the table of threads."""
_MOST_LONGEST = 10
"""How many of the longest people are shown of all kinds."""


def io_lines(machine: KernelIo, style: CallStyle, *, with_trace: bool) -> Iterator[str]:
    """Write the tables for people.

    Args:
        machine: What happened.
        style: What is shown.
        with_trace: Whether to name the trace.

    Yields:
        The lines.
    """
    name = f" of {plain(machine.trace)}" if with_trace and machine.trace else ""
    read = sum(one.read for one in machine.threads)
    written = sum(one.written for one in machine.threads)
    threads = count(len(machine.threads), "thread")
    yield f"{threads}{name}: {size(read)} read, {size(written)} written"
    rows = [_thread_row(one) for one in machine.threads]
    yield from part_lines("threads (iousagetop)", THREAD_HEAD, rows, style)
    yield from _time_lines(machine, style)
    yield from _longest_lines(machine, style)
    interfaces = [
        (
            size(one.received),
            f"{one.received_packets:,}",
            size(one.sent),
            f"{one.sent_packets:,}",
            one.name,
        )
        for one in machine.interfaces
    ]
    head = ("received", "packets", "sent", "packets", "interface")
    yield from part_lines("networks (iousagetop)", head, interfaces, style)
    pages = [
        (f"{one.pages_allocated:,}", f"{one.pages_freed:,}", _thread(one))
        for one in sorted(machine.threads, key=_by_pages)
        if one.pages_allocated or one.pages_freed
    ]
    title = "pages of memory (memtop)"
    yield from part_lines(title, ("allocated", "freed", "thread"), pages, style)
    lost = sum(one.count or 0 for one in machine.losses if one.kind == "events")
    if lost:
        yield ""
        yield f"{count(lost, 'event')} lost by the tracer"


def _thread_row(one: ThreadIo) -> tuple[str, ...]:
    return (
        size(one.read),
        size(one.written),
        f"{one.reads:,}",
        f"{one.writes:,}",
        f"{one.failed:,}",
        size(one.disk_read),
        size(one.disk_written),
        _thread(one),
    )


def _thread(one: ThreadIo) -> str:
    return f"{one.thread} ({one.name})" if one.name else str(one.thread)


def _by_pages(one: ThreadIo) -> int:
    return -(one.pages_allocated + one.pages_freed)


def _time_lines(machine: KernelIo, style: CallStyle) -> Iterator[str]:
    percentiles = style.percentiles or PERCENTILES
    names = map(percent_name, percentiles)
    head = ("total", "count", "min", "avg", *names, "max")
    rows = [
        (*_times(one, percentiles), one.name)
        for one in machine.operations
        if one.durations.count
    ]
    yield from part_lines("system calls (iolatencystats)", (*head, "kind"), rows, style)
    disks = [
        (
            *_times(one, percentiles),
            f"{one.sectors_read:,}",
            f"{one.sectors_written:,}",
            one.name,
        )
        for one in machine.disks
    ]
    head = (*head, "sectors read", "written", "disk")
    yield from part_lines("requests to disks (iolatencystats)", head, disks, style)


def _times(one: IoOperation | DiskUse, percentiles: Sequence[float]) -> tuple[str, ...]:
    durations = one.durations
    mean = one.total / durations.count if durations.count else None
    return (
        duration(one.total if durations.count else None),
        f"{durations.count:,}",
        duration(durations.quantile(0)),
        duration(mean),
        *(duration(durations.quantile(percent / 100)) for percent in percentiles),
        duration(durations.quantile(1)),
    )


def _longest_lines(machine: KernelIo, style: CallStyle) -> Iterator[str]:
    names = {one.thread: _thread(one) for one in machine.threads}
    # What reads and writes is of both kinds.
    every = {long for one in machine.operations for long in one.durations.longest}
    first = min((long.begin for long in every), default=0)
    chosen = sorted(every, key=lambda long: (-long.duration, long.begin))
    rows = [
        (
            duration(long.duration),
            f"+{duration(long.begin - first)}",
            "-" if long.size is None else size(long.size),
            "-" if long.file_descriptor is None else str(long.file_descriptor),
            f"{long.call} by {_who(long, names)}",
        )
        for long in chosen[: style.limit or _MOST_LONGEST][:_MOST_LONGEST]
    ]
    head = ("longest", "after the first", "size", "file", "system call")
    yield from part_lines("longest system calls (iolatencytop)", head, rows, style)


def _who(long: LongIo, names: dict[int, str]) -> str:
    thread = long.thread.tid
    if thread is None:
        return "a thread that is not known"
    return names.get(thread) or str(thread)


def io_facts(machine: KernelIo, style: CallStyle) -> dict[str, Any]:
    """Return the tables as JSON has them.

    Args:
        machine: What happened.
        style: What is shown.
    """
    threads = machine.threads[: style.limit or None]
    return {
        "trace": machine.trace,
        "threads": [_thread_facts(one) for one in threads],
        "operations": [
            {"name": one.name, **_time_facts(one.durations, one.total, style)}
            for one in machine.operations
        ],
        "disks": [
            {
                "device": one.device,
                "name": one.name,
                "sectors_read": one.sectors_read,
                "sectors_written": one.sectors_written,
                **_time_facts(one.durations, one.total, style),
            }
            for one in machine.disks
        ],
        "interfaces": [
            {
                "name": one.name,
                "received_bytes": one.received,
                "received_packets": one.received_packets,
                "sent_bytes": one.sent,
                "sent_packets": one.sent_packets,
            }
            for one in machine.interfaces
        ],
        "lost_events": sum(
            one.count or 0 for one in machine.losses if one.kind == "events"
        ),
    }


def _thread_facts(one: ThreadIo) -> dict[str, Any]:
    values = (
        *(one.thread, one.name, one.read, one.written, one.reads, one.writes),
        *(one.failed, one.disk_read, one.disk_written),
        *(one.pages_allocated, one.pages_freed),
    )
    return dict(zip(THREAD_COLUMNS, values, strict=True))


def _time_facts(
    durations: Durations[LongIo], total: int, style: CallStyle
) -> dict[str, Any]:
    return {
        "count": durations.count,
        "total_ns": total,
        "min_ns": durations.quantile(0),
        **{
            f"{percent_name(percent)}_ns": durations.quantile(percent / 100)
            for percent in style.percentiles or PERCENTILES
        },
        "max_ns": durations.quantile(1),
        "longest": [
            {
                "begin_ns": long.begin,
                "duration_ns": long.duration,
                "call": long.call,
                "tid": long.thread.tid,
                "file": long.file_descriptor,
                "size_bytes": long.size,
            }
            for long in durations.longest
        ],
    }
