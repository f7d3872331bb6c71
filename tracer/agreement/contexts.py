"""Contexts: what event records may tell of their thread and process.

Names and types are those of LTTng-UST, see lttng-add-context(1), but for addresses of
code, which have 48 bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .terms import (
    CHARACTER,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    NAME_OF_THREAD,
    PLACE,
    TEXT,
    U8,
    U16,
    U32,
    U64,
    Constant,
    Kind,
    Member,
)

__all__ = ["CONSTANTS", "CONTEXTS", "COUNTERS", "VALUES", "Context", "Counter"]


@dataclass(frozen=True)
class Context:
    """A field that each event record has.

    Args:
        member: The field.
        about: What it tells, for people.
    """

    member: Member
    about: str = field(default="", compare=False, repr=False)


def _context(name: str, kind: Kind, about: str) -> Context:
    return Context(Member(name, kind), about)


def _namespace(name: str, of: str) -> Context:
    return _context(name, U64, f"inode of the {of} namespace")


def _owner(name: str, of: str) -> Context:
    return _context(name, U32, f"{of}, as the process sees it")


CONTEXTS = (
    _context("ip", PLACE, "address of the code that made the event"),
    # Babeltrace finds places for no other size.
    _context("vpid", I32, "process ID, as the process sees it"),
    _context("vtid", I32, "thread ID, as the process sees it"),
    Context(Member("procname", CHARACTER, NAME_OF_THREAD + 1), "name of the thread"),
    _context("cpu_id", U16, "number of the CPU"),
    _context("pthread_id", U64, "POSIX thread ID, of pthread_self(3)"),
    _namespace("cgroup_ns", "control group"),
    _namespace("ipc_ns", "interprocess communication"),
    _namespace("mnt_ns", "mount point"),
    _namespace("net_ns", "network"),
    _namespace("pid_ns", "process ID"),
    _namespace("time_ns", "time"),
    _namespace("user_ns", "user"),
    _namespace("uts_ns", "host name"),
    _owner("vuid", "real user ID"),
    _owner("vgid", "real group ID"),
    _owner("veuid", "effective user ID"),
    _owner("vegid", "effective group ID"),
    _owner("vsuid", "saved set-user-ID"),
    _owner("vsgid", "saved set-group-ID"),
)
"""In the order in which they are written; counters follow, in the order in which they
are asked for."""

VALUES: tuple[tuple[str, Kind | None], ...] = (
    ("none", None),
    ("int8", I8),
    ("int16", I16),
    ("int32", I32),
    ("int64", I64),
    ("uint8", U8),
    ("uint16", U16),
    ("uint32", U32),
    ("uint64", U64),
    ("float", F32),
    ("double", F64),
    ("string", TEXT),
)
"""What a context of an application may be at an event. In records, a byte with the place in
this list comes first."""

CONSTANTS = (
    Constant("MOST_COUNTERS", 8, about="Of one recording."),
    Constant("COUNTER_PREFIX", "perf:thread:"),
    Constant("MOST_APPLICATION_CONTEXTS", 16, about="In each record of a recording."),
    Constant("MOST_APPLICATION_OPERANDS", 6, about="Different ones in a filter."),
    Constant("LONGEST_APPLICATION_NAME", 255, about="With its prefix."),
    Constant("APPLICATION_PREFIX", "$app."),
)


@dataclass(frozen=True)
class Counter:
    """Something that is counted for each thread.

    Args:
        name: As perf(1) and lttng-add-context(1) have it.
        source: Where the tracer has it from, in the words of perf_counter.c.
    """

    name: str
    source: str

    @property
    def is_of_kernel(self) -> bool:
        """Whether the kernel counts it, and not the processor."""
        return self.source.startswith("KERNEL(")


def _cache(name: str, cache: str, *operations: str) -> list[Counter]:
    found = []
    for one in operations:
        several = f"{one}es" if one == "prefetch" else f"{one}s"
        source = f"CACHE({cache}, {one.upper() if one != 'load' else 'READ'}"
        source = source.replace("STORE", "WRITE")
        found.append(Counter(f"{name}-{several}", f"{source}, ACCESS)"))
        found.append(Counter(f"{name}-{one}-misses", f"{source}, MISS)"))
    return found


COUNTERS = (
    Counter("page-fault", "KERNEL(PAGE_FAULTS)"),
    Counter("faults", "KERNEL(PAGE_FAULTS)"),
    Counter("major-faults", "KERNEL(MAJOR_FAULTS)"),
    Counter("minor-faults", "KERNEL(MINOR_FAULTS)"),
    Counter("context-switches", "KERNEL(CONTEXT_SWITCHES)"),
    Counter("cs", "KERNEL(CONTEXT_SWITCHES)"),
    Counter("cpu-clock", "KERNEL(CPU_TIME)"),
    Counter("task-clock", "KERNEL(CPU_TIME)"),
    Counter("cpu-cycles", "HARDWARE(CPU_CYCLES)"),
    Counter("cycles", "HARDWARE(CPU_CYCLES)"),
    Counter("instructions", "HARDWARE(INSTRUCTIONS)"),
    Counter("cache-references", "HARDWARE(CACHE_REFERENCES)"),
    Counter("cache-misses", "HARDWARE(CACHE_MISSES)"),
    Counter("branch-instructions", "HARDWARE(BRANCH_INSTRUCTIONS)"),
    Counter("branches", "HARDWARE(BRANCH_INSTRUCTIONS)"),
    Counter("branch-misses", "HARDWARE(BRANCH_MISSES)"),
    Counter("bus-cycles", "HARDWARE(BUS_CYCLES)"),
    Counter("stalled-cycles-frontend", "HARDWARE(STALLED_CYCLES_FRONTEND)"),
    Counter("idle-cycles-frontend", "HARDWARE(STALLED_CYCLES_FRONTEND)"),
    Counter("stalled-cycles-backend", "HARDWARE(STALLED_CYCLES_BACKEND)"),
    Counter("idle-cycles-backend", "HARDWARE(STALLED_CYCLES_BACKEND)"),
    *_cache("L1-dcache", "L1D", "load", "store", "prefetch"),
    *_cache("L1-icache", "L1I", "load", "store", "prefetch"),
    *_cache("LLC", "LL", "load", "store", "prefetch"),
    *_cache("dTLB", "DTLB", "load", "store", "prefetch"),
    *_cache("iTLB", "ITLB", "load"),
    *_cache("branch", "BPU", "load"),
)
