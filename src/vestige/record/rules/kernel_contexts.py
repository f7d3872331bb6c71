"""Contexts that event records of the kernel may have, by LTTng's names."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...errors import SelectionError
from .kernel_counters import cpu_counter

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["KERNEL_CONTEXTS", "check_kernel_contexts", "check_kernel_filter"]

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
_FOR_FILTERS = "cpu_id"
"""What filters may ask for besides."""
_COUNTERS = ("perf:", "perf_")
"""How names of counters begin: of contexts, and of their fields."""


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


def check_kernel_filter(text: str) -> None:
    """Refuse a filter that is none, or asks for contexts that filters do not have.

    Whether there are its fields, only the kernel of a recording knows.

    Args:
        text: The filter.

    Raises:
        SelectionError: It is such a filter.
    """
    # Few recordings have one.
    from ...advice import nearest  # noqa: PLC0415 - see above
    from ...expressions import compile_filter  # noqa: PLC0415 - as above
    from ...expressions.code import Operation  # noqa: PLC0415 - as above

    known = sorted({*KERNEL_CONTEXTS, _FOR_FILTERS})
    for one in compile_filter(text):
        if one.operation is not Operation.CONTEXT or not isinstance(one.value, bytes):
            continue
        name = one.value.decode(errors="replace")
        if name.startswith(_COUNTERS):
            raise SelectionError(
                f"the filter '{text}': filters of the kernel's events have no counters "
                f"of CPUs, such as $ctx.{name}"
            )
        if name not in known:
            raise SelectionError(
                f"the filter '{text}': the kernel has no context $ctx.{name}; there "
                f"{nearest(name, known)}"
            )
