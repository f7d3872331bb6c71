"""Namespaces that threads come into while the kernel is recorded.

The kernel's events tell that there are others, but not which. So whoever has the rights
for it looks as soon as it is told, and gives them to who reads the records.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from .formats import read_format
from .proc_facts import facts_of
from .tracefs import Instance
from .watched_pages import read_page, read_values, thread_of, type_of
from .watcher import has_buffer

if TYPE_CHECKING:
    from collections.abc import Callable

    from .formats import EventFormat
    from .tracefs import Tracefs

__all__ = ["NamespaceWatch", "SpacesRead"]

SpacesRead = tuple[int, int, int, tuple[int, ...], tuple[int, ...] | None]
"""As :meth:`vestige.record._kernel.Collector.know_spaces` has it."""
_NEW = 0x7E020080
"""Flags of clone(2) that make a namespace."""
_NEW_THREAD = "task_newtask"
_WATCHED = {
    ("syscalls", "sys_exit_unshare"): "ret == 0",
    ("syscalls", "sys_exit_setns"): "ret == 0",
    ("task", _NEW_THREAD): f"clone_flags & {_NEW:#x}",
}
"""Events, and the kernel's filters of them."""
_BUFFER_KIB = 64
_PAGE = 1 << 16
_PAGES = 32
"""Of a CPU at a time: more than its buffer has."""
_UNBLOCKED = os.O_RDONLY | os.O_NONBLOCK


class NamespaceWatch:
    """An instance with these events, which are few.

    Args:
        tracefs: Where it is made.
        now: Gives the present value of the clock of the recording.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, tracefs: Tracefs, now: Callable[[], int]) -> None:
        self._now = now
        self.descriptors: list[int] = []
        """What can be read once there is something."""
        self._formats: dict[int, EventFormat] = {}
        self._instance = Instance(tracefs, "of-namespaces")
        try:
            self._prepare(tracefs)
        except BaseException:
            self.close()
            raise

    def _prepare(self, tracefs: Tracefs) -> None:
        instance = self._instance
        instance.write("buffer_size_kb", _BUFFER_KIB)
        # Older kernels wake readers for each page.
        with suppress(OSError):
            instance.write("buffer_percent", 0)
        for (system, name), condition in _WATCHED.items():
            # A kernel without it tells less.
            with suppress(OSError):
                text = tracefs.read(f"events/{system}/{name}/format")
                event = read_format(system, name, text)
                instance.write(f"events/{system}/{name}/filter", condition)
                self._formats[event.id] = event
        instance.enable((one.system, one.name) for one in self._formats.values())
        for cpu in instance.cpus():
            path = f"per_cpu/cpu{cpu}/trace_pipe_raw"
            self.descriptors.append(instance.open(path, _UNBLOCKED))
        # One that is switched off has no buffer, and seems to have something always.
        there = [one for one in self.descriptors if has_buffer(one)]
        for one in {*self.descriptors} - {*there}:
            os.close(one)
        self.descriptors = there
        instance.record(is_on=True)

    def read(self) -> list[SpacesRead]:
        """Return the namespaces of threads that have come into others by now.

        Those that have ended are left out.
        """
        threads: dict[int, None] = {}
        for descriptor in self.descriptors:
            # Who makes namespaces without end holds up nothing else.
            for _ in range(_PAGES):
                records = self._records(descriptor)
                for record in records:
                    threads.update(dict.fromkeys(self._thread(record)))
                if not records:
                    break
        found = (self._spaces(one) for one in threads)
        return [one for one in found if one is not None]

    def _records(self, descriptor: int) -> list[memoryview]:
        try:
            return read_page(os.read(descriptor, _PAGE)).records
        except BlockingIOError:
            return []

    def _thread(self, record: memoryview) -> list[int]:
        event = self._formats.get(type_of(record))
        if event is None:
            return []
        if event.name != _NEW_THREAD:
            return [thread_of(record)]
        new = read_values(record, event).get("pid")
        return [new] if isinstance(new, int) else []

    def _spaces(self, thread: int) -> SpacesRead | None:
        begin = self._now()
        try:
            facts = facts_of(thread, thread)
        except (OSError, KeyError, ValueError):
            return None
        inner = None if facts.is_outer else facts.inner[:2]
        return thread, begin, self._now(), facts.spaces, inner

    def close(self) -> None:
        """Remove the instance."""
        for one in self.descriptors:
            os.close(one)
        self.descriptors = []
        with suppress(OSError):
            self._instance.remove()
