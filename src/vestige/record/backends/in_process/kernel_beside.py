"""The kernel beside a program: both have the clock of the recording."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ....errors import RecordError
from ...trace_directory import KERNEL, PROGRAMS
from ..kernel.domain import KernelDomain
from ..kernel.metadata import ClockFacts
from .metadata import boot_id, clock_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...rules.options import RecordingOptions
    from ...trace_directory import Places
    from .clock import ClockRate, RecordingClock
    from .collector import RunningCollector

__all__ = [
    "SMALLEST_BUFFER",
    "archive_both",
    "copy_both",
    "kernel_domain",
    "share_size",
]

MODE = 0o770
SMALLEST_BUFFER = 8192
"""Bytes that a CPU has at least."""


def kernel_domain(
    places: Places,
    options: RecordingOptions,
    clock: RecordingClock,
    uuid: str,
    *,
    is_overwriting: bool = False,
) -> KernelDomain:
    """Prepare to record the kernel.

    Args:
        places: Where its trace is made, and the recording.
        options: What is recorded.
        clock: The clock of the recording.
        uuid: The UUID of the trace.
        is_overwriting: Whether what is old makes room in a full buffer, also in a
            mode that is not ``overwrite``.

    Returns:
        What records it.
    """
    rate = clock.rate()
    facts = ClockFacts(
        *clock_names(clock),
        boot_id(),
        rate.frequency,
        rate.offset,
        clock.begin.value,
        clock.is_counter,
    )
    return KernelDomain(places, options, facts, uuid, is_overwriting=is_overwriting)


def share_size(options: RecordingOptions) -> tuple[RecordingOptions, RecordingOptions]:
    """Divide the size of a recording in overwrite mode among programs and the kernel.

    Args:
        options: What is recorded.

    Returns:
        What is recorded of programs, and of the kernel: it has ``buffer_size`` for each
        CPU, but no more than half of the recording in all, and programs have the rest.
    """
    if options.mode != "overwrite":
        return options, options
    cpus = os.cpu_count() or 1
    half = options.size_limit // 2
    each = max(min(options.buffer_size, half // cpus), SMALLEST_BUFFER)
    rest = max(options.size_limit - each * cpus, half)
    return options._replace(max_size=rest), options._replace(buffer_size=each)


def archive_both(
    collector: RunningCollector, kernel: KernelDomain, directory: str, rate: ClockRate
) -> None:
    """Move what both domains have recorded up to now, and go on.

    Args:
        collector: What collects of programs.
        kernel: The kernel.
        directory: Where to; it is empty.
        rate: The rate of the clock, as the metadata have it.

    Raises:
        OSError: It cannot be moved. What was not goes to the next chunk.
        RecordError: As of :meth:`.RunningCollector.archive`.
    """
    with _programs(directory) as programs:
        collector.archive(programs)
    kernel.rotate(os.path.join(directory, KERNEL), rate)


def copy_both(
    collector: RunningCollector, kernel: KernelDomain, directory: str, rate: ClockRate
) -> None:
    """Copy what both domains hold now.

    Args:
        collector: What collects of programs.
        kernel: The kernel.
        directory: Where to; it is empty.
        rate: The rate of the clock, as the metadata have it.

    Raises:
        OSError: It cannot be written.
    """
    with _programs(directory) as programs:
        collector.copy(programs)
    kernel.snapshot(os.path.join(directory, KERNEL), rate)


@contextmanager
def _programs(directory: str) -> Iterator[str]:
    """Make the directory of programs in that of a chunk; it goes if that fails."""
    place = os.path.join(directory, PROGRAMS)
    os.mkdir(place, MODE)
    try:
        yield place
    except (OSError, RecordError):
        # What was moved is not to be lost.
        with suppress(OSError):
            os.rmdir(place)
        raise
