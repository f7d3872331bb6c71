"""Events of the kernel that somebody waits for: an instance for a trigger's rule."""

from __future__ import annotations

import os
import select
from contextlib import suppress

from ...._typing import TYPE_CHECKING, NamedTuple
from ....expressions import compile_filter
from ....expressions.code import Operation
from .expressions import split
from .formats import EventFormat, read_format
from .lttng_names import MORE_FIELDS
from .probes import Probes, remove_abandoned
from .rules import PROBES
from .selection import choose
from .system_calls import content_bytes
from .tracefs import Instance, NoKernelTracerError, Tracefs
from .watched_pages import Value, field_name, read_page, read_values, thread_of, type_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .rules import KernelRule

__all__ = ["Seen", "Watcher", "has_buffer"]

_BUFFER_KIB = 64
"""Of each CPU: it is read at once."""
_PAGE = 65536
"""Bytes of the largest page of any machine."""


class Seen(NamedTuple):
    """A record that a rule has chosen."""

    thread: int
    values: dict[str, Value]
    """Its fields by LTTng's names."""


class Watcher:
    """Sees the events that a rule chooses, from :meth:`start` on.

    Args:
        rule: The rule.
        name: What tells it from other instances of this process.

    Raises:
        NoKernelTracerError: The kernel cannot look at this rule; the text says why.
        OSError: A file of tracefs cannot be used.
    """

    def __init__(self, rule: KernelRule, name: str) -> None:
        self.descriptors: list[int] = []
        """One of each CPU, readable when there is something."""
        self.lost = 0
        """Records that nobody has seen, as far as the kernel tells it."""
        self._formats: dict[int, EventFormat] = {}
        self._tracefs = Tracefs()
        self._probes = Probes(self._tracefs)
        # Of those that were killed.
        self._tracefs.remove_abandoned()
        remove_abandoned(self._tracefs)
        try:
            self._instance = Instance(self._tracefs, name)
        except BaseException:
            self._tracefs.close()
            raise
        try:
            self._prepare(rule)
        except BaseException:
            self.close()
            raise

    def _prepare(self, rule: KernelRule) -> None:
        instance = self._instance
        instance.write("buffer_size_kb", _BUFFER_KIB)
        # Older kernels wake readers for each page.
        with suppress(OSError):
            instance.write("buffer_percent", 0)
        events = [one for one in self._events(rule) if _can_match(rule, one)]
        if not events:
            raise NoKernelTracerError(f"no event has the fields of '{rule.filter}'")
        instance.tell_contents(content_bytes(events))
        for event in events:
            self._formats[event.id] = event
            condition = _condition(rule, event)
            if condition is not None:
                path = f"events/{event.system}/{event.name}/filter"
                instance.write(path, condition)
        refused = instance.enable((one.system, one.name) for one in events)
        if refused:
            _, why = refused[0]
            raise NoKernelTracerError(f"the kernel refuses '{rule.pattern}': {why}")
        self.leave_out(int(one) for one in os.listdir("/proc/self/task"))
        flags = os.O_RDONLY | os.O_NONBLOCK
        for number in instance.cpus():
            path = f"per_cpu/cpu{number}/trace_pipe_raw"
            descriptor = instance.open(path, flags)
            if has_buffer(descriptor):
                self.descriptors.append(descriptor)
            else:
                os.close(descriptor)

    def _events(self, rule: KernelRule) -> list[EventFormat]:
        if rule.kind in PROBES:
            return self._probes.add(rule.kind, rule.location or {}, rule.pattern)
        lines = self._tracefs.read("available_events").split()
        available = [
            (one[0], one[2]) for one in (line.partition(":") for line in lines)
        ]
        matches, _ = choose([rule], available)
        if not matches:
            raise NoKernelTracerError(f"no event of this kernel is '{rule.pattern}'")
        return [
            read_format(
                one.system,
                one.name,
                self._tracefs.read(f"events/{one.system}/{one.name}/format"),
            )
            for one in matches
        ]

    def leave_out(self, threads: Iterable[int]) -> None:
        """See nothing of some threads, and of what they begin.

        Args:
            threads: Their IDs.
        """
        with suppress(OSError):
            self._instance.write("options/event-fork", 1)
            text = " ".join(map(str, threads))
            self._instance.write("set_event_notrace_pid", text, is_added=True)

    def start(self) -> None:
        """Begin to see."""
        self._instance.record(is_on=True)

    def read(self, descriptor: int) -> list[Seen]:
        """Return what was seen on a CPU since the last call: up to a page of it.

        Args:
            descriptor: One of :attr:`descriptors`.
        """
        try:
            records, lost = read_page(os.read(descriptor, _PAGE))
        except BlockingIOError:
            return []
        self.lost += lost
        known = ((one, self._formats.get(type_of(one))) for one in records)
        return [
            Seen(thread_of(record), read_values(record, event))
            for record, event in known
            if event is not None
        ]

    def close(self) -> None:
        """See nothing more, and leave nothing of it."""
        for one in self.descriptors:
            os.close(one)
        self.descriptors = []
        with suppress(OSError):
            self._instance.record(is_on=False)
        with suppress(OSError):
            self._instance.remove()
        self._probes.close()
        self._tracefs.close()


def has_buffer(descriptor: int) -> bool:
    """Tell whether the CPU of a file of pages has a buffer.

    One that is switched off has none: whoever waits for it is called all the time.

    Args:
        descriptor: The file.
    """
    asked = select.poll()
    asked.register(descriptor, select.POLLIN)
    return not any(events & select.POLLERR for _, events in asked.poll(0))


def _can_match(rule: KernelRule, event: EventFormat) -> bool:
    """Tell whether an event has the fields that a filter looks at.

    A filter is true of no record that lacks one of them.
    """
    if rule.filter is None:
        return True
    known = {field_name(event, one) for one in event.fields}
    if MORE_FIELDS.get(event.name) == "thread":
        known.add("tid")
    code = compile_filter(rule.filter)
    looked_at = (one.value for one in code if one.operation is Operation.FIELD)
    return all(isinstance(one, bytes) and one.decode() in known for one in looked_at)


def _condition(rule: KernelRule, event: EventFormat) -> str | None:
    """Return the kernel's filter of an event.

    Raises:
        NoKernelTracerError: The kernel's filters cannot say what the rule says.
    """
    parts = split([rule.filter], event)
    if parts.rest is not None:
        raise NoKernelTracerError(
            f"the kernel's filters cannot say '{rule.filter}' of {event.name}"
        )
    return parts.kernel
