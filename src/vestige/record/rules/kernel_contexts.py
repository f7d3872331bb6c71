"""Contexts that event records of the kernel may have, by LTTng's names."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...errors import SelectionError
from .kernel_counters import cpu_counter

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["KERNEL_CONTEXTS", "check_kernel_contexts"]

_IDS = ("uid", "euid", "suid", "gid", "egid", "sgid")
KERNEL_CONTEXTS = (
    *("tid", "pid", "ppid", "procname", "prio", "nice", "hostname"),
    *("vpid", "vtid", "vppid"),
    *("preemptible", "need_reschedule", "migratable", "interruptible"),
    *_IDS,
    *(f"v{name}" for name in _IDS),
    *("cgroup_ns", "ipc_ns", "mnt_ns", "net_ns", "pid_ns", "time_ns", "user_ns"),
    *("uts_ns", "callstack-kernel", "callstack-user"),
)
"""The thread is always there; counters of CPUs may be, too."""


def check_kernel_contexts(names: Iterable[str]) -> None:
    """Refuse contexts that cannot be had.

    Args:
        names: LTTng's names.

    Raises:
        SelectionError: One of them cannot.
    """
    for name in names:
        if name not in KERNEL_CONTEXTS and cpu_counter(name) is None:
            raise SelectionError(
                f"no context '{name}' of the kernel: expected some of "
                f"{', '.join(KERNEL_CONTEXTS)}, perf:cpu:COUNTER, "
                "perf:cpu:raw:rNUMBER:NAME"
            )
