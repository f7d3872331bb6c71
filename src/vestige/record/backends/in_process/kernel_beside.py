"""The kernel beside a program: both have the clock of the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..kernel.domain import KernelDomain
from ..kernel.metadata import ClockFacts
from .metadata import boot_id, clock_names

if TYPE_CHECKING:
    from ...rules.options import RecordingOptions
    from .clock import RecordingClock

__all__ = ["kernel_domain"]


def kernel_domain(
    directory: str,
    options: RecordingOptions,
    clock: RecordingClock,
    uuid: str,
    *,
    is_overwriting: bool = False,
) -> KernelDomain:
    """Prepare to record the kernel.

    Args:
        directory: Where its trace is made.
        options: What is recorded.
        clock: The clock of the recording.
        uuid: The UUID of the trace.
        is_overwriting: Whether what is old makes room in a full buffer.

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
    return KernelDomain(directory, options, facts, uuid, is_overwriting=is_overwriting)
