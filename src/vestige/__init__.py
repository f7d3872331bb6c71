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
spans for Python programs, :mod:`vestige.record` starts recordings,
:class:`vestige.Session` records programs that run already, :mod:`vestige.ctf`
writes traces, :mod:`vestige.export` writes tables, :mod:`vestige.analysis` has call
trees.
"""

from __future__ import annotations

from ._lazy import lazy_names
from ._typing import TYPE_CHECKING
from ._version import __version__

if TYPE_CHECKING:
    from . import (
        analysis,
        columns,
        components,
        control,
        ctf,
        dask,
        debuginfo,
        errors,
        export,
        graph,
        instrument,
        model,
        units,
        values,
    )
    from .advice import VestigeWarning
    from .control import Notification, Notifications, Session, notifications, sessions
    from .core import Event
    from .damage import Damage
    from .debuginfo import DebugInfoOptions, Place, Unresolved
    from .errors import (
        CommandError,
        ComponentError,
        DaemonRunsError,
        DebugInfoError,
        DeclarationError,
        FieldValueError,
        ForkError,
        GraphError,
        MissingExtraError,
        NoSuchFieldError,
        NotATraceError,
        ProgramError,
        RecordError,
        SelectionError,
        SessionError,
        StorageError,
        TimestampError,
        TraceFormatError,
        UnknownFieldError,
        VestigeError,
        WriteError,
        WriterClosedError,
    )
    from .graph import Stream, StreamFacts
    from .record import record
    from .trace import (
        EventColumns,
        EventSelection,
        Trace,
        TraceDamageWarning,
        open,  # noqa: A004
    )
    from .values import BitMapValue, EnumerationValue

__all__ = [
    "BitMapValue",
    "CommandError",
    "ComponentError",
    "DaemonRunsError",
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
    "NoSuchFieldError",
    "NotATraceError",
    "Notification",
    "Notifications",
    "Place",
    "ProgramError",
    "RecordError",
    "SelectionError",
    "Session",
    "SessionError",
    "StorageError",
    "Stream",
    "StreamFacts",
    "TimestampError",
    "Trace",
    "TraceDamageWarning",
    "TraceFormatError",
    "UnknownFieldError",
    "Unresolved",
    "VestigeError",
    "VestigeWarning",
    "WriteError",
    "WriterClosedError",
    "__version__",
    "analysis",
    "columns",
    "components",
    "control",
    "ctf",
    "dask",
    "debuginfo",
    "errors",
    "export",
    "graph",
    "instrument",
    "model",
    "notifications",
    "open",
    "record",
    "sessions",
    "units",
    "values",
]

_HOMES = {
    "BitMapValue": "values",
    "CommandError": "errors",
    "ComponentError": "errors",
    "DaemonRunsError": "errors",
    "Damage": "damage",
    "DebugInfoError": "errors",
    "DebugInfoOptions": "debuginfo",
    "DeclarationError": "errors",
    "EnumerationValue": "values",
    "Event": "core",
    "EventColumns": "trace",
    "EventSelection": "trace",
    "FieldValueError": "errors",
    "ForkError": "errors",
    "GraphError": "errors",
    "MissingExtraError": "errors",
    "NoSuchFieldError": "errors",
    "NotATraceError": "errors",
    "Notification": "control",
    "Notifications": "control",
    "Place": "debuginfo",
    "ProgramError": "errors",
    "RecordError": "errors",
    "SelectionError": "errors",
    "Session": "control",
    "SessionError": "errors",
    "StorageError": "errors",
    "Stream": "graph",
    "StreamFacts": "graph",
    "TimestampError": "errors",
    "Trace": "trace",
    "TraceDamageWarning": "trace",
    "TraceFormatError": "errors",
    "UnknownFieldError": "errors",
    "Unresolved": "debuginfo",
    "VestigeError": "errors",
    "VestigeWarning": "advice",
    "WriteError": "errors",
    "WriterClosedError": "errors",
    "notifications": "control",
    "open": "trace",
    "sessions": "control",
}
"""The module of each public name: it is imported when the name is first used.

The command line needs few of them, and importing all costs more than reading a trace of
ten events.
"""


_MODULES = (
    "analysis",
    "columns",
    "components",
    "control",
    "ctf",
    "dask",
    "debuginfo",
    "errors",
    "export",
    "graph",
    "instrument",
    "model",
    "record",
    "units",
    "values",
)
"""The modules that are there after ``import vestige``; each is imported when used."""

__getattr__, __dir__ = lazy_names(__name__, _HOMES, _MODULES)
