"""Performance counters as contexts: LTTng's ``perf:cpu:COUNTER``.

The kernel's own events have none. So a program of the kernel (BPF) is put to the
tracepoint of each event that is recorded, before the event itself. It reads the
counters of the CPU and writes their values, which are joined with the event's record
behind it (``counters.rs``). Counters are pinned: they count all the time, in the kernel
and in programs, and share what the CPU has with none.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from ..._kernel import attach_program, counter_array, open_counter
from ...rules.kernel_counters import cpu_counter
from .call_numbers import call_number
from .counter_program import MOST_COUNTERS, CallSet, counter_program
from .programs import TEXT_EVENT, setting_kept
from .system_calls import ENTRY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .event_classes import Operation
    from .formats import EventFormat
    from .tracefs import Tracefs

__all__ = ["UNKNOWN", "Counters", "counter_contexts", "why_not"]

UNKNOWN = (1 << 64) - 1
"""The value of a counter that nobody knows."""
_CALLS = "syscalls"
_ENTRY_NUMBER, _EXIT_NUMBER = 0, 1
"""What stands for the ID of an event where there is one tracepoint for all calls; the
kernel gives the events of tracepoints none so low."""
_NOWHERE = -1
"""What stands for it where no program reads counters."""
_TOKEN_BYTES = 3
_MISSING = {errno.ENOENT, errno.ENODEV, errno.EOPNOTSUPP, errno.ENXIO, errno.EINVAL}
_FORBIDDEN = {errno.EPERM, errno.EACCES}
_OTHERS = (
    "performance counters are unknown at {}: no program of the kernel (BPF) can be put "
    "before these events"
)


def counter_contexts(names: Iterable[str]) -> list[str]:
    """Return those contexts that are counters.

    Args:
        names: LTTng's names of contexts.
    """
    return [one for one in names if cpu_counter(one) is not None]


def why_not(context: str, cpus: Sequence[int] = (0,)) -> str | None:
    """Say why events cannot have a counter; ``None``: they can.

    Args:
        context: LTTng's name.
        cpus: The CPUs that are there.
    """
    try:
        _close(_open(context, cpus))
    except OSError as error:
        if error.errno in _MISSING:
            return "this machine has no such counter"
        return _reason(error, "perf_event_open")
    try:
        os.close(attach_program(counter_program(None, 0, 0, b""), "sys_enter"))
    except OSError as error:
        return _reason(error, "bpf")
    return None


def _reason(error: OSError, call: str) -> str:
    if error.errno in _FORBIDDEN:
        return f"{call}(2) is forbidden: {error.strerror}"
    if error.errno == errno.ENOSYS:
        return f"this kernel has no {call}(2)"
    return f"{call}(2) fails: {error.strerror}"


def _open(context: str, cpus: Sequence[int]) -> dict[int, int]:
    """Open the counters of some CPUs; those that are switched off have none.

    Raises:
        OSError: None of them has it.
    """
    counter = cpu_counter(context)
    opened: dict[int, int] = {}
    failed: OSError | None = None
    for cpu in cpus if counter is not None else ():
        assert counter is not None  # noqa: S101 - see above
        try:
            opened[cpu] = open_counter(counter.type, counter.config, cpu)
        except OSError as error:
            failed = failed or error
            if error.errno != errno.ENODEV:
                break
    if not opened:
        raise failed or OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    return opened


def _close(counters: dict[int, int]) -> None:
    for descriptor in counters.values():
        os.close(descriptor)


class Counters:
    """The counters of a channel, and the programs that read them at its events.

    Args:
        tracefs: Where its events are.
        contexts: LTTng's names of the counters.
        cpus: The CPUs that are there.
    """

    def __init__(
        self, tracefs: Tracefs, contexts: Sequence[str], cpus: Sequence[int]
    ) -> None:
        self.problems: list[str] = []
        """What cannot be had, and why."""
        self.contexts: list[str] = []
        """Those that there are, in the order of their values."""
        self.token = int.from_bytes(os.urandom(_TOKEN_BYTES), "little")
        """What tells values of this channel from those of others."""
        self._tracefs = tracefs
        self._array: int | None = None
        self._width = max(cpus, default=0) + 1
        self._running: dict[tuple[str, str], int] = {}
        self._calls: dict[bool, set[str]] = {}
        self._refused: set[str] = set()
        if contexts:
            self._open_all(contexts, cpus)

    def _open_all(self, contexts: Sequence[str], cpus: Sequence[int]) -> None:
        if len(contexts) > MOST_COUNTERS:
            left = ", ".join(contexts[MOST_COUNTERS:])
            self.problems.append(f"context {left}: expected up to {MOST_COUNTERS}")
        opened: list[dict[int, int]] = []
        try:
            for one in contexts[:MOST_COUNTERS]:
                why = why_not(one, cpus)
                if why is not None:
                    self.problems.append(f"context {one}: {why}")
                    continue
                opened.append(_open(one, cpus))
                self.contexts.append(one)
            if opened:
                numbers = range(self._width)
                places = [one.get(cpu) for one in opened for cpu in numbers]
                # It holds them.
                self._array = counter_array(places)
        finally:
            for counters in opened:
                _close(counters)

    def operations(self, event: EventFormat) -> dict[str, Operation]:
        """Return what makes the contexts of an event, by their names.

        Args:
            event: One that was given to :meth:`read_at`, or another one.
        """
        number = _NOWHERE
        if (found := self._place(event)) and found in self._running:
            number = event.id if event.system != _CALLS else self._number(event)
        return {
            name: ("counter", place, number) for place, name in enumerate(self.contexts)
        }

    @staticmethod
    def _number(event: EventFormat) -> int:
        return _ENTRY_NUMBER if event.name.startswith(ENTRY) else _EXIT_NUMBER

    @staticmethod
    def _place(event: EventFormat) -> tuple[str, str]:
        """Return the system and the tracepoint of an event."""
        if event.system != _CALLS:
            return event.system, event.name
        is_entry = event.name.startswith(ENTRY)
        return _CALLS, "sys_enter" if is_entry else "sys_exit"

    def read_at(
        self, events: Sequence[EventFormat], pause_calls: Callable[[], None]
    ) -> None:
        """Let counters be read at some events, before these are switched on.

        Args:
            events: All events that are wanted.
            pause_calls: Switches system calls off: what reads counters at them would
                come behind those that are on.
        """
        if not self.contexts:
            return
        own = {TEXT_EVENT}
        plain = {
            self._place(one): one
            for one in events
            if one.system != _CALLS and (one.system, one.name) not in own
        }
        missing = {key: one for key, one in plain.items() if key not in self._running}
        calls = self._new_calls(events)
        if not missing and not calls:
            return
        if calls:
            pause_calls()
        with setting_kept(self._tracefs):
            for key, one in missing.items():
                self._attach(key, one.name, one.id, None)
            for is_entry, names in calls.items():
                self._attach_to_calls(is_entry=is_entry, names=names)

    def _new_calls(self, events: Iterable[EventFormat]) -> dict[bool, set[str]]:
        """Return all calls, those of entries and of exits, where there are new ones."""
        found: dict[bool, set[str]] = {}
        for one in events:
            if one.system == _CALLS:
                is_entry = one.name.startswith(ENTRY)
                name = one.name.removeprefix(ENTRY).removeprefix("sys_exit_")
                found.setdefault(is_entry, set(self._calls.get(is_entry, ()))).add(name)
        return {
            is_entry: names
            for is_entry, names in found.items()
            if names != self._calls.get(is_entry)
        }

    def _attach_to_calls(self, *, is_entry: bool, names: set[str]) -> None:
        numbers = {call_number(one) for one in names}
        known = {one for one in numbers if one is not None}
        # Elsewhere they are read at all calls.
        calls = CallSet(known, is_entry) if known == numbers else None
        tracepoint = "sys_enter" if is_entry else "sys_exit"
        key = _CALLS, tracepoint
        number = _ENTRY_NUMBER if is_entry else _EXIT_NUMBER
        before = self._running.pop(key, None)
        if before is not None:
            os.close(before)
        self._attach(key, tracepoint, number, calls)
        self._calls[is_entry] = names

    def _attach(
        self, key: tuple[str, str], tracepoint: str, number: int, calls: CallSet | None
    ) -> None:
        assert self._array is not None  # noqa: S101 - there are counters
        head = _head(self.token, number)
        code = counter_program(
            self._array, len(self.contexts), self._width, head, calls
        )
        with suppress(OSError):
            self._running[key] = attach_program(code, tracepoint)

    def tell_unread(self, events: Iterable[tuple[EventFormat, str]]) -> None:
        """Say at which events counters are unknown.

        Args:
            events: Those that are wanted, with their names in the trace.
        """
        if not self.contexts:
            return
        unread = [
            name
            for event, name in events
            if self._place(event) not in self._running and name not in self._refused
        ]
        if unread:
            self._refused.update(unread)
            self.problems.append(_OTHERS.format(", ".join(sorted(unread))))

    def close(self) -> None:
        """Let nothing be read any more."""
        for descriptor in self._running.values():
            os.close(descriptor)
        self._running = {}
        if self._array is not None:
            os.close(self._array)
            self._array = None


def _head(token: int, number: int) -> bytes:
    """Return how the text of an event begins."""
    return b"vestige:c" + _digits(token, 4) + _digits(number, 3)


def _digits(number: int, count: int) -> bytes:
    return bytes(0x30 + (number >> 6 * place & 63) for place in range(count))
