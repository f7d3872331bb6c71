"""The states of threads over time, and what falls into a range of time."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...graph import Stream
    from ..threads import Thread

__all__ = [
    "BLOCKED",
    "RUNNABLE",
    "RUNNING",
    "UNKNOWN",
    "Shares",
    "ThreadTurns",
    "Turn",
    "Turns",
    "machine_of",
]

UNKNOWN, RUNNING, RUNNABLE, BLOCKED = range(4)
"""What a thread does: it runs, waits for a CPU, or waits for anything else."""

Machine = tuple[bytes | None, str | None]
"""What tells the boot of a machine from others, as far as traces have it."""


class Turn(NamedTuple):
    """How long a thread was in a state."""

    begin: int
    """Since when, nanoseconds."""
    end: int
    """Until when, nanoseconds."""
    state: int
    """One of :data:`UNKNOWN`, :data:`RUNNING`, :data:`RUNNABLE`, :data:`BLOCKED`."""
    call: str | None
    """The system call in which it waited; ``None``: in none, or it is not known."""


@dataclass(slots=True, kw_only=True)
class Shares:
    """What a thread did in a range of time, nanoseconds."""

    running: int = 0
    """How long it ran."""
    runnable: int = 0
    """How long it waited for a CPU."""
    blocked: int = 0
    """How long it waited for anything else."""
    waits: dict[str, int] = field(default_factory=dict)
    """How long of that in which system call, as far as that is known; the longest
    first."""


class ThreadTurns:
    """The states of a thread.

    Times grow; a state lasts up to the next one, and the last one to the end.
    """

    __slots__ = ("calls", "states", "times")

    def __init__(self) -> None:
        self.times = array("q")
        """When each state began, nanoseconds."""
        self.states = array("B")
        """What they are."""
        self.calls: list[str | None] = []
        """The system call that each began in."""

    def add(self, time: int, state: int, call: str | None = None) -> None:
        """Take note of a new state; one that the thread is in already goes on.

        Args:
            time: When it began, nanoseconds.
            state: What it is.
            call: The system call that the thread is in.
        """
        if self.times and self.times[-1] >= time:
            # It took no time.
            time = self.times.pop()
            self.states.pop()
            self.calls.pop()
        if self.states and self.states[-1] == state:
            return
        self.times.append(time)
        self.states.append(state)
        self.calls.append(call)

    @property
    def last(self) -> int:
        """The last state."""
        return self.states[-1] if self.states else UNKNOWN

    def at(self, time: int) -> int:
        """Return the state at a time.

        Args:
            time: Nanoseconds.
        """
        after = bisect_right(self.times, time)
        return self.states[after - 1] if after else UNKNOWN

    def between(self, begin: int, end: int) -> Iterator[Turn]:
        """Iterate over the states in a range of time, cut at its ends.

        Args:
            begin: First time, nanoseconds.
            end: Last time, nanoseconds.
        """
        times = self.times
        at = max(bisect_right(times, begin) - 1, 0)
        while at < len(times) and times[at] < end:
            until = times[at + 1] if at + 1 < len(times) else end
            first, last = max(times[at], begin), min(until, end)
            if first < last:
                yield Turn(first, last, self.states[at], self.calls[at])
            at += 1

    def shares(self, begin: int, end: int) -> Shares:
        """Return what the thread did in a range of time.

        Args:
            begin: First time, nanoseconds.
            end: Last time, nanoseconds.
        """
        sums = [0, 0, 0, 0]
        waits: dict[str, int] = {}
        for turn in self.between(begin, end):
            time = turn.end - turn.begin
            sums[turn.state] += time
            if turn.state == BLOCKED and turn.call is not None:
                waits[turn.call] = waits.get(turn.call, 0) + time
        longest = sorted(waits.items(), key=lambda one: -one[1])
        return Shares(
            running=sums[RUNNING],
            runnable=sums[RUNNABLE],
            blocked=sums[BLOCKED],
            waits=dict(longest),
        )


class Turns:
    """The states of the threads of some machines.

    Args:
        machines: The threads of each, by their IDs.
        streams: The data streams of all traces.
        losses: How many event records of kernels were lost.
    """

    def __init__(
        self,
        machines: Mapping[Machine, Mapping[int, ThreadTurns]],
        streams: Sequence[Stream],
        losses: int,
    ) -> None:
        self._machines = machines
        self.losses = losses
        """How many event records of kernels were lost: what is told is not exact."""
        self.spaces = {one.process_space: machine_of(one) for one in streams}
        """The machine of each process space."""
        self._traces = {one.trace.name: machine_of(one) for one in streams}

    def of_thread(self, thread: Thread) -> ThreadTurns | None:
        """Return the states of a thread.

        Args:
            thread: The thread, of any trace of the machine.

        Returns:
            Its states; ``None`` if no kernel has told of it.
        """
        found = self._of_number(thread)
        return None if found is None or self._is_elsewhere(found, thread) else found

    def is_elsewhere(self, thread: Thread) -> bool:
        """Tell whether a thread has its ID in a PID namespace of its own.

        Kernels tell the IDs of the machine, and there another thread has that one.

        Args:
            thread: The thread, with its begin and its end; without, nobody knows.
        """
        found = self._of_number(thread)
        return found is not None and self._is_elsewhere(found, thread)

    def _of_number(self, thread: Thread) -> ThreadTurns | None:
        machine = self._traces.get(thread.process.trace)
        if machine is None or thread.tid is None:
            return None
        return self._machines.get(machine, {}).get(thread.tid)

    def _is_elsewhere(self, found: ThreadTurns, thread: Thread) -> bool:
        # Whoever records an event runs then.
        if thread.begin is None or thread.end is None:
            return False
        states = {found.at(thread.begin), found.at(thread.end)}
        if thread.process.namespace:
            # Where the recorder is in one, too, IDs may still be those of the machine.
            return self.losses > 0 or states != {RUNNING}
        return not self.losses and RUNNING not in states and states != {UNKNOWN}

    def of_spaces(self) -> Iterator[tuple[int, int, ThreadTurns]]:
        """Iterate over process spaces, their threads' IDs and states."""
        for space, machine in self.spaces.items():
            for thread, turns in self._machines.get(machine, {}).items():
                yield space, thread, turns


def machine_of(stream: Stream) -> Machine:
    """Return of which machine, and which boot of it, a data stream tells.

    Args:
        stream: The data stream.
    """
    clock = stream.handle.clock
    host = stream.trace.parsed.environment.get("hostname")
    uuid = None if clock is None else clock["uuid"]
    return uuid, None if host is None else str(host)
