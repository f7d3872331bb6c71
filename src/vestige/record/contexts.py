"""Contexts: what event records may tell of their thread and process.

Names and types are those of LTTng-UST, see lttng-add-context(1), but for addresses of
code, which have 48 bits. ``tracer/src/context.c`` has the same list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import SelectionError

__all__ = [
    "CONTEXTS",
    "CONTEXT_CLASSES",
    "COUNTERS",
    "MOST_COUNTERS",
    "ContextClass",
    "context_classes",
    "counter_class",
]

_CODE = "integer { size = 48; align = 8; signed = false; base = 16; }"
_ID = "integer { size = 32; align = 8; signed = true; }"
"""Of a process or a thread: Babeltrace finds places for no other size."""
_CHARACTER = "integer { size = 8; align = 8; signed = true; encoding = UTF8; }"
_CPU = "integer { size = 16; align = 8; signed = false; }"
_NUMBER = "integer { size = 64; align = 8; signed = false; }"
_OWNER = "integer { size = 32; align = 8; signed = false; }"


class ContextClass(NamedTuple):
    """A field that each event record has."""

    name: str
    """Without the underscore that it has in TSDL."""

    size: int
    """Bytes."""

    field: str
    """Its declaration in TSDL, CTF 1.8.3, section 7."""

    about: str
    """What it tells, for people."""


def _plain(name: str, size: int, kind: str, about: str) -> ContextClass:
    return ContextClass(name, size, f"{kind} _{name};", about)


def _namespace(name: str, of: str) -> ContextClass:
    return _plain(name, 8, _NUMBER, f"inode of the {of} namespace")


def _owner(name: str, of: str) -> ContextClass:
    return _plain(name, 4, _OWNER, f"{of}, as the process sees it")


CONTEXT_CLASSES = (
    _plain("ip", 6, _CODE, "address of the code that made the event"),
    _plain("vpid", 4, _ID, "process ID, as the process sees it"),
    _plain("vtid", 4, _ID, "thread ID, as the process sees it"),
    ContextClass("procname", 17, f"{_CHARACTER} _procname[17];", "name of the thread"),
    _plain("cpu_id", 2, _CPU, "number of the CPU"),
    _plain("pthread_id", 8, _NUMBER, "POSIX thread ID, of pthread_self(3)"),
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
"""In the order in which they are written."""

CONTEXTS = tuple(one.name for one in CONTEXT_CLASSES)
"""Their names."""

MOST_COUNTERS = 8
"""Of one recording, as the tracer has it."""
_PREFIX = "perf:thread:"
COUNTERS_OF_KERNEL = (
    *("page-fault", "faults", "major-faults", "minor-faults"),
    *("context-switches", "cs", "cpu-clock", "task-clock"),
)
COUNTERS_OF_PROCESSOR = (
    *("cpu-cycles", "cycles", "instructions", "cache-references", "cache-misses"),
    *("branch-instructions", "branches", "branch-misses", "bus-cycles"),
    *("stalled-cycles-frontend", "idle-cycles-frontend"),
    *("stalled-cycles-backend", "idle-cycles-backend"),
    *(
        f"{cache}-{what}"
        for cache, operations in (
            ("L1-dcache", ("load", "store", "prefetch")),
            ("L1-icache", ("load", "store", "prefetch")),
            ("LLC", ("load", "store", "prefetch")),
            ("dTLB", ("load", "store", "prefetch")),
            ("iTLB", ("load",)),
            ("branch", ("load",)),
        )
        for one in operations
        for what in (f"{one}es" if one == "prefetch" else f"{one}s", f"{one}-misses")
    ),
)
COUNTERS = tuple(
    f"{_PREFIX}{name}" for name in (*COUNTERS_OF_KERNEL, *COUNTERS_OF_PROCESSOR)
)
"""Contexts that count something in the thread; ``tracer/src/perf_counter.c`` has the
same."""
_RAW = re.compile(r"perf:thread:raw:r[0-9a-fA-F]{1,16}:[A-Za-z_][A-Za-z0-9_]*")


def context_classes(names: Sequence[str]) -> list[ContextClass]:
    """Return contexts in the order in which records have them.

    Args:
        names: Their names, in any order.

    Returns:
        The contexts, each once.

    Raises:
        SelectionError: There is none of a name, or too many count.
    """
    counters = dict.fromkeys(name for name in names if name not in CONTEXTS)
    for name in counters:
        if name not in COUNTERS and not _RAW.fullmatch(name):
            raise SelectionError(
                f"no context '{name}': expected some of {', '.join(CONTEXTS)}, or "
                f"{_PREFIX}NAME; --list-contexts lists all"
            )
    if len(counters) > MOST_COUNTERS:
        raise SelectionError(
            f"{len(counters)} counters: expected up to {MOST_COUNTERS} in a recording"
        )
    return [
        *(one for one in CONTEXT_CLASSES if one.name in names),
        *map(counter_class, counters),
    ]


def counter_class(name: str) -> ContextClass:
    """Return the context of a counter.

    Args:
        name: Its name, as options have it.

    Returns:
        The context, whose field has underscores only.
    """
    field = re.sub(r"\W", "_", name)
    of = "the kernel" if name.removeprefix(_PREFIX) in COUNTERS_OF_KERNEL else "the CPU"
    return ContextClass(name, 8, f"{_NUMBER} _{field};", f"counter of {of}")
