"""What arguments of system calls lead to, where the kernel's events have it not.

Programs (BPF) run where system calls begin and end, before the calls' events. What an
argument leads to, they write by ``bpf_trace_printk``, which is an event itself: so it
stands in the pages of the same CPU, on the same clock, right before the call. They are
loaded once for the calls that are recorded, and gone with their descriptors.
"""

from __future__ import annotations

import os
import re

from ...._typing import TYPE_CHECKING, NamedTuple
from ..._kernel import attach_program, work_memory
from .call_memory import call_memory
from .call_memory_program import (
    REGISTERS,
    WORK_BYTES,
    MemoryProgram,
    add_memory,
    read_number,
)
from .call_numbers import KNOWN_MACHINE, call_number
from .call_texts import add_texts
from .programs import (
    JUMP,
    LOAD,
    MOVE,
    Assembly,
    choose_call,
    done,
    setting_kept,
)
from .system_calls import ENTRY, EXIT, has_unread_texts, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .call_memory import CallMemory
    from .formats import EventFormat
    from .tracefs import Tracefs

__all__ = [
    "GETS_MEMORY",
    "CallPrograms",
    "entry_program",
    "exit_program",
    "has_untold",
    "joined_at",
    "memory_of",
]

GETS_MEMORY = "gets_memory"
"""What records of calls tell that get memory: see :class:`.Channel`."""
_FIRST_ARGUMENT, _ARGUMENT_BYTES = 16, 8
"""Where the events of calls have theirs."""
_WORD = 4


class _Wanted(NamedTuple):
    """What programs tell, by the numbers of calls."""

    texts: dict[int, tuple[int, ...]]
    """Which arguments lead to texts."""

    begins: dict[int, CallMemory]
    ends: dict[int, CallMemory]

    def events(self) -> int:
        """Return of how many events."""
        return len(self.texts) + len(self.begins) + len(self.ends)


class CallPrograms:
    """Lets the kernel tell what arguments of system calls lead to.

    Args:
        tracefs: Where its events are.
    """

    def __init__(self, tracefs: Tracefs) -> None:
        self._tracefs = tracefs
        self._wanted = _Wanted({}, {}, {})
        self._running: list[int] = []
        self._has_failed = os.uname().machine != KNOWN_MACHINE
        self._has_memory = not self._has_failed

    @property
    def is_running(self) -> bool:
        """Whether anything is told."""
        return bool(self._running)

    def tell(self, events: Iterable[EventFormat]) -> bool:
        """Let more be told, before the events of the calls are switched on.

        Args:
            events: The events that are wanted.

        Returns:
            Whether it was not yet so for one of them.
        """
        wanted = self._wanted
        before = wanted.events()
        for event in events:
            self._want(event)
        if self._has_failed or wanted.events() == before:
            return False
        try:
            new = self._load()
        except OSError:
            self.close()
            self._has_failed = True
            return False
        self.close()
        self._running = new
        return True

    def _want(self, event: EventFormat) -> None:
        number = call_number(_call(event))
        if number is None:
            return
        if has_unread_texts(event):
            self._wanted.texts[number] = tuple(
                (field.at - _FIRST_ARGUMENT) // _ARGUMENT_BYTES
                for field, _ in texts(event)
            )
        if (memory := memory_of(event)) is not None:
            is_end = event.name.startswith(EXIT)
            to = self._wanted.ends if is_end else self._wanted.begins
            to[number] = memory

    def _load(self) -> list[int]:
        """Load the programs; without memory, where the kernel does not take that.

        Raises:
            OSError: It takes none.
        """
        with setting_kept(self._tracefs):
            if self._has_memory:
                try:
                    return self._load_all(self._wanted)
                except OSError:
                    self._has_memory = False
            if not self._wanted.texts:
                return []
            return self._load_all(self._wanted._replace(begins={}, ends={}))

    def _load_all(self, wanted: _Wanted) -> list[int]:
        loaded: list[int] = []
        is_little = _prints_little()
        try:
            if wanted.texts or wanted.begins:
                work = work_memory(WORK_BYTES) if wanted.begins else -1
                memory = MemoryProgram(wanted.begins, work, is_end=False)
                memory = memory._replace(prints_little=is_little)
                made = entry_program(wanted.texts, memory)
                loaded.append(_attached(made, "sys_enter", work))
            if wanted.ends:
                work = work_memory(WORK_BYTES)
                memory = MemoryProgram(wanted.ends, work, is_end=True)
                memory = memory._replace(prints_little=is_little)
                loaded.append(_attached(exit_program(memory), "sys_exit", work))
        except BaseException:
            for one in loaded:
                os.close(one)
            raise
        return loaded

    def has(self, event: EventFormat) -> bool:
        """Tell whether the texts of an event are told."""
        return (
            self.is_running
            and has_unread_texts(event)
            and call_number(_call(event)) in self._wanted.texts
        )

    def has_memory(self, event: EventFormat) -> bool:
        """Tell whether the memory is told to which the arguments of an event lead."""
        return (
            self.is_running
            and self._has_memory
            and memory_of(event) is not None
            and call_number(_call(event)) is not None
        )

    def close(self) -> None:
        """Let nothing be told any more."""
        for one in self._running:
            os.close(one)
        self._running = []


def _attached(made: bytes, tracepoint: str, work: int) -> int:
    """Let a program run, which keeps the memory in which it works."""
    try:
        return attach_program(made, tracepoint)
    finally:
        if work >= 0:
            os.close(work)


def _call(event: EventFormat) -> str:
    return event.name.removeprefix(ENTRY).removeprefix(EXIT)


def memory_of(event: EventFormat) -> CallMemory | None:
    """Return what memory is told of an event.

    Args:
        event: An event of the kernel.

    Returns:
        It; ``None``: none.
    """
    if event.system != "syscalls":
        return None
    return call_memory(_call(event), is_end=event.name.startswith(EXIT))


def has_untold(event: EventFormat) -> bool:
    """Tell whether the kernel leaves out what arguments of an event lead to."""
    return has_unread_texts(event) or memory_of(event) is not None


def joined_at(event: EventFormat) -> int:
    """Return where words are put that lead to it: behind the kernel's own fields."""
    end = max(field.at + field.bytes for field in event.fields)
    return -(-end // _WORD) * _WORD


def _prints_little() -> bool:
    """Tell whether the kernel cuts texts that programs print at 63 bytes.

    Linux does so before 5.13 (``bpf_trace_printk``).
    """
    version = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return version is not None and (int(version[1]), int(version[2])) < (5, 13)


def entry_program(told: Mapping[int, Sequence[int]], memory: MemoryProgram) -> bytes:
    """Return the program that runs where calls begin.

    Args:
        told: By the number of a call, which of its arguments lead to texts.
        memory: What memory is told.

    Returns:
        Its instructions, for a raw tracepoint ``sys_enter``.
    """
    made = Assembly()
    made.add(LOAD, 6, 1, 0)
    made.add(LOAD, 7, 1, 8)
    made.add(MOVE, REGISTERS, 6)
    made.jump("choose", JUMP)
    places = add_texts(made, told, in_pieces=memory.prints_little)
    return _complete(made, {**places, **add_memory(made, memory)})


def exit_program(memory: MemoryProgram) -> bytes:
    """Return the program that runs where calls end, for ``sys_exit``.

    Args:
        memory: What memory is told.
    """
    made = Assembly()
    made.add(LOAD, REGISTERS, 1, 0)
    made.add(LOAD, 6, 1, 8)
    read_number(made)
    made.jump("choose", JUMP)
    return _complete(made, add_memory(made, memory))


def _complete(made: Assembly, places: Mapping[int, str]) -> bytes:
    """Let the number of the call choose its place."""
    made.mark("choose")
    choose_call(made, 7, places, "end")
    made.mark("end")
    made.add_all(done())
    return made.code()
