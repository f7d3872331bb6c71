"""What call stacks of the kernel's events add up to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...damage import Damage
    from ...graph import LostNotice
    from ..functions import Function

__all__ = ["CallStacks", "Frame", "Stack", "StackTimes"]


class Frame(NamedTuple):
    """A function in a call stack."""

    function: Function
    """The function; the same one in all stacks that it is in."""
    is_kernel: bool
    """Whether it is one of the kernel."""
    is_library: bool
    """Whether it is one of a shared library."""
    source: str | None
    """Source file, without its directories, and line: of what was executed, or of the
    call of the next frame."""


@dataclass(slots=True)
class StackTimes:
    """What event records with a call stack add up to."""

    count: int = 0
    """How many there are: waits that have ended, or event records."""
    total: int = 0
    """How long the waits took, nanoseconds; 0 of event records."""
    longest: int = 0
    """How long the longest took, nanoseconds."""
    runnable: int = 0
    """How much of ``total`` the thread could have run, nanoseconds: it had been woken,
    as far as that was recorded, or did not wait for anything but a CPU."""

    def add(self, other: StackTimes) -> None:
        """Add what others add up to.

        Args:
            other: The others.
        """
        self.count += other.count
        self.total += other.total
        self.longest = max(self.longest, other.longest)
        self.runnable += other.runnable


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A call stack of a thread."""

    trace: str
    """Name of the trace."""
    space: int
    """What tells traces of the same name apart; see :class:`.graph.Stream`."""
    process: int | None
    """Process ID, where the trace has it."""
    thread: int | None
    """Thread ID; ``None`` where nobody knows."""
    name: str | None
    """Name of the thread: the last one that it had."""
    event: str | None
    """Name of the events; ``None`` for waits."""
    frames: tuple[Frame, ...]
    """The functions, outermost first: those of the program, then the kernel's."""
    is_cut: bool
    """Whether callers are missing: the kernel writes no more of them."""
    times: StackTimes = field(default_factory=StackTimes)
    """What the event records add up to."""


@dataclass(slots=True, kw_only=True)
class CallStacks:
    """The call stacks of some traces."""

    stacks: list[Stack]
    """The stacks of each thread, those with the longest time or most events first."""
    is_time: bool
    """Whether they have times: those of waits do, events do not."""
    without_stack: int = 0
    """How many event records have no stack at all; they are among the stacks, too."""
    unended: int = 0
    """How many waits have no end that is known: they are in no stack."""
    losses: list[LostNotice] = field(default_factory=list)
    """What the tracer lost."""
    damage: list[Damage] = field(default_factory=list)
    """What could not be read."""

    @property
    def sums(self) -> StackTimes:
        """What all of them add up to."""
        return added(one.times for one in self.stacks)

    def joined(self) -> list[Stack]:
        """Return the stacks with those of threads of the same name as one.

        Returns:
            Them, without process and thread where there is a name.
        """
        found: dict[tuple[object, ...], Stack] = {}
        for one in self.stacks:
            thread = None if one.name else one.thread
            trace = one.trace, one.space
            key = (trace, one.name, thread, one.event, one.frames, one.is_cut)
            known = found.get(key)
            if known is None:
                process = None if one.name else one.process
                known = found[key] = replace(
                    one, process=process, thread=thread, times=StackTimes()
                )
            known.times.add(one.times)
        return sorted(found.values(), key=lambda one: -self.weight(one.times))

    def weight(self, times: StackTimes) -> int:
        """Return what stacks are compared by: time, nanoseconds, or number of events.

        Args:
            times: What a stack adds up to.
        """
        return times.total if self.is_time else times.count


def added(times: Iterable[StackTimes]) -> StackTimes:
    """Add up.

    Args:
        times: What is added up.
    """
    found = StackTimes()
    for one in times:
        found.add(one)
    return found
