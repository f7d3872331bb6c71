"""The clock of a recording, and how its values become times.

The tracer reads the time-stamp counter where that runs at a constant rate, and
``CLOCK_MONOTONIC`` elsewhere. A counter's frequency is measured against
``CLOCK_BOOTTIME``: for a moment before the program starts, now and then while it runs,
so that the trace of a killed recorder has good times, too, and over the whole recording
when it ends.

When the machine is suspended, ``CLOCK_MONOTONIC`` stands still and ``CLOCK_BOOTTIME``
goes on (clock_gettime(2)); the counter goes on, stands still, or begins at zero, as the
machine has it. A frequency that such a break has spoilt is refused.
"""

from __future__ import annotations

import time

from ...._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = [
    "ClockRate",
    "Instant",
    "RecordingClock",
    "has_constant_counter",
    "measure_rate",
    "take",
]

AVAILABLE_CLOCKS = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
SECOND = 1_000_000_000
"""Nanoseconds."""
MOST_READINGS = 200
"""Of both clocks; the closest pair counts."""
ENOUGH_READINGS = 40
"""As many in a row without a closer one, and it is the closest."""
LATER_SPANS = (0.02, *(0.05 * 4**number for number in range(12)))
"""Seconds after which the frequency is measured again, while the program runs.

Before the first, an error of 50 ns in some milliseconds makes it wrong by some 0.001 %.
Each is 4 times as long as the one before, so what is known then moves the present by a
few nanoseconds: who follows two domains may learn of it from one of them first.
"""
GREATEST_DRIFT = 1_000
"""Parts in a million by which a frequency may differ from the first one."""
SHORTEST_SUSPENSION = 1_000_000
"""Nanoseconds. Two clocks cannot be read at once, so no shorter one is known."""


class Instant(NamedTuple):
    """One moment by four clocks."""

    value: int
    """Of the recording's clock."""

    monotonic: int
    """Of ``CLOCK_MONOTONIC``, in nanoseconds."""

    real: int
    """Nanoseconds since the Unix epoch."""

    suspended: int = 0
    """Nanoseconds for which the machine has been suspended since it was started."""


class ClockRate(NamedTuple):
    """How values of the recording's clock become times."""

    frequency: int
    """Values in a second."""

    offset: int
    """The clock's value at the Unix epoch, negated: what is added to each value."""


def has_constant_counter(
    cpuinfo: str | Path = "/proc/cpuinfo", clocks: str | Path = AVAILABLE_CLOCKS
) -> bool:
    """Tell whether the time-stamp counter runs at one rate on all cores.

    Args:
        cpuinfo: The kernel's description of the cores.
        clocks: Which clocks the kernel would use itself: one that has turned out to be
            unstable is not among them.

    Returns:
        Whether all flags say so and the kernel agrees; False where nothing says it.
    """
    try:
        # As bytes: to decode ASCII, Python imports a module.
        with open(clocks, "rb") as file:
            if b"tsc" not in file.read().split():
                return False
        with open(cpuinfo, "rb") as file:
            text = file.read()
    except OSError:
        return False
    flags = [
        set(line.split()) for line in text.splitlines() if line.startswith(b"flags")
    ]
    return bool(flags) and all(
        {b"constant_tsc", b"nonstop_tsc"} <= known for known in flags
    )


class RecordingClock:
    """The clock of a recording, whose rate is known the better the longer it runs.

    Args:
        read: Reads the counter; ``None`` when the clock is ``CLOCK_MONOTONIC``.
        begin: The moment at which the recording began; ``None`` is now.
    """

    def __init__(
        self, read: Callable[[], int] | None, begin: Instant | None = None
    ) -> None:
        self._read = read
        self._begin = begin or take(read)
        self._first: ClockRate | None = None
        self._good: ClockRate | None = None
        self._settled: ClockRate | None = None
        self.problem: str | None = None
        """Why the last rate was refused, and one from before was returned instead."""

    @property
    def begin(self) -> Instant:
        """The moment at which the recording began."""
        return self._begin

    def now(self) -> int:
        """Return the clock's present value."""
        return time.monotonic_ns() if self._read is None else self._read()

    @property
    def is_counter(self) -> bool:
        """Whether it is the time-stamp counter."""
        return self._read is not None

    def rate(self) -> ClockRate:
        """Return the rate from the start until now.

        Returns:
            The rate; the last good one when this one is far from the first; the one
            that was settled, once there is such.
        """
        if self._read is None:
            return ClockRate(SECOND, self._begin.real - self._begin.value)
        present = take(self._read)
        rate = measure_rate(self._begin, present)
        self._first = self._first or rate
        drift = abs(rate.frequency - self._first.frequency)
        if self._good and drift * 1_000_000 > GREATEST_DRIFT * self._first.frequency:
            is_suspended = _suspension(self._begin, present) > 0
            self.problem = (
                "the processor's counter did not keep its rate"
                + (" when the machine was suspended" if is_suspended else "")
                + f" ({self._first.frequency:,} Hz, then {rate.frequency:,} Hz on "
                "average): times after that are wrong"
            )
            return self._settled or self._good
        self.problem = None
        self._good = rate
        return self._settled or rate

    @property
    def age(self) -> float:
        """For how many seconds the recording has gone on."""
        return (time.monotonic_ns() - self._begin.monotonic) / SECOND

    @property
    def is_settled(self) -> bool:
        """Whether the rate changes no more."""
        return self._settled is not None

    def settle(self) -> ClockRate:
        """Let the rate be what it is now from now on.

        Returns:
            The rate.
        """
        self._settled = self.rate()
        return self._settled


def take(read: Callable[[], int] | None) -> Instant:
    """Read all clocks as nearly at one moment as can be.

    Args:
        read: Reads the counter; ``None`` when the clock is ``CLOCK_MONOTONIC``.

    Returns:
        The moment.
    """
    closest = _take_once(read)
    others = 0
    for _ in range(MOST_READINGS):
        one = _take_once(read)
        others += 1
        if one[0] < closest[0]:
            closest, others = one, 0
        if others == ENOUGH_READINGS:
            break
    _, before, value, after, real, end, suspended = closest
    middle = (before + after) // 2
    real += middle - (after + end) // 2
    return Instant(middle if value is None else value, middle, real, suspended)


def _take_once(
    read: Callable[[], int] | None,
) -> tuple[int, int, int | None, int, int, int, int]:
    """Return how long the readings took, and what was read, in that order.

    Nothing is worked out of those that are not the closest ones, which are most.
    """
    monotonic = time.monotonic_ns
    before = monotonic()
    value = None if read is None else read()
    after = monotonic()
    real = time.time_ns()
    end = monotonic()
    suspended = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - monotonic()
    return end - before, before, value, after, real, end, suspended


def measure_rate(begin: Instant, end: Instant) -> ClockRate:
    """Work out the rate between two moments; real time is that of the first.

    Args:
        begin: The first moment.
        end: A later one.

    Returns:
        The rate.
    """
    span = max(end.monotonic - begin.monotonic + _suspension(begin, end), 1)
    frequency = round((end.value - begin.value) * SECOND / span) or SECOND
    seconds, rest = divmod(begin.real, SECOND)
    offset = seconds * frequency + rest * frequency // SECOND - begin.value
    return ClockRate(frequency, offset)


def _suspension(begin: Instant, end: Instant) -> int:
    """Return for how long the machine was suspended meanwhile, nanoseconds."""
    span = end.suspended - begin.suspended
    return span if span >= SHORTEST_SUSPENSION else 0
