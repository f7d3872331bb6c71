"""The context fields that add-context knows, as lttng-add-context(1) lists them."""

from __future__ import annotations

import re

from .._typing import NamedTuple
from ..record.rules.kernel_counters import COUNTERS, RAW, cpu_counter

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
CONTEXT_NAMES = (
    *_PLAIN,
    *(f"perf:{of}:{name}" for of in ("cpu", "thread") for name in COUNTERS),
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
    if start in {"perf:cpu", "perf:thread"} and counter in COUNTERS:
        return ContextType("PERF", name, start == "perf:thread", *COUNTERS[counter])
    return None


def kernel_refusal(kind: ContextType) -> str | None:
    """Say why events of the kernel cannot have a context, ``None`` if they can.

    Args:
        kind: One that is of the kernel.
    """
    if kind.kind != "PERF":
        return None
    if cpu_counter(kind.name) is None:
        return f"{kind.name}: expected a name of letters, digits and underscores"
    # Few sessions have any.
    from ..record.backends.kernel.counters import why_not  # noqa: PLC0415 - see above

    return why_not(kind.name)
