"""The report of mutexes: who waited for which, how long, and who had it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...analysis.locks import LockCounts, Locks, LockSite, read_locks
from ...damage import Damage
from ...errors import CommandError
from ..render.call_style import CallStyle, duration
from ..render.columns import part_lines, thread_text
from ..render.debuginfo import count
from .report import Table

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.locks import Lock
    from .reading import Reading

__all__ = ["LocksReport", "make_report"]

COUNTS = ("waited", "longest", "blocked", "acquired", "held", "longest hold")
FACTS = (
    "acquired",
    "blocked",
    "waited_ns",
    "longest_wait_ns",
    "held_ns",
    "longest_hold_ns",
    "failed",
)


class LocksReport:
    """The mutexes of some traces.

    Args:
        locks: What was found.
    """

    def __init__(self, locks: Locks) -> None:
        self.locks = locks

    @property
    def damage(self) -> Sequence[Damage]:
        """What could not be read."""
        return self.locks.damage

    def lines(self, style: CallStyle) -> Iterator[str]:
        """Write it for people; see :class:`Report`."""
        found = self.locks
        total = found.total
        yield (
            f"{count(total.acquired, 'lock')} of {count(len(found.locks), 'mutex')}: "
            f"waited {duration(total.waited)}, held {duration(total.held)}"
        )
        yield from part_lines("By place", (*COUNTS, "place"), self._site_rows(), style)
        yield from part_lines("By mutex", (*COUNTS, "mutex"), self._lock_rows(), style)
        rows = [
            (
                duration(one.waited),
                duration(one.longest),
                str(one.count),
                f"{one.waiting}, while {one.holding} had it",
            )
            for one in found.blockings
        ]
        head = ("waited", "longest", "times", "who waited for whom")
        title = "Who blocked whom: a wait counts for each that had the mutex meanwhile"
        yield from part_lines(title, head, rows, style)
        rows = [
            (
                duration(one.duration),
                thread_text(one.thread),
                "-" if one.holder is None else thread_text(one.holder),
                f"{one.site}, for {one.address:#x}",
            )
            for one in found.longest
        ]
        head = ("waited", "thread", "holder", "place")
        yield from part_lines("Longest waits", head, rows, style)
        yield from self._notes()

    def _site_rows(self) -> list[tuple[str, ...]]:
        return [(*_cells(one), str(one.site)) for one in self.locks.sites]

    def _lock_rows(self) -> list[tuple[str, ...]]:
        return [(*_cells(one), _mutex(one)) for one in self.locks.locks]

    def _notes(self) -> Iterator[str]:
        found = self.locks
        notes = []
        if found.waiting:
            notes.append(f"{count(found.waiting, 'thread')} waited in the end")
        if found.still_held:
            notes.append(
                f"{count(found.still_held, 'mutex')} locked in the end, "
                "without that time in the sums"
            )
        if found.total.failed:
            notes.append(f"{count(found.total.failed, 'lock')} not got")
        if found.losses:
            notes.append("events were lost: some times are too long, or not known")
        if notes:
            yield ""
        yield from notes

    def facts(self, style: CallStyle) -> dict[str, Any]:
        """Return it as JSON has it; see :class:`Report`."""
        found = self.locks
        limit = style.limit or None
        return {
            "version": 1,
            "report": "locks",
            "events": found.events,
            "total": _facts(found.total),
            "sites": [
                {"place": str(one.site), **_facts(one)} for one in found.sites[:limit]
            ],
            "mutexes": [
                {
                    "address": one.address,
                    "vpid": one.process.pid,
                    "process": one.process.name,
                    "threads": one.threads,
                    **_facts(one),
                }
                for one in found.locks[:limit]
            ],
            "blockings": [
                {
                    "waiting": str(one.waiting),
                    "holding": str(one.holding),
                    "count": one.count,
                    "waited_ns": one.waited,
                    "longest_wait_ns": one.longest,
                }
                for one in found.blockings[:limit]
            ],
            "longest": [
                {
                    "begin_ns": one.begin,
                    "duration_ns": one.duration,
                    "vtid": one.thread.tid,
                    "thread": one.thread.name,
                    "place": str(one.site),
                    "address": one.address,
                    "holder_vtid": None if one.holder is None else one.holder.tid,
                    "holder": None if one.holder is None else one.holder.name,
                    "holding": None if one.holding is None else str(one.holding),
                }
                for one in found.longest
            ],
            "waiting": found.waiting,
            "still_held": found.still_held,
            "losses": len(found.losses),
        }

    def table(self, style: CallStyle) -> Table:
        """Return the places; see :class:`Report`."""
        rows: list[LockSite] = self.locks.sites[: style.limit or None]
        return Table(
            ("place", *FACTS), [(str(one.site), *_facts(one).values()) for one in rows]
        )


def make_report(reading: Reading) -> LocksReport:
    """Read traces for what they tell of mutexes.

    Args:
        reading: The traces.

    Raises:
        CommandError: They tell nothing of them.
    """
    with reading.progress() as progress:
        found = read_locks(
            reading.source,
            reading.places(),
            selection=reading.selection,
            takes=reading.takes,
            progress=progress,
        )
    if not found.events:
        if reading.is_of_part:
            raise CommandError(
                f"{reading.paths}: no events of mutexes among the chosen events"
            )
        raise CommandError(
            f"{reading.paths}: no events of mutexes: record them with "
            "'vestige record --pthread -- PROGRAM', or with "
            "LD_PRELOAD=liblttng-ust-pthread-wrapper.so and "
            "lttng enable-event -u 'lttng_ust_pthread:*'"
        )
    reading.refuse_unknown("events of mutexes")
    return LocksReport(found)


def _cells(one: LockCounts) -> tuple[str, ...]:
    return (
        duration(one.waited),
        duration(one.longest_wait),
        str(one.blocked),
        str(one.acquired),
        duration(one.held),
        duration(one.longest_hold),
    )


def _mutex(one: Lock) -> str:
    name = one.process.name
    of = f" ({name})" if name else ""
    return (
        f"{one.address:#x} of process {one.process.pid}{of}, "
        f"{count(one.threads, 'thread')}"
    )


def _facts(one: LockCounts) -> dict[str, int]:
    values = (
        one.acquired,
        one.blocked,
        one.waited,
        one.longest_wait,
        one.held,
        one.longest_hold,
        one.failed,
    )
    return dict(zip(FACTS, values, strict=True))
