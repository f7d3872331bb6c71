"""Performance counters: their names, and what perf_event_open(2) knows them by."""

from __future__ import annotations

import re

from ..._typing import NamedTuple

__all__ = ["CACHE", "COUNTERS", "HARDWARE", "RAW", "SOFTWARE", "Counter", "cpu_counter"]

HARDWARE, SOFTWARE, CACHE, RAW = 0, 1, 3, 4
"""Types of counters, perf_event_open(2)."""


def _cache_counters() -> dict[str, tuple[int, int]]:
    """Return the counters of caches: which one, operation << 8, misses << 16."""
    counters = {}
    kinds = {
        "L1-dcache": (0, "loads stores prefetches"),
        "L1-icache": (1, "loads stores prefetches"),
        "LLC": (2, "loads stores prefetches"),
        "dTLB": (3, "loads stores prefetches"),
        "iTLB": (4, "loads"),
        "branch": (5, "loads"),
    }
    for kind, (number, operations) in kinds.items():
        for operation, name in enumerate(operations.split()):
            config = number | operation << 8
            one = name.removesuffix("es") if name.endswith("ches") else name[:-1]
            counters[f"{kind}-{name}"] = (CACHE, config)
            counters[f"{kind}-{one}-misses"] = (CACHE, config | 1 << 16)
    return counters


COUNTERS = {
    "cpu-cycles": (HARDWARE, 0),
    "cycles": (HARDWARE, 0),
    "stalled-cycles-frontend": (HARDWARE, 7),
    "idle-cycles-frontend": (HARDWARE, 7),
    "stalled-cycles-backend": (HARDWARE, 8),
    "idle-cycles-backend": (HARDWARE, 8),
    "instructions": (HARDWARE, 1),
    "cache-references": (HARDWARE, 2),
    "cache-misses": (HARDWARE, 3),
    "branch-instructions": (HARDWARE, 4),
    "branches": (HARDWARE, 4),
    "branch-misses": (HARDWARE, 5),
    "bus-cycles": (HARDWARE, 6),
    **_cache_counters(),
    "cpu-clock": (SOFTWARE, 0),
    "task-clock": (SOFTWARE, 1),
    "page-fault": (SOFTWARE, 2),
    "faults": (SOFTWARE, 2),
    "major-faults": (SOFTWARE, 6),
    "minor-faults": (SOFTWARE, 5),
    "context-switches": (SOFTWARE, 3),
    "cs": (SOFTWARE, 3),
    "cpu-migrations": (SOFTWARE, 4),
    "migrations": (SOFTWARE, 4),
    "alignment-faults": (SOFTWARE, 7),
    "emulation-faults": (SOFTWARE, 8),
}
"""By LTTng's names, without ``perf:cpu:`` or ``perf:thread:``: type and which."""

_OF_CPUS = "perf:cpu:"
_RAW_COUNTER = re.compile(r"raw:r([0-9a-fA-F]{1,16}):([^:]+)")
_FIELD = re.compile(r"\w+", re.ASCII)


class Counter(NamedTuple):
    """A counter of CPUs, as a context of events."""

    field: str
    """Its field in a trace, such as ``perf_cpu_page_fault``."""

    type: int
    config: int


def cpu_counter(context: str) -> Counter | None:
    """Return the counter that a context stands for.

    Args:
        context: LTTng's name, such as ``perf:cpu:cycles`` or ``perf:cpu:raw:r3c:name``.

    Returns:
        The counter; ``None``: it is no such name.
    """
    if not context.startswith(_OF_CPUS):
        return None
    name = context.removeprefix(_OF_CPUS)
    if raw := _RAW_COUNTER.fullmatch(name):
        name, kind, config = raw[2], RAW, int(raw[1], 16)
    elif name in COUNTERS:
        kind, config = COUNTERS[name]
    else:
        return None
    field = re.sub(r"[:-]", "_", _OF_CPUS + name)
    # Metadata have such names only.
    return Counter(field, kind, config) if _FIELD.fullmatch(field) else None
