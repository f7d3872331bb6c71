"""PID namespaces, in which process IDs count, as our recordings tell them."""

from __future__ import annotations

from ...core import TraceClass

__all__ = ["pid_namespace"]

_NAMESPACES = 1 << 10
"""How many PID namespaces of a trace are told apart."""
_NAMESPACE_SHIFT = 32
"""Where its number is in the ID of a data stream: see docs/formats/recording.md."""


def pid_namespace(trace: TraceClass, stream_id: int | None) -> int:
    """Return the number of the PID namespace of a data stream.

    Args:
        trace: The trace.
        stream_id: The ID of the data stream, if it has one.

    Returns:
        The number; 0 for that of the recorder, and where a trace does not tell.
    """
    if trace.environment.get("tracer_name") != "vestige":
        return 0
    return (stream_id or 0) >> _NAMESPACE_SHIFT & _NAMESPACES - 1
