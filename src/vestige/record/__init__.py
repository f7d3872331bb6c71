"""Recording programs: what is asked of the tracer, starting it, and closing the trace.

The tracer is a C library that the recorder puts into the program with ``LD_PRELOAD``.
It writes a CTF trace by itself; the recorder writes the metadata before the program
starts, and when it has ended joins what is still in the files of the threads.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .contexts import CONTEXTS
    from .event_rules import EventRule
    from .options import RecordingOptions
    from .recorder import Recording, record

__all__ = ["CONTEXTS", "EventRule", "Recording", "RecordingOptions", "record"]

_HOMES = {
    "CONTEXTS": "contexts",
    "EventRule": "event_rules",
    "Recording": "recorder",
    "RecordingOptions": "options",
    "record": "recorder",
}
"""The module of each public name, imported when the name is first used."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562): the help needs few."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({*globals(), *__all__})
