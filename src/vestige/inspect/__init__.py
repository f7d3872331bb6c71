"""Looking into programs without running them: what there is to record, and what is not.

Nothing here knows of recordings.
"""

from __future__ import annotations

from .._lazy import lazy_names
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_HOMES = {
    "Field": "tracepoints",
    "FoundObject": "program_objects",
    "Instrumentation": "instrumentation",
    "Listing": "program_objects",
    "Tracepoint": "tracepoints",
    "list_process": "program_objects",
    "list_program": "program_objects",
}
"""The module of each public name, imported when the name is first used."""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
