"""Vestige: read traces, with every event at the source line it came from.

>>> import vestige
>>> for event in vestige.open("my-trace"):
...     print(event.timestamp, event.name, event.payload, event.debug_info)

:func:`open` gives a :class:`Trace`; iterating over it, or over a selection such as
``trace.events("my_app:*")``, yields :class:`Event` objects, whose fields are decoded
when they are asked for. Everything that goes wrong is a :class:`VestigeError`.
"""

from __future__ import annotations

from ._version import __version__
from .components.filters.debug_info import DebugInfoOptions
from .core import EventRecord as Event
from .debuginfo import Place, Unresolved
from .errors import (
    CommandError,
    DebugInfoError,
    GraphError,
    NotATraceError,
    SelectionError,
    TraceFormatError,
    VestigeError,
)
from .graph import Stream
from .trace import EventSelection, Trace, TraceDamageWarning, open  # noqa: A004
from .values import EnumerationValue

__all__ = [
    "CommandError",
    "DebugInfoError",
    "DebugInfoOptions",
    "EnumerationValue",
    "Event",
    "EventSelection",
    "GraphError",
    "NotATraceError",
    "Place",
    "SelectionError",
    "Stream",
    "Trace",
    "TraceDamageWarning",
    "TraceFormatError",
    "Unresolved",
    "VestigeError",
    "__version__",
    "open",
]
