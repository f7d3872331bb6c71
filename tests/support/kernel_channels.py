"""Records the kernel by the process that does it, without a program or a session."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from vestige.record.backends.kernel.metadata import ClockFacts
from vestige.record.backends.kernel.process_link import CollectorProcess
from vestige.record.backends.kernel.rules import KernelRule
from vestige.record.backends.kernel.wanted import ChannelWanted, Wanted

__all__ = ["channel_wanted", "kernel_wanted", "record_kernel"]

_UUID = "0d5d1ca2-6b4a-4dd8-9dd0-6b7d0a2e6f11"


def channel_wanted(
    rules: Sequence[KernelRule], contexts: Sequence[str] = ()
) -> ChannelWanted:
    """Return a channel with buffers that are large enough.

    Args:
        rules: What is recorded.
        contexts: Contexts of all records.
    """
    return ChannelWanted("channel0", list(rules), 4 << 20, contexts=list(contexts))


def kernel_wanted(
    directory: Path | str,
    channels: Sequence[ChannelWanted],
    *,
    tracked: Mapping[str, list[int] | None] | None = None,
    grows: bool = False,
) -> Wanted:
    """Return a trace of this user, with the clock that all machines have.

    Args:
        directory: The directory of the trace, which is to be made.
        channels: Its channels.
        tracked: The inclusion sets.
        grows: Whether anything may be wanted later.
    """
    clock = ClockFacts("monotonic", "", _UUID, 10**9, 0, time.monotonic_ns())
    owner = os.geteuid(), os.getegid()
    return Wanted(
        *(str(directory), "test", _UUID, clock, *owner, list(channels)),
        tracked=dict(tracked or {}),
        grows=grows,
    )


def record_kernel(
    directory: Path,
    rules: Sequence[KernelRule],
    work: Callable[[CollectorProcess], object],
    *,
    contexts: Sequence[str] = (),
    tracked: Mapping[str, list[int] | None] | None = None,
    grows: bool = False,
) -> tuple[list[str], dict[str, int]]:
    """Record what the kernel does while something is done.

    Args:
        directory: The directory of the trace, which is to be made.
        rules: What is recorded.
        work: What is done meanwhile, given the process that records.
        contexts: Contexts of all records.
        tracked: The inclusion sets.
        grows: Whether anything may be wanted later.

    Returns:
        The problems that were told; records and losses of all CPUs.
    """
    channels = [channel_wanted(rules, contexts)]
    wanted = kernel_wanted(directory, channels, tracked=tracked, grows=grows)
    process = CollectorProcess(wanted)
    try:
        process.wait_until_ready()
        process.ask("start", left_out=[])
        work(process)
        [counts] = process.ask("end")
    finally:
        process.end()
    assert counts["failure"] is None
    return process.problems, counts
