"""Reading traces for what they tell of mutexes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ... import core
from ..._typing import TYPE_CHECKING
from ...errors import SelectionError
from ...units import Nanoseconds
from ..resource_events import CallKind, Reading, Taken, read_calls
from .found import Blocking, Lock, LockCounts, Locks, LockSite, LongWait

if TYPE_CHECKING:
    from ...graph import Filter, Selection, Source

__all__ = ["read_locks"]

PROVIDER = "lttng_ust_pthread:pthread_mutex_"
CALLS: tuple[CallKind, ...] = (
    (f"{PROVIDER}lock_req", ("mutex",)),
    (f"{PROVIDER}lock_acq", ("mutex", "status")),
    (f"{PROVIDER}trylock", ("mutex", "status")),
    (f"{PROVIDER}unlock", ("mutex", "status")),
)
"""What is read, with the numbers that are needed, in the order of the core."""


def read_locks(  # noqa: PLR0913 - parameters go by keyword
    source: Source,
    places: Filter | None = None,
    *,
    selection: Selection | None = None,
    longest: int = 10,
    takes: Callable[[int | None, int | None], bool] = lambda *_: True,
    progress: Callable[[int], object] | None = None,
) -> Locks:
    """Read traces, and find out who waited for mutexes.

    Args:
        source: The traces.
        places: What adds places to events; ``None``: nothing does.
        selection: Which part of the traces is read; all by default.
        longest: How many of the longest waits are kept.
        takes: Whether what a thread does counts, by its process ID and its own.
        progress: Called with the number of event records read so far.

    Returns:
        What was found; nothing where the traces have no such events.

    Raises:
        SelectionError: The events do not tell their threads.
    """
    fold = core.LockFold(CALLS, longest)
    read = read_calls(source, fold, CALLS, places, Taken(takes, selection, progress))
    if fold.has_unknown_threads:
        raise SelectionError(
            "the events of mutexes do not tell their threads, so nobody knows who "
            "waited; record the contexts: lttng add-context -u -t vpid -t vtid -t ip"
        )
    return Locks(
        locks=_locks(fold, read),
        sites=_sites(fold, read),
        blockings=_blockings(fold, read),
        longest=_waits(fold, read),
        total=LockCounts(**_facts(fold.total())),
        events=fold.events,
        waiting=fold.waiting,
        still_held=fold.still_held,
        losses=read.losses,
        damage=read.damage,
    )


def _locks(fold: core.LockFold, read: Reading) -> list[Lock]:
    """Return the mutexes, that which was waited for longest first."""
    found = [
        Lock(
            process=read.process(process),
            address=address,
            threads=threads,
            **_facts(counts),
        )
        for process, address, threads, counts in fold.locks()
    ]
    return sorted(found, key=_weight, reverse=True)


def _sites(fold: core.LockFold, read: Reading) -> list[LockSite]:
    """Return where mutexes were locked, the one that waited longest first."""
    found = [
        LockSite(site=read.sites.all[site], **_facts(counts))
        for site, counts in fold.sites()
    ]
    return sorted(found, key=_weight, reverse=True)


def _blockings(fold: core.LockFold, read: Reading) -> list[Blocking]:
    """Return who blocked whom, the longest time first."""
    found = [
        Blocking(
            waiting=read.sites.all[waiting],
            holding=read.sites.all[holding],
            count=times,
            waited=waited,
            longest=longest,
        )
        for waiting, holding, times, waited, longest in fold.blockings()
    ]
    return sorted(found, key=lambda one: one.waited, reverse=True)


def _waits(fold: core.LockFold, read: Reading) -> list[LongWait]:
    """Return the longest waits."""
    return [
        LongWait(
            begin=Nanoseconds(begin),
            duration=Nanoseconds(duration),
            thread=read.thread(maker),
            site=read.sites.all[site],
            address=address,
            holder=None if holder is None else read.thread(holder[0]),
            holding=None if holder is None else read.sites.all[holder[1]],
        )
        for begin, duration, maker, site, address, holder in fold.longest()
    ]


def _facts(counts: Sequence[int]) -> dict[str, int]:
    return dict(zip(LockCounts.__slots__, counts, strict=True))


def _weight(counts: LockCounts) -> tuple[int, int]:
    return counts.waited, counts.held
