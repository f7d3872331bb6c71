"""Reading traces for what they tell of memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ... import core
from ..._typing import TYPE_CHECKING
from ...units import Nanoseconds
from ..resource_events import ENTRIES, EXITS, CallKind, Reading, Taken, read_calls
from .found import DoubleFree, Memory, MemoryCounts, MemorySite, ProcessMemory

if TYPE_CHECKING:
    from ...graph import Filter, Selection, Source

__all__ = ["read_memory"]

PROVIDER = "lttng_ust_libc:"
CALLS: tuple[CallKind, ...] = (
    (f"{PROVIDER}malloc", ("size", "ptr")),
    (f"{PROVIDER}memalign", ("size", "ptr")),
    (f"{PROVIDER}calloc", ("nmemb", "size", "ptr")),
    (f"{PROVIDER}posix_memalign", ("size", "out_ptr", "result")),
    (f"{PROVIDER}realloc", ("in_ptr", "size", "ptr")),
    (f"{PROVIDER}free", ("ptr",)),
)
"""What is read, with the numbers that are needed, in the order of the core."""
MOST_GONE = 1 << 16
"""How many blocks of a process are remembered that are gone."""


def read_memory(  # noqa: PLR0913 - parameters go by keyword
    source: Source,
    places: Filter | None = None,
    *,
    selection: Selection | None = None,
    paths: bool = False,
    takes: Callable[[int | None, int | None], bool] = lambda *_: True,
    progress: Callable[[int], object] | None = None,
) -> Memory:
    """Read traces, and find out what memory is left, and who asked for it.

    Args:
        source: The traces.
        places: What adds places to events; ``None``: nothing does.
        selection: Which part of the traces is read; all by default.
        paths: Whether places are told apart by the calls of functions that led there,
            as far as these were recorded.
        takes: Whether what a thread asks for counts, by its process ID and its own. It
            does not matter who gives it back.
        progress: Called with the number of event records read so far.

    Returns:
        What was found; nothing where the traces have no such events.
    """
    entries, exits = (ENTRIES, EXITS) if paths else ((), ())
    fold = core.MemoryFold(CALLS, entries, exits, MOST_GONE)
    kinds = (*CALLS, *entries, *exits)
    read = read_calls(source, fold, kinds, places, Taken(takes, selection, progress))
    return Memory(
        processes=_processes(fold, read),
        sites=_sites(fold, read),
        double_frees=_double_frees(fold, read),
        double_free_count=fold.double_free_count,
        total=MemoryCounts(**_facts(fold.total())),
        events=fold.events,
        losses=read.losses,
        damage=read.damage,
    )


def _sites(fold: core.MemoryFold, read: Reading) -> list[MemorySite]:
    """Return where memory was asked for, that of which most is left first."""
    found = [
        MemorySite(
            site=read.sites.all[site],
            path=tuple(_name(one, read) for one in path),
            **_facts(counts),
        )
        for path, site, counts in fold.sites()
    ]
    return sorted(found, key=lambda one: (one.live, one.allocated), reverse=True)


def _processes(fold: core.MemoryFold, read: Reading) -> list[ProcessMemory]:
    """Return the processes, the one with most memory first."""
    found = [
        ProcessMemory(
            process=read.process(process),
            peak_time=None if peak_time is None else Nanoseconds(peak_time),
            unknown_frees=unknown,
            failed=failed,
            **_facts(counts),
        )
        for process, counts, peak_time, unknown, failed in fold.processes()
    ]
    return sorted(found, key=lambda one: one.peak, reverse=True)


def _double_frees(fold: core.MemoryFold, read: Reading) -> list[DoubleFree]:
    """Return blocks that were given back twice, in order."""
    return [
        DoubleFree(
            time=Nanoseconds(time),
            thread=read.thread(maker),
            address=address,
            site=read.sites.all[site],
            first=read.sites.all[first],
        )
        for time, maker, address, site, first in fold.double_frees()
    ]


def _name(site: int, read: Reading) -> str:
    found = read.sites.all[site]
    return found.function or str(found)


def _facts(counts: Sequence[int]) -> dict[str, int]:
    return dict(zip(MemoryCounts.__slots__, counts, strict=True))
