"""The report of memory: what is left, who asked for it, and what is freed twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...analysis.memory import Memory, MemoryCounts, MemorySite, read_memory
from ...damage import Damage
from ...errors import CommandError
from ..render.call_style import CallStyle
from ..render.columns import part_lines, size, thread_text
from ..render.debuginfo import count
from .report import Table

if TYPE_CHECKING:
    from typing import Any

    from .reading import Reading

__all__ = ["MemoryReport", "make_report"]

COUNTS = ("left", "blocks", "peak", "got", "blocks got", "freed")
FACTS = (
    "live_bytes",
    "live_blocks",
    "peak_bytes",
    "allocated_bytes",
    "allocations",
    "freed",
    "churned_bytes",
    "longest_block_bytes",
)


class MemoryReport:
    """The memory of some traces.

    Args:
        memory: What was found.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be read."""
        return self.memory.damage

    def lines(self, style: CallStyle) -> Iterator[str]:
        """Write it for people; see :class:`Report`."""
        found = self.memory
        total = found.total
        yield (
            f"{size(total.live)} in {count(total.live_blocks, 'block')} left in the "
            f"end; {size(total.peak)} at the peak; {size(total.allocated)} in "
            f"{count(total.allocations, 'block')} got"
        )
        rows = [(*_cells(one), str(one)) for one in found.sites]
        yield from part_lines("By place", (*COUNTS, "place"), rows, style)
        if len(found.processes) > 1:
            rows = [
                (*_cells(one), f"{one.process.pid} {one.process.name or ''}")
                for one in found.processes
            ]
            yield from part_lines("By process", (*COUNTS, "process"), rows, style)
        doubles = [
            (
                f"{one.address:#x}",
                thread_text(one.thread),
                f"{one.site}, freed before by {one.first}",
            )
            for one in found.double_frees
        ]
        head = ("block", "thread", "freed twice")
        yield from part_lines("Double frees", head, doubles, style)
        yield from self._notes()

    def _notes(self) -> Iterator[str]:
        found = self.memory
        notes = []
        if more := found.double_free_count - len(found.double_frees):
            notes.append(f"{count(more, 'double free')} more")
        if unknown := sum(one.unknown_frees for one in found.processes):
            notes.append(
                f"{count(unknown, 'block')} freed that nobody saw being got: before "
                "the recording, or by the parent of a forked process"
            )
        if failed := sum(one.failed for one in found.processes):
            notes.append(f"{count(failed, 'time')} there was no memory")
        if found.losses:
            notes.append("events were lost: blocks may only seem to be left")
        if notes:
            yield ""
        yield from notes

    def facts(self, style: CallStyle) -> dict[str, Any]:
        """Return it as JSON has it; see :class:`Report`."""
        found = self.memory
        limit = style.limit or None
        return {
            "version": 1,
            "report": "memory",
            "events": found.events,
            "total": _facts(found.total),
            "sites": [
                {"place": str(one.site), "path": one.path, **_facts(one)}
                for one in found.sites[:limit]
            ],
            "processes": [
                {
                    "vpid": one.process.pid,
                    "process": one.process.name,
                    "peak_time_ns": one.peak_time,
                    "unknown_frees": one.unknown_frees,
                    "failed": one.failed,
                    **_facts(one),
                }
                for one in found.processes
            ],
            "double_free_count": found.double_free_count,
            "double_frees": [
                {
                    "time_ns": one.time,
                    "vtid": one.thread.tid,
                    "thread": one.thread.name,
                    "address": one.address,
                    "place": str(one.site),
                    "first": str(one.first),
                }
                for one in found.double_frees
            ],
            "losses": len(found.losses),
        }

    def table(self, style: CallStyle) -> Table:
        """Return the places; see :class:`Report`."""
        rows: list[MemorySite] = self.memory.sites[: style.limit or None]
        return Table(
            ("place", *FACTS), [(str(one), *_facts(one).values()) for one in rows]
        )


def make_report(reading: Reading) -> MemoryReport:
    """Read traces for what they tell of memory.

    Args:
        reading: The traces.

    Raises:
        CommandError: They tell nothing of it.
    """
    with reading.progress() as progress:
        found = read_memory(
            reading.source,
            reading.places(),
            selection=reading.selection,
            paths=reading.options.tree,
            takes=reading.takes,
            progress=progress,
        )
    if not found.events:
        if reading.is_of_part:
            raise CommandError(
                f"{reading.paths}: no events of memory among the chosen events"
            )
        raise CommandError(
            f"{reading.paths}: no events of memory: record them with "
            "'vestige record --libc -- PROGRAM', or with "
            "LD_PRELOAD=liblttng-ust-libc-wrapper.so and "
            "lttng enable-event -u 'lttng_ust_libc:*'"
        )
    reading.refuse_unknown("events of memory")
    return MemoryReport(found)


def _cells(one: MemoryCounts) -> tuple[str, ...]:
    return (
        size(one.live),
        str(one.live_blocks),
        size(one.peak),
        size(one.allocated),
        str(one.allocations),
        str(one.freed),
    )


def _facts(one: MemoryCounts) -> dict[str, int]:
    values = (
        one.live,
        one.live_blocks,
        one.peak,
        one.allocated,
        one.allocations,
        one.freed,
        one.churned,
        one.longest_block,
    )
    return dict(zip(FACTS, values, strict=True))
