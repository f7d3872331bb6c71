"""The recorder's own threads: what they do is left out of the trace.

The kernel can do that (``set_event_notrace_pid``), but looks at each event of everybody
then, which makes events a tenth as expensive again. So it is done by those who collect
where these threads cause next to no events: while they read 4 MiB, some 40 system calls
and a few switches. Both leave out the same (Linux, ``kernel/trace/trace_events.c``,
``event_filter_pid_*``).

What the kernel was told is taken back only once one of these threads has ended and
somebody else has its ID. For it takes away the probes of the scheduler first, and on a
CPU on which one of these threads ran just then, it leaves out whoever comes next, until
it is done; and for a moment it leaves out nobody.
"""

from __future__ import annotations

from ...._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from .formats import EventFormat
    from .tracefs import Instance

__all__ = ["OwnThreads"]

_FEW = frozenset(
    {
        *("bpf_trace", "ftrace", "irq", "power", "raw_syscalls", "sched", "signal"),
        *("syscalls", "task", "timer"),
    }
)
"""Systems of which own threads cause few events, however much they read and write;
others, such as those of memory and of file systems, may have one for each page."""

_LEAST = 512 << 10
"""Bytes of a buffer in which there is room for a few events besides."""
_CONCERNED = {
    ("sched", "sched_switch"): "next_pid",
    ("sched", "sched_waking"): "pid",
    ("sched", "sched_wakeup"): "pid",
    ("sched", "sched_wakeup_new"): "pid",
}
"""Events that concern another thread besides, and the field with its ID: these stay if
that is not one of ours, or it would seem to wait for ever."""
_SETTING = "set_event_notrace_pid"
_LOGGED = ("ftrace", "print")
"""What is passed on for others: it stays."""


class OwnThreads:
    """Leaves out threads of an instance.

    Args:
        instance: The instance.
        buffer_size: Bytes of its buffer of a CPU.
        is_in_kernel: Whether the kernel must leave them out, as where call stacks are
            recorded: records of their own, that belong to those that stay.
    """

    def __init__(
        self, instance: Instance, buffer_size: int, *, is_in_kernel: bool
    ) -> None:
        self._instance = instance
        self._threads: list[int] = []
        self._told = 0
        self.is_in_kernel = is_in_kernel or buffer_size < _LEAST
        """Whether the kernel leaves them out: once it does, it does so for good."""
        self.is_collected = False
        """Whether those who collect leave them out in any case."""

    def expect(self, events: Iterable[tuple[str, str]]) -> None:
        """Leave them out of these events, which are not switched on yet.

        Args:
            events: Their systems and names.
        """
        if not self.is_in_kernel and any(system not in _FEW for system, _ in events):
            self.is_in_kernel = True
        self._tell()

    def leave_out(self, threads: Sequence[int]) -> None:
        """Record nothing of some threads, besides those that are left out already.

        Args:
            threads: Their IDs.
        """
        self._threads += [one for one in threads if one not in self._threads]
        self._tell()

    def forget(self, ended: Collection[int], used: Collection[int]) -> set[int]:
        """Leave out no more threads that have ended.

        Args:
            ended: Their IDs.
            used: Those of them that others have by now, or may have.

        Returns:
            Those that the kernel leaves out further.
        """
        told = self._threads[: self._told]
        kept = [one for one in told if one not in used]
        rest = [one for one in self._threads[self._told :] if one not in ended]
        self._threads, self._told = [*kept, *rest], len(kept)
        if len(kept) < len(told):
            self._instance.write(_SETTING, " ".join(map(str, kept)))
        return {*kept}.intersection(ended)

    def _tell(self) -> None:
        if not self.is_in_kernel:
            return
        if new := self._threads[self._told :]:
            text = " ".join(map(str, new))
            self._instance.write(_SETTING, text, is_added=True)
            self._told = len(self._threads)

    def others(self, events: Iterable[EventFormat]) -> dict[int, int | None] | None:
        """Return what stays of them where those who collect leave them out.

        Args:
            events: All events.

        Returns:
            As :class:`vestige.record._kernel.Collector` has it; ``None``: the kernel
            leaves them out.
        """
        if self.is_in_kernel and not self.is_collected:
            return None
        stays: dict[int, int | None] = {}
        for one in events:
            key = one.system, one.name
            if key == _LOGGED:
                stays[one.id] = None
            elif key in _CONCERNED:
                place = one.at(_CONCERNED[key])
                if place is not None:
                    stays[one.id] = place
        return stays
