"""Tracepoints of Python programs: what a program tells a recorder.

>>> import vestige.instrument
>>> tp = vestige.instrument.tracepoint("app:request", path=str, status=int)
>>> tp(path="/", status=200)

Under ``vestige record`` each call is an event in the trace, in one time line with the C
functions and tracepoints of the same process. Without a recorder it does nothing, and
takes less than 40 ns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._extension import inactive_because, is_recorded
from ._points import LOG_LEVELS, Tracepoint, tracepoint
from ._spans import Span, span

if TYPE_CHECKING:
    from ._contexts import Context, context
    from ._logging import logging_handler

__all__ = [
    "LOG_LEVELS",
    "Context",
    "Span",
    "Tracepoint",
    "context",
    "inactive_because",
    "is_recorded",
    "logging_handler",
    "span",
    "tracepoint",
]


def __getattr__(name: str) -> Any:
    """Import what few programs ask for only then (PEP 562)."""
    if name == "logging_handler":
        from ._logging import logging_handler  # noqa: PLC0415 - see above

        return logging_handler
    if name in {"Context", "context"}:
        from . import _contexts  # noqa: PLC0415 - see above

        return getattr(_contexts, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
