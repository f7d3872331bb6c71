"""Records of input and output as LTTng's kernel tracer makes them, and what they mean."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, NamedTuple

from .kernel_traces import Record

__all__ = ["IoModel", "io_records"]

CALLS = {
    "read": ("pread64", "read", "recvfrom"),
    "write": ("sendto", "write"),
    "open": ("openat",),
    "sync": ("fsync",),
}
FIELDS: dict[str, dict[str, Any]] = {
    "openat": {"filename": "/etc/hosts", "flags": 0},
    "recvfrom": {"size": 5000},
    "sendto": {"len": 5000},
    "fsync": {},
}
"""What calls have besides a file; the others have a number of bytes."""
DISKS = (8 << 20, 8 << 20 | 16)


class IoModel(NamedTuple):
    """What happened, counted while the records were made."""

    bytes: Counter[tuple[str, int]]
    """Bytes by kind of system call and thread."""
    times: dict[str, list[int]]
    """Durations of the system calls of a kind, nanoseconds."""
    failed: Counter[int]
    """Calls that failed, by thread."""
    disks: dict[int, list[tuple[int, int, bool]]]
    """By disk, the requests that it completed: time, sectors, whether it writes."""
    networks: Counter[tuple[str, str]]
    """Bytes by interface and direction."""
    pages: Counter[tuple[str, int]]
    """Pages allocated and freed, by thread."""


def io_records(seed: int, count: int) -> tuple[list[Record], IoModel]:
    """Return what a machine with two CPUs and three threads may do.

    Args:
        seed: Chooses it.
        count: About how many records.
    """
    chance = random.Random(seed)  # noqa: S311 - the same each time, no secret
    model = IoModel(
        Counter(), {kind: [] for kind in CALLS}, Counter(), {}, Counter(), Counter()
    )
    machine = _Machine(chance, model)
    while len(machine.records) < count:
        machine.step()
    return machine.records, model


class _Machine:
    def __init__(self, chance: random.Random, model: IoModel) -> None:
        self.records: list[Record] = []
        self._chance = chance
        self._model = model
        self._time = 1000
        self._running = [0, 0]
        self._calls: dict[int, tuple[str, str, int]] = {}
        self._requests: list[tuple[int, int, int, bool, int]] = []

    def _put(self, cpu: int, event: str, /, **fields: Any) -> None:
        self.records.append((cpu, self._time, event, fields))

    def step(self) -> None:
        """Go on by one record."""
        chance = self._chance
        self._time += chance.randrange(1, 400)
        cpu = chance.randrange(2)
        thread = self._running[cpu]
        kind = chance.random()
        if kind < 0.25 or not thread:
            chosen = chance.choice([0, *({11, 12, 13} - set(self._running))])
            self._running[cpu] = chosen
            self._put(
                cpu, "sched_switch", prev_tid=thread, prev_comm=f"worker {thread}",
                prev_prio=20, next_tid=chosen, next_comm=f"worker {chosen}",
                next_prio=20,
            )  # fmt: skip
        elif kind < 0.75:
            self._system_call(cpu, thread)
        elif kind < 0.85:
            self._disk(cpu, thread)
        elif kind < 0.93:
            name, size = chance.choice(("eth0", "lo")), chance.randrange(40, 1500)
            sends = chance.random() < 0.5
            self._put(
                cpu,
                "net_dev_xmit" if sends else "netif_receive_skb",
                len=size,
                name=name,
            )
            self._model.networks[name, "sent" if sends else "received"] += size
        else:
            what = chance.choice(("alloc", "free"))
            self._put(cpu, f"kmem_mm_page_{what}", order=0)
            self._model.pages[what, thread] += 1

    def _system_call(self, cpu: int, thread: int) -> None:
        chance, model = self._chance, self._model
        call = self._calls.pop(thread, None)
        if call is None:
            kind = chance.choice([*CALLS])
            name = chance.choice(CALLS[kind])
            self._calls[thread] = kind, name, self._time
            self._put(
                cpu,
                f"syscall_entry_{name}",
                fd=thread,
                **FIELDS.get(name, {"count": 5000}),
            )
            return
        kind, name, begin = call
        result = chance.choice((-11, chance.randrange(5000)))
        self._put(cpu, f"syscall_exit_{name}", ret=result)
        model.times[kind].append(self._time - begin)
        if result < 0:
            model.failed[thread] += 1
        elif kind in {"read", "write"}:
            model.bytes[kind, thread] += result

    def _disk(self, cpu: int, thread: int) -> None:
        chance, model = self._chance, self._model
        if self._requests and chance.random() < 0.6:
            disk, sector, sectors, writes, begin = self._requests.pop(
                chance.randrange(len(self._requests))
            )
            self._put(
                cpu, "block_rq_complete", dev=disk, sector=sector, nr_sector=sectors,
                rwbs=int(writes),
            )  # fmt: skip
            row = self._time - begin, sectors, writes
            model.disks.setdefault(disk, []).append(row)
            return
        disk, sector = chance.choice(DISKS), 8 * len(self.records)
        sectors, writes = chance.randrange(1, 64), chance.random() < 0.5
        self._requests.append((disk, sector, sectors, writes, self._time))
        self._put(
            cpu, "block_rq_issue", dev=disk, sector=sector, nr_sector=sectors,
            rwbs=int(writes), tid=thread,
        )  # fmt: skip
        model.bytes["disk write" if writes else "disk read", thread] += 0
