"""What a trace is made of: trace class, stream classes, event record classes, clocks.

Frozen values without any input or output; the words are those of CTF. ``vestige.ctf``
builds them from metadata.
"""

from __future__ import annotations

from .clock_class import ClockClass, ClockOrigin
from .field_class import (
    ArrayFieldClass,
    BitArrayFieldClass,
    BitMapFieldClass,
    BlobFieldClass,
    BooleanFieldClass,
    EncodedStringFieldClass,
    EnumerationFieldClass,
    EnumerationMapping,
    FieldClass,
    FloatFieldClass,
    IntegerFieldClass,
    Member,
    OptionalFieldClass,
    StringFieldClass,
    StructureFieldClass,
    VariableLengthIntegerFieldClass,
    VariantFieldClass,
)
from .trace_class import EventRecordClass, StreamClass, TraceClass

__all__ = [
    "ArrayFieldClass",
    "BitArrayFieldClass",
    "BitMapFieldClass",
    "BlobFieldClass",
    "BooleanFieldClass",
    "ClockClass",
    "ClockOrigin",
    "EncodedStringFieldClass",
    "EnumerationFieldClass",
    "EnumerationMapping",
    "EventRecordClass",
    "FieldClass",
    "FloatFieldClass",
    "IntegerFieldClass",
    "Member",
    "OptionalFieldClass",
    "StreamClass",
    "StringFieldClass",
    "StructureFieldClass",
    "TraceClass",
    "VariableLengthIntegerFieldClass",
    "VariantFieldClass",
]
