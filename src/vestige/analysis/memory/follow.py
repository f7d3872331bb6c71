"""Following blocks of memory through their events.

What is kept grows with the blocks that are there, and not with the trace. Of blocks
that are gone, the last ones of each process are remembered, to tell a second ``free``
from that of a block that nobody saw coming.

``free`` makes its event before it acts, the others do so after it. So of two threads,
one may be seen to get a block that the other one's ``realloc`` has left already.
"""

from __future__ import annotations

from collections.abc import Callable

from ..._typing import TYPE_CHECKING
from ...units import Nanoseconds, Vpid
from ..sites import Sites
from ..threads import Process, Thread
from .found import DoubleFree, MemoryCounts, MemorySite, ProcessMemory

if TYPE_CHECKING:
    from ... import core

__all__ = ["MemoryFollower"]

PROVIDER = "lttng_ust_libc:"
MOST_GONE = 1 << 16
"""How many blocks of a process are remembered that are gone."""
MOST_DOUBLE_FREES = 100
"""How many of those are kept one by one."""
SITE_BITS = 24
"""Bits of the index of a site, below the size of a block."""
SITE_MASK = (1 << SITE_BITS) - 1

ProcessKey = tuple[int, int | None]
"""Process space and process ID."""


class _Blocks:
    # The blocks of a process: size and site in one number, by address.
    __slots__ = (
        "counts",
        "displaced",
        "failed",
        "gone",
        "live",
        "name",
        "peak_time",
        "unknown",
    )

    def __init__(self, name: str | None) -> None:
        self.counts = MemoryCounts()
        self.live: dict[int, int] = {}
        self.gone: dict[int, int] = {}
        self.displaced: set[int] = set()
        self.name = name
        self.peak_time: int | None = None
        self.unknown = 0
        self.failed = 0


class MemoryFollower:
    """Follows the blocks of memory of traces.

    Args:
        takes: Whether what a thread asks for counts, by its process ID and its own.
    """

    def __init__(self, takes: Callable[[int | None, int | None], bool]) -> None:
        self._takes = takes
        self._processes: dict[ProcessKey, _Blocks] = {}
        self._counts: dict[int, MemoryCounts] = {}
        self.places = Sites()
        self.total = MemoryCounts()
        self.events = 0
        self.double_frees: list[DoubleFree] = []
        self.double_free_count = 0
        self._steps: dict[str, Callable[[core.Event, _Blocks], None]] = {
            f"{PROVIDER}malloc": self._sized,
            f"{PROVIDER}memalign": self._sized,
            f"{PROVIDER}calloc": self._calloc,
            f"{PROVIDER}posix_memalign": self._posix_memalign,
            f"{PROVIDER}realloc": self._realloc,
            f"{PROVIDER}free": self._free,
        }

    def take(self, event: core.Event) -> None:
        """Take the next event.

        Args:
            event: It; others than those of memory are passed over.
        """
        step = self._steps.get(event.name or "")
        if step is None:
            return
        self.events += 1
        key = event.stream.process_space, event.process
        blocks = self._processes.get(key)
        if blocks is None:
            blocks = self._processes[key] = _Blocks(event.process_name)
        step(event, blocks)

    def _sized(self, event: core.Event, blocks: _Blocks) -> None:
        self._get(event, blocks, event["ptr"], event["size"])

    def _calloc(self, event: core.Event, blocks: _Blocks) -> None:
        self._get(event, blocks, event["ptr"], event["nmemb"] * event["size"])

    def _posix_memalign(self, event: core.Event, blocks: _Blocks) -> None:
        if event["result"] == 0:
            self._get(event, blocks, event["out_ptr"], event["size"])
        else:
            blocks.failed += 1

    def _realloc(self, event: core.Event, blocks: _Blocks) -> None:
        before, size, address = event["in_ptr"], event["size"], event["ptr"]
        if address == 0 and size > 0:
            blocks.failed += 1
            return
        if before in blocks.displaced:
            blocks.displaced.discard(before)
        elif before:
            self._give(event, blocks, before)
        if address:
            self._get(event, blocks, address, size)

    def _free(self, event: core.Event, blocks: _Blocks) -> None:
        address = event["ptr"]
        if address:
            self._give(event, blocks, address)

    def _get(self, event: core.Event, blocks: _Blocks, address: int, size: int) -> None:
        if address == 0:
            blocks.failed += size > 0
            return
        if address in blocks.live:
            # Its end is still to come, or was lost.
            self._end(blocks, blocks.live.pop(address))
            blocks.displaced.add(address)
        blocks.gone.pop(address, None)
        if not self._takes(event.process, event.thread):
            return
        site = self.places.index(event.debug_info)
        blocks.live[address] = size << SITE_BITS | site
        counts = self._counts.get(site)
        if counts is None:
            counts = self._counts[site] = MemoryCounts()
        counts.get(size)
        self.total.get(size)
        own = blocks.counts
        before = own.peak
        own.get(size)
        if own.peak > before:
            blocks.peak_time = event.timestamp

    def _give(self, event: core.Event, blocks: _Blocks, address: int) -> None:
        block = blocks.live.pop(address, None)
        if block is not None:
            self._end(blocks, block)
        elif address in blocks.gone:
            self._note(event, blocks, address)
        else:
            blocks.unknown += 1
        gone = blocks.gone
        gone.pop(address, None)
        if len(gone) >= MOST_GONE:
            del gone[next(iter(gone))]
        gone[address] = self.places.index(event.debug_info)

    def _end(self, blocks: _Blocks, block: int) -> None:
        size, site = block >> SITE_BITS, block & SITE_MASK
        for counts in (self._counts[site], self.total, blocks.counts):
            counts.give(size)

    def _note(self, event: core.Event, blocks: _Blocks, address: int) -> None:
        if not self._takes(event.process, event.thread):
            return
        self.double_free_count += 1
        if len(self.double_frees) >= MOST_DOUBLE_FREES:
            return
        all_sites = self.places.all
        self.double_frees.append(
            DoubleFree(
                time=Nanoseconds(event.timestamp or 0),
                thread=Thread(
                    process=_process(event.process, blocks.name), tid=event.thread
                ),
                address=address,
                site=all_sites[self.places.index(event.debug_info)],
                first=all_sites[blocks.gone[address]],
            )
        )

    def found_sites(self) -> list[MemorySite]:
        """Return where memory was asked for, that of which most is left first."""
        found = [
            MemorySite(site=self.places.all[site], **_facts(counts))
            for site, counts in self._counts.items()
        ]
        return sorted(found, key=lambda one: (one.live, one.allocated), reverse=True)

    def found_processes(self) -> list[ProcessMemory]:
        """Return the processes, the one with most memory first."""
        found = [
            ProcessMemory(
                process=_process(key[1], one.name),
                peak_time=None if one.peak_time is None else Nanoseconds(one.peak_time),
                unknown_frees=one.unknown,
                failed=one.failed,
                **_facts(one.counts),
            )
            for key, one in self._processes.items()
        ]
        return sorted(found, key=lambda one: one.peak, reverse=True)


def _process(process: int | None, name: str | None) -> Process:
    return Process(None if process is None else Vpid(process), name)


def _facts(counts: MemoryCounts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in MemoryCounts.__slots__}
