"""Trace, stream and event record classes.

CTF 1.8.3, sections 5 to 7; CTF2-SPEC-2.0, sections 5.6 to 5.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from .attributes import no_attributes
from .clock_class import ClockClass
from .field_class import StructureFieldClass

__all__ = ["EventRecordClass", "StreamClass", "TraceClass"]


@dataclass(frozen=True, slots=True)
class EventRecordClass:
    """A kind of event record."""

    id: int
    """ID, unique in its stream class."""
    name: str | None
    """Name such as ``provider:event``."""
    log_level: int | None
    """Severity, 0 (emergency) to 14 (debug)."""
    emf_uri: str | None
    """URI of an Eclipse Modeling Framework model."""
    context: StructureFieldClass | None
    """Specific context."""
    payload: StructureFieldClass | None
    """Payload."""
    namespace: str | None = None
    """Whose name it has."""
    uid: str | None = None
    """Unique ID within namespace and name."""
    attributes: Mapping[str, object] = field(default_factory=no_attributes, hash=False)
    """What the producer tells about it, by namespace."""


@dataclass(frozen=True, slots=True)
class StreamClass:
    """A kind of data stream."""

    id: int
    """ID, unique in the trace class."""
    clock: ClockClass | None
    """The clock of its time stamps."""
    packet_context: StructureFieldClass | None
    """Context of each packet."""
    event_context: StructureFieldClass | None
    """Common context of each event record."""
    event_classes: tuple[EventRecordClass, ...]
    """Event record classes in the order of the metadata."""
    namespace: str | None = None
    """Whose name it has."""
    name: str | None = None
    """Name."""
    uid: str | None = None
    """Unique ID within namespace and name."""
    attributes: Mapping[str, object] = field(default_factory=no_attributes, hash=False)
    """What the producer tells about it, by namespace."""


@dataclass(frozen=True, slots=True)
class TraceClass:
    """All that the metadata of a trace declares."""

    version: tuple[int, int]
    """Version of CTF that the metadata claims."""
    uuid: UUID | None
    """Identity of the trace; in CTF 2 that of its metadata."""
    environment: Mapping[str, int | str]
    """What the tracer says about itself and the machine."""
    clocks: tuple[ClockClass, ...]
    """All clock classes."""
    stream_classes: tuple[StreamClass, ...]
    """All stream classes."""
    namespace: str | None = None
    """Whose name it has."""
    name: str | None = None
    """Name."""
    uid: str | None = None
    """Unique ID within namespace and name."""
    attributes: Mapping[str, object] = field(default_factory=no_attributes, hash=False)
    """What the producer tells about it, by namespace."""
