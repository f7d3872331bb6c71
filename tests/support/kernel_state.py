"""What of the kernel's tracer is the same for all: no recording may leave it changed."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import NamedTuple

from vestige.record.backends.kernel.tracefs import Tracefs

__all__ = ["KernelState", "kernel_state"]

FILES = (
    *("tracing_on", "current_tracer", "set_event", "set_event_pid", "trace_clock"),
    *(
        "set_event_notrace_pid",
        "buffer_size_kb",
        "tracing_cpumask",
    ),
    *("events/enable", "events/bpf_trace/enable", "options/stacktrace"),
)
_SYS_BPF = 321
_NEXT_PROGRAM = 11
"""``BPF_PROG_GET_NEXT_ID`` of bpf(2)."""


class KernelState(NamedTuple):
    """What there is."""

    settings: dict[str, str]
    """Of the top level of tracefs, by the names of files."""
    instances: frozenset[str]
    """Those of Vestige."""
    probes: frozenset[str]
    """Lines that define those of Vestige."""
    mounts: frozenset[str]
    """Where tracefs and debugfs are mounted."""
    programs: frozenset[int]
    """Numbers of the BPF programs that are loaded."""


def kernel_state() -> KernelState:
    """Look at all of it."""
    tracefs = Tracefs()
    try:
        there = set(tracefs.names("."))
        settings = {
            name: tracefs.read(name)
            for name in FILES
            if name.partition("/")[0] in there
        }
        instances = tracefs.names("instances")
        probes = [
            line
            for name in sorted({"uprobe_events", "kprobe_events"} & there)
            for line in tracefs.read(name).splitlines()
        ]
    finally:
        tracefs.close()
    mounted = Path("/proc/self/mountinfo").read_text().splitlines()
    return KernelState(
        settings,
        frozenset(name for name in instances if name.startswith("vestige-")),
        frozenset(line for line in probes if re.search(r":vestige_\d+_", line)),
        frozenset(line for line in mounted if re.search(r" (trace|debug)fs ", line)),
        frozenset(_programs()),
    )


def _programs() -> list[int]:
    """Return the numbers of the BPF programs; none where nobody may ask."""
    found = []
    call = ctypes.CDLL(None, use_errno=True).syscall
    # Of the attributes of bpf(2): the number behind which to look, the next one.
    asked = (ctypes.c_uint32 * 3)(0, 0, 0)
    while call(_SYS_BPF, _NEXT_PROGRAM, asked, ctypes.sizeof(asked)) == 0:
        found.append(asked[1])
        asked[0] = asked[1]
    return found
