"""What a trace is made of: trace class, stream classes, event record classes, clocks.

Frozen values without any input or output; the words are those of CTF. ``vestige.ctf``
builds them from metadata.
"""

from __future__ import annotations

from .clock_class import ClockClass
from .field_class import (
    ArrayFieldClass,
    EnumerationFieldClass,
    EnumerationMapping,
    FieldClass,
    FloatFieldClass,
    IntegerFieldClass,
    Member,
    StringFieldClass,
    StructureFieldClass,
    VariantFieldClass,
)
from .trace_class import EventRecordClass, StreamClass, TraceClass

__all__ = [
    "ArrayFieldClass",
    "ClockClass",
    "EnumerationFieldClass",
    "EnumerationMapping",
    "EventRecordClass",
    "FieldClass",
    "FloatFieldClass",
    "IntegerFieldClass",
    "Member",
    "StreamClass",
    "StringFieldClass",
    "StructureFieldClass",
    "TraceClass",
    "VariantFieldClass",
]
