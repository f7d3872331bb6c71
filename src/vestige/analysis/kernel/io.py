"""Input and output of a machine: what threads read and wrote, disks, interfaces, pages.

System calls say what was asked for and what came of it; requests to disks and packets
of interfaces are what the kernel did. A system call belongs to the thread that runs on
its CPU, as ``sched_switch`` says, unless the records have the thread as a context.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..._typing import TYPE_CHECKING
from ...units import Nanoseconds
from ..durations import Durations
from ..threads import Thread

if TYPE_CHECKING:
    from ...damage import Damage
    from ...graph import LostNotice

__all__ = [
    "DiskUse",
    "InterfaceUse",
    "IoOperation",
    "KernelIo",
    "LongIo",
    "ThreadIo",
    "device_name",
]

SECTOR = 512
"""Bytes of a sector, as the kernel counts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadIo:
    """What a thread read and wrote."""

    thread: int
    """Thread ID."""
    name: str | None
    """Its name: the last one that it had."""
    read: int
    """Bytes that its system calls read."""
    written: int
    """Bytes that they wrote."""
    reads: int
    """How many of its system calls read something."""
    writes: int
    """How many wrote something."""
    failed: int
    """How many of those that read, write, open or sync failed."""
    disk_read: int
    """Bytes of requests to read from disks that were issued while it ran."""
    disk_written: int
    """The same of requests to write."""
    pages_allocated: int
    """Pages of memory that were allocated while it ran."""
    pages_freed: int
    """Pages that were given back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongIo:
    """An operation that is among the longest."""

    begin: Nanoseconds
    """When it began, nanoseconds."""
    duration: int
    """How long it took, nanoseconds."""
    call: str
    """The system call, such as ``pread64``; of disks ``read`` or ``write``."""
    thread: Thread
    """The thread, as far as it is known."""
    file_descriptor: int | None
    """The file, as far as the call has one."""
    size: int | None
    """Bytes that were read or written; ``None`` of calls that do neither or failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IoOperation:
    """How long system calls of a kind took."""

    name: str
    """``open``, ``read``, ``write`` or ``sync``."""
    durations: Durations[LongIo]
    """How long they took, failed ones too."""
    total: int
    """Their time, nanoseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskUse:
    """Requests that a disk completed."""

    device: int
    """Number of the device."""
    name: str
    """Its name, where the state dump has it, else ``(MAJOR,MINOR)``."""
    requests: int
    """How many requests it completed."""
    sectors_read: int
    """Sectors of those that read."""
    sectors_written: int
    """Sectors of those that wrote."""
    durations: Durations[LongIo]
    """How long they took from being issued to their completion."""
    total: int
    """Their time, nanoseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceUse:
    """What passed an interface to a network."""

    name: str
    """Its name."""
    received: int
    """Bytes that were received."""
    received_packets: int
    """Packets that were received."""
    sent: int
    """Bytes that were sent."""
    sent_packets: int
    """Packets that were sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelIo:
    """Input and output of a machine, as a trace of its kernel has them."""

    trace: str
    """Name of the trace."""
    threads: list[ThreadIo]
    """The threads, those that read and wrote most first."""
    operations: list[IoOperation]
    """System calls by kind."""
    disks: list[DiskUse]
    """The disks, by number."""
    interfaces: list[InterfaceUse]
    """The interfaces, by name."""
    losses: list[LostNotice]
    """What the tracer lost."""
    damage: list[Damage]
    """What could not be read."""


def device_name(device: int, names: Mapping[int, str]) -> str:
    """Return what a disk is called.

    Args:
        device: Its number.
        names: Names of some.
    """
    # As include/linux/kdev_t.h of Linux packs them.
    return names.get(device) or f"({device >> 20},{device & 0xFFFFF})"
