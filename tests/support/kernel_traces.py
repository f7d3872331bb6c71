"""Writes traces in the layout of LTTng's kernel tracer: a data stream for each CPU."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vestige import ctf

__all__ = ["Record", "random_records", "write_kernel_trace"]

Record = tuple[int, int, str, dict[str, Any]]
"""CPU, time, name of the event, fields."""
THREADS = 12
CALLS: dict[str, dict[str, Any]] = {
    "read": {"fd": 1, "count": 10},
    "futex": {"fd": 1},
    "openat": {"filename": "/etc/hosts", "flags": 0},
}
"""System calls, and the fields with which they begin."""
WRITER = {"tracer_major": 2, "tracer_minor": 13, "tracer_patchlevel": 0}
"""What readers ask for before they believe that LTTng wrote it."""


def write_kernel_trace(path: Path, records: Iterable[Record]) -> Path:
    """Write a trace.

    Args:
        path: Its directory.
        records: What is in it, in order of time.
    """
    with ctf.Writer(
        path,
        packet_context={"cpu_id": "u32"},
        environment={"domain": "kernel", **WRITER},
    ) as writer:
        classes: dict[str, Any] = {}
        streams: dict[int, Any] = {}
        for cpu, time, name, fields in records:
            if name not in classes:
                kinds: dict[str, Any] = {
                    key: ctf.array("u8", 16, text=True)
                    if key.endswith("comm")
                    else (str if isinstance(value, str) else "s32")
                    for key, value in fields.items()
                }
                classes[name] = writer.event_class(name, kinds)
            if cpu not in streams:
                streams[cpu] = writer.stream(f"channel0_{cpu}", cpu_id=cpu)
            streams[cpu].write(classes[name], time, **fields)
    return path


def random_records(seed: int, count: int, cpus: int = 3) -> list[Record]:
    """Return what a machine may do, the same for a seed.

    Args:
        seed: Chooses it.
        count: About how many records.
        cpus: How many CPUs there are.
    """
    chance = random.Random(seed)  # noqa: S311 - the same each time, no secret
    running = [0] * cpus
    in_call: dict[int, str] = {}
    records: list[Record] = []
    time = 1_000
    while len(records) < count:
        time += chance.randrange(1, 500)
        cpu = chance.randrange(cpus)
        thread = running[cpu]
        kind = chance.random()
        if kind < 0.4:
            free = [0, *(set(range(1, THREADS)) - set(running))]
            chosen = chance.choice(free)
            fields = {
                "prev_comm": f"worker {thread}",
                "prev_tid": thread,
                "prev_prio": 20,
                "next_comm": f"worker {chosen}",
                "next_tid": chosen,
                "next_prio": 20,
            }
            records.append((cpu, time, "sched_switch", fields))
            running[cpu] = chosen
        elif kind < 0.6:
            woken = chance.randrange(1, THREADS)
            fields = {
                "comm": f"worker {woken}",
                "tid": woken,
                "prio": 20,
                "target_cpu": cpu,
            }
            records.append((cpu, time, "sched_waking", fields))
        elif kind < 0.7:
            records.append((cpu, time, "irq_handler_entry", {"irq": 7, "name": "disk"}))
            time += chance.randrange(1, 50)
            records.append((cpu, time, "irq_handler_exit", {"irq": 7, "ret": 1}))
        elif thread and thread in in_call:
            name = in_call.pop(thread)
            records.append((cpu, time, f"syscall_exit_{name}", {"ret": 0}))
        elif thread:
            in_call[thread] = name = chance.choice([*CALLS])
            records.append((cpu, time, f"syscall_entry_{name}", CALLS[name]))
    return records
