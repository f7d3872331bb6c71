"""Clock classes (CTF 1.8.3, section 8; CTF2-SPEC-2.0, section 5.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from .attributes import no_attributes

__all__ = ["ClockClass", "ClockOrigin"]


@dataclass(frozen=True, slots=True)
class ClockOrigin:
    """The point where the values of a clock count from."""

    name: str
    """Its name."""
    uid: str
    """Its unique ID within namespace and name."""
    namespace: str | None = None
    """Whose name it is."""


UNIX_EPOCH = ClockOrigin("unix-epoch", "")
"""1970-01-01 00:00:00 UTC."""


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
    """Cycles in addition to those seconds."""
    precision: int | None = 1
    """Random error of a value, cycles, when known."""
    uuid: UUID | None = None
    """Identity of the clock across traces."""
    description: str | None = None
    """Free text."""
    absolute: bool = False
    """Whether it can be compared with all other absolute clocks."""
    accuracy: int | None = None
    """Systematic error of a value, cycles, when known."""
    origin: ClockOrigin | None = None
    """Where its values count from, as CTF 2 tells it."""
    namespace: str | None = None
    """Whose name it has."""
    uid: str | None = None
    """Its unique ID within namespace and name."""
    attributes: Mapping[str, object] = field(default_factory=no_attributes, hash=False)
    """What the producer tells about it, by namespace."""
