"""Vestige: record what programs do, and see each event at its source line.

``vestige record -- ./app`` on the command line records a program in C, C++ or Python.
This package reads the recording, or any other trace in the Common Trace Format:

>>> import vestige
>>> for event in vestige.open("my-trace"):
...     print(event.timestamp, event.name, event.payload, event.debug_info)

:func:`open` returns a :class:`Trace`. Iterating over it, or over a selection such as
``trace.events("my_app:*")``, yields :class:`Event` objects, which decode a field when
you ask for it. Everything that goes wrong is a :class:`VestigeError`.

Other parts are modules of their own: :mod:`vestige.instrument` has tracepoints and
spans for Python programs, :mod:`vestige.record` starts recordings, :mod:`vestige.ctf`
writes traces, :mod:`vestige.export` writes tables, :mod:`vestige.analysis` has call
trees.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .columns import EventColumns
    from .core import EventRecord as Event
    from .damage import Damage
    from .debuginfo import Place, Unresolved
    from .debuginfo.options import DebugInfoOptions
    from .errors import (
        CommandError,
        DebugInfoError,
        DeclarationError,
        FieldValueError,
        ForkError,
        GraphError,
        MissingExtraError,
        NotATraceError,
        ProgramError,
        RecordError,
        SelectionError,
        StorageError,
        TimestampError,
        TraceFormatError,
        UnknownFieldError,
        VestigeError,
        WriteError,
        WriterClosedError,
    )
    from .graph import Stream
    from .selection import EventSelection
    from .trace import Trace, TraceDamageWarning, open  # noqa: A004
    from .values import BitMapValue, EnumerationValue

__all__ = [
    "BitMapValue",
    "CommandError",
    "Damage",
    "DebugInfoError",
    "DebugInfoOptions",
    "DeclarationError",
    "EnumerationValue",
    "Event",
    "EventColumns",
    "EventSelection",
    "FieldValueError",
    "ForkError",
    "GraphError",
    "MissingExtraError",
    "NotATraceError",
    "Place",
    "ProgramError",
    "RecordError",
    "SelectionError",
    "StorageError",
    "Stream",
    "TimestampError",
    "Trace",
    "TraceDamageWarning",
    "TraceFormatError",
    "UnknownFieldError",
    "Unresolved",
    "VestigeError",
    "WriteError",
    "WriterClosedError",
    "__version__",
    "open",
]

_HOMES = {
    "BitMapValue": "values",
    "CommandError": "errors",
    "Damage": "damage",
    "DebugInfoError": "errors",
    "DebugInfoOptions": "debuginfo.options",
    "DeclarationError": "errors",
    "EnumerationValue": "values",
    "EventColumns": "columns",
    "EventSelection": "selection",
    "FieldValueError": "errors",
    "ForkError": "errors",
    "GraphError": "errors",
    "MissingExtraError": "errors",
    "NotATraceError": "errors",
    "Place": "debuginfo",
    "ProgramError": "errors",
    "RecordError": "errors",
    "SelectionError": "errors",
    "StorageError": "errors",
    "Stream": "graph",
    "TimestampError": "errors",
    "Trace": "trace",
    "TraceDamageWarning": "trace",
    "TraceFormatError": "errors",
    "UnknownFieldError": "errors",
    "Unresolved": "debuginfo",
    "VestigeError": "errors",
    "WriteError": "errors",
    "WriterClosedError": "errors",
    "open": "trace",
}
"""The module of each public name: it is imported when the name is first used.

The command line needs few of them, and importing all costs more than reading a trace of
ten events.
"""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562)."""
    if name == "Event":
        value: Any = import_module(".core", __name__).EventRecord
    elif name == "ctf":
        value = import_module(".ctf", __name__)
    elif name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({*globals(), *__all__})
