"""Following mutexes through their events: who has which, and who waits.

An event of an unlock is made after it, so another thread may have the mutex before:
then the time of the first owner ends there, and its unlock ends nothing. It is the same
with ``pthread_cond_wait``, which unlocks a mutex without an event.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush, heappushpop
from itertools import count

from ..._typing import TYPE_CHECKING, NamedTuple
from ...units import Nanoseconds, Vpid
from ..threads import Process, Thread
from .found import Blocking, Lock, LockCounts, LockSite, LongWait

if TYPE_CHECKING:
    from ..call_paths import Maker
    from ..resource_events import Call, CallKind, Reading

__all__ = ["CALLS", "LockFollower"]

PROVIDER = "lttng_ust_pthread:pthread_mutex_"
CALLS: tuple[CallKind, ...] = (
    (f"{PROVIDER}lock_req", ("mutex",)),
    (f"{PROVIDER}lock_acq", ("mutex", "status")),
    (f"{PROVIDER}trylock", ("mutex", "status")),
    (f"{PROVIDER}unlock", ("mutex", "status")),
)
"""What is read, with the numbers that are needed."""
MutexKey = tuple[int, int | None, int]
"""Process space, process ID, address."""


class _Owner:
    # Who has a mutex.
    __slots__ = ("depth", "since", "site", "thread")

    def __init__(self, thread: Maker, since: int, site: int) -> None:
        self.thread = thread
        self.since = since
        self.site = site
        self.depth = 1


class _Wanted(NamedTuple):
    # What a thread waits for.
    mutex: MutexKey
    since: int
    site: int
    holder: Maker | None
    holding: int


class LockFollower:
    """Follows the mutexes of traces.

    Args:
        longest: How many of the longest waits are kept.
        takes: Whether what a thread does counts, by its process ID and its own.
    """

    def __init__(
        self, longest: int, takes: Callable[[int | None, int | None], bool]
    ) -> None:
        self._longest = longest
        self._takes = takes
        self._owners: dict[MutexKey, _Owner] = {}
        self._wanted: dict[Maker, _Wanted] = {}
        self._waiters: dict[MutexKey, set[Maker]] = {}
        self._users: dict[MutexKey, set[Maker]] = {}
        self._order = count()
        self._heap: list[tuple[int, int, Maker, _Wanted]] = []
        self.events = 0
        self.has_unknown_threads = False
        self.locks: dict[MutexKey, LockCounts] = {}
        self.sites: dict[int, LockCounts] = {}
        self.pairs: dict[tuple[int, int], list[int]] = {}
        self.total = LockCounts()
        self._steps = (self._request, self._acquire, self._try, self._unlock)

    def take(self, call: Call) -> None:
        """Take the next call.

        Args:
            call: It, of one of :data:`CALLS`.
        """
        self.events += 1
        space, process, thread = call.maker
        if thread is None:
            self.has_unknown_threads = True
            return
        address, status, *_ = call.values
        self._steps[call.kind](call, (space, process, address), status != 0)

    def _request(self, call: Call, mutex: MutexKey, _has_failed: object) -> None:
        owner, who = self._owners.get(mutex), call.maker
        if owner is None or owner.thread == who:
            holder, holding = None, 0
        else:
            holder, holding = owner.thread, owner.site
        self._end_wait(who)
        self._wanted[who] = _Wanted(mutex, call.time, call.site, holder, holding)
        self._waiters.setdefault(mutex, set()).add(who)

    def _acquire(self, call: Call, mutex: MutexKey, has_failed: bool) -> None:  # noqa: FBT001 - as the others
        who, time = call.maker, call.time
        wanted = self._wanted.get(who)
        if has_failed:
            self._end_wait(who)
            self._fail(call, mutex)
            return
        if wanted is None or wanted.mutex != mutex:
            # Its request was lost, or is before the range of time.
            self._end_wait(who)
            self._own(who, mutex, time, call.site)
            return
        self._own(who, mutex, time, wanted.site)
        self._end_wait(who)
        if not self._takes(who[1], who[2]):
            return
        waited, blocked = max(0, time - wanted.since), wanted.holder is not None
        for counts in self._counts(mutex, wanted.site):
            counts.wait(waited, blocked=blocked)
        self._keep(waited, who, wanted)

    def _end_wait(self, who: Maker) -> None:
        wanted = self._wanted.pop(who, None)
        if wanted is not None:
            waiters = self._waiters.get(wanted.mutex, set())
            waiters.discard(who)
            if not waiters:
                self._waiters.pop(wanted.mutex, None)

    def _try(self, call: Call, mutex: MutexKey, has_failed: bool) -> None:  # noqa: FBT001 - as the others
        if has_failed:
            self._fail(call, mutex)
            return
        self._own(call.maker, mutex, call.time, call.site)
        if self._takes(call.maker[1], call.maker[2]):
            for counts in self._counts(mutex, call.site):
                counts.wait(0, blocked=False)

    def _unlock(self, call: Call, mutex: MutexKey, has_failed: bool) -> None:  # noqa: FBT001 - as the others
        owner = self._owners.get(mutex)
        if has_failed or owner is None or owner.thread != call.maker:
            return
        owner.depth -= 1
        if owner.depth == 0:
            self._release(mutex, owner, call.time)

    def _fail(self, call: Call, mutex: MutexKey) -> None:
        if self._takes(call.maker[1], call.maker[2]):
            for counts in self._counts(mutex, call.site):
                counts.failed += 1

    def _own(self, who: Maker, mutex: MutexKey, time: int, site: int) -> None:
        owner = self._owners.get(mutex)
        if owner is not None:
            if owner.thread == who:
                owner.depth += 1
                return
            self._release(mutex, owner, time)
        self._owners[mutex] = _Owner(who, time, site)
        if self._takes(who[1], who[2]):
            self._users.setdefault(mutex, set()).add(who)

    def _release(self, mutex: MutexKey, owner: _Owner, time: int) -> None:
        del self._owners[mutex]
        for waiter in self._waiters.get(mutex, ()):
            if waiter != owner.thread and self._takes(waiter[1], waiter[2]):
                self._block(self._wanted[waiter], owner, time)
        if self._takes(owner.thread[1], owner.thread[2]):
            for counts in self._counts(mutex, owner.site):
                counts.hold(max(0, time - owner.since))

    def _block(self, wanted: _Wanted, owner: _Owner, time: int) -> None:
        """Count how long an owner was in the way of somebody who waits still."""
        waited = max(0, time - max(wanted.since, owner.since))
        pair = self.pairs.setdefault((wanted.site, owner.site), [0, 0, 0])
        pair[0] += 1
        pair[1] += waited
        pair[2] = max(pair[2], waited)

    def _counts(self, mutex: MutexKey, site: int) -> tuple[LockCounts, ...]:
        lock = self.locks.get(mutex)
        if lock is None:
            lock = self.locks[mutex] = LockCounts()
        at = self.sites.get(site)
        if at is None:
            at = self.sites[site] = LockCounts()
        return lock, at, self.total

    def _keep(self, waited: int, who: Maker, wanted: _Wanted) -> None:
        # The first of equal ones stays.
        item = waited, -next(self._order), who, wanted
        if len(self._heap) < self._longest:
            heappush(self._heap, item)
        elif self._heap and item > self._heap[0]:
            heappushpop(self._heap, item)

    @property
    def waiting(self) -> int:
        """How many threads wait."""
        return len(self._wanted)

    @property
    def still_held(self) -> int:
        """How many mutexes are locked."""
        return len(self._owners)

    def found_locks(self, read: Reading) -> list[Lock]:
        """Return the mutexes, that which was waited for longest first.

        Args:
            read: What was read.
        """
        found = [
            Lock(
                process=_process(key[:2], read),
                address=key[2],
                threads=len(self._users.get(key, ())),
                **_facts(counts),
            )
            for key, counts in self.locks.items()
        ]
        return sorted(found, key=_weight, reverse=True)

    def found_sites(self, read: Reading) -> list[LockSite]:
        """Return where mutexes were locked, the one that waited longest first.

        Args:
            read: What was read.
        """
        found = [
            LockSite(site=read.sites.all[site], **_facts(counts))
            for site, counts in self.sites.items()
        ]
        return sorted(found, key=_weight, reverse=True)

    def found_blockings(self, read: Reading) -> list[Blocking]:
        """Return who blocked whom, the longest time first.

        Args:
            read: What was read.
        """
        found = [
            Blocking(
                waiting=read.sites.all[waiting],
                holding=read.sites.all[holding],
                count=times,
                waited=waited,
                longest=longest,
            )
            for (waiting, holding), (times, waited, longest) in self.pairs.items()
        ]
        return sorted(found, key=lambda one: one.waited, reverse=True)

    def found_waits(self, read: Reading) -> list[LongWait]:
        """Return the longest waits.

        Args:
            read: What was read.
        """
        return [
            LongWait(
                begin=Nanoseconds(wanted.since),
                duration=Nanoseconds(waited),
                thread=_thread(who, read),
                site=read.sites.all[wanted.site],
                address=wanted.mutex[2],
                holder=None if wanted.holder is None else _thread(wanted.holder, read),
                holding=None
                if wanted.holder is None
                else read.sites.all[wanted.holding],
            )
            for waited, _, who, wanted in sorted(self._heap, reverse=True)
        ]


def _process(key: tuple[int, int | None], read: Reading) -> Process:
    process = None if key[1] is None else Vpid(key[1])
    return Process(process, read.names.get(key), read.traces.get(key[0], ""))


def _thread(maker: Maker, read: Reading) -> Thread:
    return Thread(process=_process(maker[:2], read), tid=maker[2])


def _facts(counts: LockCounts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in LockCounts.__slots__}


def _weight(counts: LockCounts) -> tuple[int, int]:
    return counts.waited, counts.held
