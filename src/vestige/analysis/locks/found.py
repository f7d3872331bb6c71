"""What is found about mutexes."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...damage import Damage
from ...graph import LostNotice
from ...notebook import Picture, rows_html, with_picture
from ...units import Nanoseconds
from ..sites import Site
from ..threads import Process, Thread

__all__ = ["Blocking", "Lock", "LockCounts", "LockSite", "Locks", "LongWait"]


@dataclass(slots=True, kw_only=True)
class LockCounts:
    """How often something was locked, and how long that took."""

    acquired: int = 0
    """How often it was locked, with ``trylock`` too."""
    blocked: int = 0
    """How often a thread wanted it while another one had it."""
    waited: int = 0
    """Nanoseconds from wanting it to having it, all together."""
    longest_wait: int = 0
    """The longest of these, nanoseconds."""
    held: int = 0
    """Nanoseconds that it was held, all together."""
    longest_hold: int = 0
    """The longest time that it was held, nanoseconds."""
    failed: int = 0
    """How often ``trylock`` or ``lock`` did not give it."""


@dataclass(slots=True, kw_only=True)
class Lock(LockCounts):
    """A mutex of a process."""

    process: Process
    """The process."""
    address: int
    """Where the mutex is in its memory."""
    threads: int = 0
    """How many threads had it."""


@dataclass(slots=True, kw_only=True)
class LockSite(LockCounts):
    """A place where mutexes are locked."""

    site: Site
    """The place."""


@dataclass(slots=True, kw_only=True)
class Blocking:
    """A place that waited for what was locked at another one."""

    waiting: Site
    """Where a mutex was wanted."""
    holding: Site
    """Where the thread that had it then had locked it."""
    count: int = 0
    """How many locks were in the way of how many waits, one by one."""
    waited: int = 0
    """How long all together, nanoseconds: of each wait the time of that lock."""
    longest: int = 0
    """How long a lock was in the way of a wait at most, nanoseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongWait:
    """A wait for a mutex."""

    begin: Nanoseconds
    """When it was wanted."""
    duration: Nanoseconds
    """How long it took."""
    thread: Thread
    """Who waited."""
    site: Site
    """Where."""
    address: int
    """The mutex."""
    holder: Thread | None
    """Who had it when it was wanted, if that is known."""
    holding: Site | None
    """Where that thread had locked it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Locks:
    """What is known of the mutexes of some traces."""

    locks: list[Lock]
    """The mutexes, the one that was waited for longest first."""
    sites: list[LockSite]
    """Where they were locked, the one that waited longest first."""
    blockings: list[Blocking]
    """Who blocked whom, the longest time first."""
    longest: list[LongWait]
    """The longest waits."""
    total: LockCounts
    """All together."""
    events: int = 0
    """How many event records about mutexes were read."""
    waiting: int = 0
    """How many threads waited when the trace ended; they are in no count."""
    still_held: int = 0
    """How many mutexes were locked when the trace ended; that time is in no count."""
    losses: list[LostNotice] = field(default_factory=list)
    """What the tracer lost: with it, some waits are too long, or not known."""
    damage: list[Damage] = field(default_factory=list)
    """What could not be read."""
    picture: Picture | None = field(default=None, repr=False, compare=False)
    """Draws the page of the trace for notebooks."""

    def _repr_html_(self) -> str:
        """Show the mutexes in a notebook."""
        head = ("mutex", "acquired", "blocked", "waited ns", "longest ns", "held ns")
        rows = [
            (
                f"{one.address:#x}",
                one.acquired,
                one.blocked,
                one.waited,
                one.longest_wait,
                one.held,
            )
            for one in self.locks
        ]
        return with_picture(rows_html("Mutexes", head, rows), self.picture)
