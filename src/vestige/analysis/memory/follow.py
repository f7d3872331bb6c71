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
from ..threads import Process, Thread
from .found import DoubleFree, MemoryCounts, MemorySite, ProcessMemory

if TYPE_CHECKING:
    from ..resource_events import Call, CallKind, Reading

__all__ = ["CALLS", "MemoryFollower"]

PROVIDER = "lttng_ust_libc:"
CALLS: tuple[CallKind, ...] = (
    (f"{PROVIDER}malloc", ("size", "ptr")),
    (f"{PROVIDER}memalign", ("size", "ptr")),
    (f"{PROVIDER}calloc", ("nmemb", "size", "ptr")),
    (f"{PROVIDER}posix_memalign", ("size", "out_ptr", "result")),
    (f"{PROVIDER}realloc", ("in_ptr", "size", "ptr")),
    (f"{PROVIDER}free", ("ptr",)),
)
"""What is read, with the numbers that are needed."""
MOST_GONE = 1 << 16
"""How many blocks of a process are remembered that are gone."""
MOST_DOUBLE_FREES = 100
"""How many of those are kept one by one."""
ORIGIN_BITS = 24
"""Bits of the index of a path and a site, below the size of a block."""
ORIGIN_MASK = (1 << ORIGIN_BITS) - 1

ProcessKey = tuple[int, int | None]
"""Process space and process ID."""


class _Blocks:
    # The blocks of a process: size and origin in one number, by address.
    __slots__ = (
        "counts",
        "displaced",
        "failed",
        "gone",
        "live",
        "peak_time",
        "unknown",
    )

    def __init__(self) -> None:
        self.counts = MemoryCounts()
        self.live: dict[int, int] = {}
        self.gone: dict[int, int] = {}
        self.displaced: set[int] = set()
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
        self._origins: dict[tuple[int, int], int] = {}
        self._counts: list[MemoryCounts] = []
        self._doubles: list[tuple[Call, int, int]] = []
        self.total = MemoryCounts()
        self.events = 0
        self.double_free_count = 0
        self._steps = (
            self._sized,
            self._sized,
            self._calloc,
            self._posix_memalign,
            self._realloc,
            self._free,
        )

    def take(self, call: Call) -> None:
        """Take the next call.

        Args:
            call: It, of one of :data:`CALLS`.
        """
        self.events += 1
        key = call.maker[:2]
        blocks = self._processes.get(key)
        if blocks is None:
            blocks = self._processes[key] = _Blocks()
        self._steps[call.kind](call, blocks)

    def _sized(self, call: Call, blocks: _Blocks) -> None:
        size, address, *_ = call.values
        self._get(call, blocks, address, size)

    def _calloc(self, call: Call, blocks: _Blocks) -> None:
        count, size, address, _ = call.values
        self._get(call, blocks, address, count * size)

    def _posix_memalign(self, call: Call, blocks: _Blocks) -> None:
        size, address, result, _ = call.values
        if result == 0:
            self._get(call, blocks, address, size)
        else:
            blocks.failed += 1

    def _realloc(self, call: Call, blocks: _Blocks) -> None:
        before, size, address, _ = call.values
        if address == 0 and size > 0:
            blocks.failed += 1
            return
        if before in blocks.displaced:
            blocks.displaced.discard(before)
        elif before:
            self._give(call, blocks, before)
        if address:
            self._get(call, blocks, address, size)

    def _free(self, call: Call, blocks: _Blocks) -> None:
        address = call.values[0]
        if address:
            self._give(call, blocks, address)

    def _get(self, call: Call, blocks: _Blocks, address: int, size: int) -> None:
        if address == 0:
            blocks.failed += size > 0
            return
        if address in blocks.live:
            # Its end is still to come, or was lost.
            self._end(blocks, blocks.live.pop(address))
            blocks.displaced.add(address)
        blocks.gone.pop(address, None)
        if not self._takes(call.maker[1], call.maker[2]):
            return
        origin = self._origins.setdefault((call.path, call.site), len(self._counts))
        if origin == len(self._counts):
            self._counts.append(MemoryCounts())
        blocks.live[address] = size << ORIGIN_BITS | origin
        self._counts[origin].get(size)
        self.total.get(size)
        own = blocks.counts
        before = own.peak
        own.get(size)
        if own.peak > before:
            blocks.peak_time = call.time

    def _give(self, call: Call, blocks: _Blocks, address: int) -> None:
        block = blocks.live.pop(address, None)
        if block is not None:
            self._end(blocks, block)
        elif address in blocks.gone:
            self._note(call, blocks, address)
        else:
            blocks.unknown += 1
        gone = blocks.gone
        gone.pop(address, None)
        if len(gone) >= MOST_GONE:
            del gone[next(iter(gone))]
        gone[address] = call.site

    def _end(self, blocks: _Blocks, block: int) -> None:
        size, origin = block >> ORIGIN_BITS, block & ORIGIN_MASK
        for counts in (self._counts[origin], self.total, blocks.counts):
            counts.give(size)

    def _note(self, call: Call, blocks: _Blocks, address: int) -> None:
        if not self._takes(call.maker[1], call.maker[2]):
            return
        self.double_free_count += 1
        if len(self._doubles) < MOST_DOUBLE_FREES:
            self._doubles.append((call, address, blocks.gone[address]))

    def found_sites(self, read: Reading) -> list[MemorySite]:
        """Return where memory was asked for, that of which most is left first.

        Args:
            read: What was read.
        """
        found = [
            MemorySite(
                site=read.sites.all[site],
                path=tuple(_name(one, read) for one in read.paths.sites(path)),
                **_facts(self._counts[origin]),
            )
            for (path, site), origin in self._origins.items()
        ]
        return sorted(found, key=lambda one: (one.live, one.allocated), reverse=True)

    def found_processes(self, read: Reading) -> list[ProcessMemory]:
        """Return the processes, the one with most memory first.

        Args:
            read: What was read.
        """
        found = [
            ProcessMemory(
                process=_process(key, read),
                peak_time=None if one.peak_time is None else Nanoseconds(one.peak_time),
                unknown_frees=one.unknown,
                failed=one.failed,
                **_facts(one.counts),
            )
            for key, one in self._processes.items()
        ]
        return sorted(found, key=lambda one: one.peak, reverse=True)

    def found_double_frees(self, read: Reading) -> list[DoubleFree]:
        """Return blocks that were given back twice, in order.

        Args:
            read: What was read.
        """
        return [
            DoubleFree(
                time=Nanoseconds(call.time),
                thread=Thread(
                    process=_process(call.maker[:2], read), tid=call.maker[2]
                ),
                address=address,
                site=read.sites.all[call.site],
                first=read.sites.all[first],
            )
            for call, address, first in self._doubles
        ]


def _name(site: int, read: Reading) -> str:
    found = read.sites.all[site]
    return found.function or str(found)


def _process(key: ProcessKey, read: Reading) -> Process:
    process = None if key[1] is None else Vpid(key[1])
    return Process(process, read.names.get(key), read.traces.get(key[0], ""))


def _facts(counts: MemoryCounts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in MemoryCounts.__slots__}
