"""Which event records are about a thread, those of the kernel included."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..._typing import TYPE_CHECKING
from .found import machine_of

if TYPE_CHECKING:
    from ... import core
    from ...graph import Stream
    from ..threads import Thread

__all__ = ["is_about"]

_FIELDS = {
    "sched_switch": "next_tid",
    "sched_waking": "tid",
    "sched_wakeup": "tid",
    "sched_wakeup_new": "tid",
}
"""Events that happen to a thread while another one runs, and who that is."""


def is_about(thread: Thread, streams: Iterable[Stream]) -> Callable[[core.Event], bool]:
    """Return what tells whether an event record is about a thread.

    Args:
        thread: The thread.
        streams: The data streams of all traces.

    Returns:
        It. An event record of a kernel is, if its machine is that of the thread, and it
        happened in the thread or to it; another one, if process and thread are.
    """
    machines = {
        machine_of(one) for one in streams if one.trace.name == thread.process.trace
    }
    spaces: dict[int, bool] = {}

    def takes(event: core.Event) -> bool:
        if event.thread == thread.tid and event.process == thread.process.pid:
            return True
        if event.process is not None:
            return False
        space = event.stream.process_space
        if space not in spaces:
            domain = event.stream.trace.parsed.environment.get("domain")
            is_here = machine_of(event.stream) in machines
            spaces[space] = domain == "kernel" and is_here
        if not spaces[space]:
            return False
        field = _FIELDS.get(event.name or "")
        return event.thread == thread.tid or (
            field is not None and event.get(field) == thread.tid
        )

    return takes
