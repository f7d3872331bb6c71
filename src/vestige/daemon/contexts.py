"""The context fields that add-context knows, as lttng-add-context(1) lists them."""

from __future__ import annotations

import re

from .._typing import NamedTuple

__all__ = ["CONTEXT_NAMES", "ContextType", "context_type", "kernel_refusal"]

_PLAIN = (
    *("pid", "procname", "prio", "nice", "vpid", "tid", "pthread_id", "vtid", "ppid"),
    *("vppid", "hostname", "ip", "interruptible", "preemptible", "need_reschedule"),
    *("migratable", "callstack-kernel", "callstack-user", "cgroup_ns", "ipc_ns"),
    *("mnt_ns", "net_ns", "pid_ns", "time_ns", "user_ns", "uts_ns", "uid", "euid"),
    *("suid", "gid", "egid", "sgid", "vuid", "veuid", "vsuid", "vgid", "vegid"),
    "vsgid",
)
_OF_USER_SPACE = {
    *("procname", "vpid", "pthread_id", "vtid", "ip", "cgroup_ns", "ipc_ns", "mnt_ns"),
    *("net_ns", "pid_ns", "time_ns", "user_ns", "uts_ns", "vuid", "veuid", "vsuid"),
    *("vgid", "vegid", "vsgid"),
}
_NOT_OF_KERNEL = {"pthread_id", "ip"}
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


_COUNTERS = {
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
CONTEXT_NAMES = (
    *_PLAIN,
    *(f"perf:{of}:{name}" for of in ("cpu", "thread") for name in _COUNTERS),
)
"""All names, in the order in which they are listed."""

_RAW_COUNTER = re.compile(r"perf:(cpu|thread):raw:r([0-9a-fA-F]{1,16}):([^:]+)")
_APPLICATION = re.compile(r"\$app\.([^:]+):(.+)")


class ContextType(NamedTuple):
    """What a name of a context stands for."""

    kind: str
    """The name in machine interface and configurations; ``PERF`` and ``APP``."""

    name: str
    is_of_user_space: bool
    type: int = 0
    """Of a counter: perf_event_open(2)."""

    config: int = 0
    """As above."""

    @property
    def is_of_kernel(self) -> bool:
        """Whether LTTng has it for the kernel."""
        if self.kind == "PERF":
            return not self.is_of_user_space
        return self.kind != "APP" and self.name not in _NOT_OF_KERNEL

    @property
    def counter_field(self) -> str:
        """The name of the field of a counter: ``perf_thread_instructions``."""
        name = self.name
        if raw := _RAW_COUNTER.fullmatch(name):
            name = f"perf:{raw[1]}:{raw[3]}"
        return re.sub(r"[:-]", "_", name)

    @property
    def application(self) -> tuple[str, str]:
        """Provider and type of a context of a program; empty for others."""
        found = _APPLICATION.fullmatch(self.name)
        return (found[1], found[2]) if found else ("", "")


def context_type(name: str) -> ContextType | None:
    """Return what a name stands for; ``None`` if it is no context's.

    Args:
        name: As it follows ``--type``.
    """
    if name in _PLAIN:
        kind = name.replace("-", "_").upper()
        return ContextType(kind, name, name in _OF_USER_SPACE)
    if raw := _RAW_COUNTER.fullmatch(name):
        return ContextType("PERF", name, raw[1] == "thread", RAW, int(raw[2], 16))
    if _APPLICATION.fullmatch(name):
        return ContextType("APP", name, is_of_user_space=True)
    start, _, counter = name.rpartition(":")
    if start in {"perf:cpu", "perf:thread"} and counter in _COUNTERS:
        return ContextType("PERF", name, start == "perf:thread", *_COUNTERS[counter])
    return None


def kernel_refusal(kind: ContextType) -> str | None:
    """Say why events of the kernel cannot have a context, ``None`` if they can.

    Args:
        kind: One that is of the kernel.
    """
    if kind.kind == "PERF":
        return "tracefs reads no performance counters at its events"
    return None
