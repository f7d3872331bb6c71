"""Clock classes (CTF 1.8.3, section 8)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

__all__ = ["ClockClass"]


@dataclass(frozen=True, slots=True)
class ClockClass:
    """A clock that time stamps of a trace refer to."""

    name: str
    """Its name in the metadata."""
    frequency: int
    """Cycles per second."""
    offset_seconds: int
    """Whole seconds from the origin at the clock value 0."""
    offset_cycles: int
    """Cycles beside those seconds."""
    precision: int = 1
    """Error of a value, cycles."""
    uuid: UUID | None = None
    """Identity of the clock across traces."""
    description: str | None = None
    """Free text."""
    absolute: bool = False
    """Whether it can be compared with all other absolute clocks."""
