"""Numbers with a unit or a space of their own, so that none travels unlabelled."""

from __future__ import annotations

from ._typing import NewType

__all__ = [
    "NANOSECONDS_PER_SECOND",
    "Address",
    "ClockCycles",
    "FileAddress",
    "Nanoseconds",
    "Vpid",
]

Address = NewType("Address", int)
"""An address in a process's memory while it ran."""

FileAddress = NewType("FileAddress", int)
"""A virtual address as an object file's own tables state it."""

ClockCycles = NewType("ClockCycles", int)
"""A raw clock value, in the cycles of its clock class."""

Nanoseconds = NewType("Nanoseconds", int)
"""Nanoseconds since the clock's origin: the Unix epoch for real time clocks."""

Vpid = NewType("Vpid", int)
"""A process ID as the process itself sees it (LTTng's ``vpid`` context)."""

NANOSECONDS_PER_SECOND = 1_000_000_000
