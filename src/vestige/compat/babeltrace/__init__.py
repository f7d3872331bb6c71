"""Babeltrace 1's Python module ``babeltrace``, over Vestige: what reads traces.

Scripts are run with it by ``python -m vestige.compat.babeltrace script.py ARGS``: there
``import babeltrace`` gives this package. It has the names and behaviour of version
1.5, of which it is no part; what writes traces is not there.
"""

from __future__ import annotations

from .collection import TraceCollection, TraceHandle
from .constants import (
    ByteOrder,
    ClockType,
    CTFScope,
    CTFStringEncoding,
    CTFTypeId,
)
from .declarations import (
    ArrayFieldDeclaration,
    EnumerationFieldDeclaration,
    EventDeclaration,
    FieldDeclaration,
    FloatFieldDeclaration,
    IntegerFieldDeclaration,
    SequenceFieldDeclaration,
    StringFieldDeclaration,
    StructureFieldDeclaration,
    VariantFieldDeclaration,
)
from .event import Event, FieldError, field_error

__all__ = [
    "ArrayFieldDeclaration",
    "ByteOrder",
    "CTFScope",
    "CTFStringEncoding",
    "CTFTypeId",
    "ClockType",
    "EnumerationFieldDeclaration",
    "Event",
    "EventDeclaration",
    "FieldDeclaration",
    "FieldError",
    "FloatFieldDeclaration",
    "IntegerFieldDeclaration",
    "SequenceFieldDeclaration",
    "StringFieldDeclaration",
    "StructureFieldDeclaration",
    "TraceCollection",
    "TraceHandle",
    "VariantFieldDeclaration",
    "field_error",
]

__version__ = "1.5.11"
"""The version of ``babeltrace`` whose names and behaviour these are."""
