"""What can be recorded of a program, found in its files without running it."""

from __future__ import annotations

from .instrumentation import Instrumentation
from .program_objects import FoundObject, Listing, list_process, list_program
from .tracepoints import Field, Tracepoint

__all__ = [
    "Field",
    "FoundObject",
    "Instrumentation",
    "Listing",
    "Tracepoint",
    "list_process",
    "list_program",
]
