"""What is found about memory."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...damage import Damage
from ...graph import LostNotice
from ...notebook import Picture, rows_html, with_picture
from ...units import Nanoseconds
from ..sites import Site
from ..threads import Process, Thread

__all__ = ["DoubleFree", "Memory", "MemoryCounts", "MemorySite", "ProcessMemory"]


@dataclass(slots=True, kw_only=True)
class MemoryCounts:
    """Blocks of memory as they were asked for, without what the allocator adds."""

    allocations: int = 0
    """How many blocks were got."""
    allocated: int = 0
    """Their bytes."""
    freed: int = 0
    """How many of these blocks were given back."""
    live: int = 0
    """Bytes that are not given back."""
    peak: int = 0
    """Most bytes at a time."""
    longest_block: int = 0
    """Bytes of the largest block."""

    @property
    def live_blocks(self) -> int:
        """How many blocks are not given back."""
        return self.allocations - self.freed

    @property
    def churned(self) -> int:
        """Bytes that were got and given back."""
        return self.allocated - self.live


@dataclass(slots=True, kw_only=True)
class MemorySite(MemoryCounts):
    """A place that asks for memory."""

    site: Site
    """The place."""
    path: tuple[str, ...] = ()
    """The functions that led there, the outermost first, where they were followed."""

    def __str__(self) -> str:
        """Write who asked for it, for people."""
        path = self.path
        if path and path[-1] == self.site.function:
            # The place is in the innermost of them.
            path = path[:-1]
        return " > ".join((*path, str(self.site)))


@dataclass(slots=True, kw_only=True)
class ProcessMemory(MemoryCounts):
    """The memory of a process."""

    process: Process
    """The process."""
    peak_time: Nanoseconds | None = None
    """When it had most."""
    unknown_frees: int = 0
    """Blocks that were given back and not seen to be got: before the recording, by the
    parent of a forked process, or lost."""
    failed: int = 0
    """How often there was no memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubleFree:
    """A block that was given back when it was no more."""

    time: Nanoseconds
    """When."""
    thread: Thread
    """Who gave it back the second time."""
    address: int
    """The block."""
    site: Site
    """Where it was given back the second time."""
    first: Site
    """Where it was given back before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What is known of the memory of some traces."""

    processes: list[ProcessMemory]
    """The processes, the one with most memory first."""
    sites: list[MemorySite]
    """Where memory was asked for, that of which most is left first."""
    double_frees: list[DoubleFree]
    """Blocks that were given back twice: the first ones."""
    double_free_count: int = 0
    """How many there are."""
    total: MemoryCounts = field(default_factory=MemoryCounts)
    """All processes together."""
    events: int = 0
    """How many event records about memory were read."""
    losses: list[LostNotice] = field(default_factory=list)
    """What the tracer lost: with it, blocks may seem to be left."""
    damage: list[Damage] = field(default_factory=list)
    """What could not be read."""
    picture: Picture | None = field(default=None, repr=False, compare=False)
    """Draws the page of the trace for notebooks."""

    def _repr_html_(self) -> str:
        """Show in a notebook where memory was asked for."""
        head = ("live bytes", "live blocks", "bytes", "blocks", "peak bytes", "place")
        rows = [
            (
                one.live,
                one.live_blocks,
                one.allocated,
                one.allocations,
                one.peak,
                one,
            )
            for one in self.sites
        ]
        return with_picture(rows_html("Memory", head, rows), self.picture)
