"""The clock of a recording, and how its values become times.

The tracer reads the time-stamp counter where that runs at a constant rate, and
``CLOCK_MONOTONIC`` elsewhere. A counter's frequency is measured against
``CLOCK_MONOTONIC``: shortly before the program starts, so that the trace of a killed
recorder is readable, and over the whole recording when it ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ClockRate", "Instant", "has_constant_counter", "measure_rate", "take"]

SECOND = 1_000_000_000
"""Nanoseconds."""
TRIES = 200
"""Readings of both clocks, of which the closest pair counts."""
FIRST_SPAN = 20_000_000
"""Nanoseconds of the first measurement: it delays the start of the program."""


@dataclass(frozen=True)
class Instant:
    """One moment by three clocks."""

    value: int
    """Of the recording's clock."""

    monotonic: int
    """Of ``CLOCK_MONOTONIC``, in nanoseconds."""

    real: int
    """Nanoseconds since the Unix epoch."""


@dataclass(frozen=True)
class ClockRate:
    """How values of the recording's clock become times."""

    frequency: int
    """Values in a second."""

    offset: int
    """The clock's value at the Unix epoch, negated: what is added to each value."""


def has_constant_counter(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Tell whether the time-stamp counter runs at one rate on all cores.

    Args:
        cpuinfo: The kernel's description of the cores.

    Returns:
        Whether all flags say so; False where the file says nothing of it.
    """
    try:
        text = cpuinfo.read_text()
    except OSError:
        return False
    flags = [
        set(line.split()) for line in text.splitlines() if line.startswith("flags")
    ]
    return bool(flags) and all(
        {"constant_tsc", "nonstop_tsc"} <= known for known in flags
    )


def take(read: Callable[[], int] | None) -> Instant:
    """Read all clocks as nearly at one moment as can be.

    Args:
        read: Reads the counter; ``None`` when the clock is ``CLOCK_MONOTONIC``.

    Returns:
        The moment.
    """
    return min((_take_once(read) for _ in range(TRIES)), key=lambda seen: seen[0])[1]


def _take_once(read: Callable[[], int] | None) -> tuple[int, Instant]:
    """Return how long the readings took, and the moment in the middle."""
    before = time.monotonic_ns()
    value = None if read is None else read()
    after = time.monotonic_ns()
    real = time.time_ns()
    end = time.monotonic_ns()
    middle = (before + after) // 2
    real += middle - (after + end) // 2
    return end - before, Instant(middle if value is None else value, middle, real)


def measure_rate(begin: Instant, end: Instant) -> ClockRate:
    """Work out the rate between two moments; real time is that of the first.

    Args:
        begin: The first moment.
        end: A later one.

    Returns:
        The rate.
    """
    span = max(end.monotonic - begin.monotonic, 1)
    frequency = round((end.value - begin.value) * SECOND / span) or SECOND
    seconds, rest = divmod(begin.real, SECOND)
    offset = seconds * frequency + rest * frequency // SECOND - begin.value
    return ClockRate(frequency, offset)
