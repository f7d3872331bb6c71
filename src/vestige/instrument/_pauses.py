"""Collections of garbage, each a span of its own."""

from __future__ import annotations

import gc

TYPE_CHECKING = False
if TYPE_CHECKING:  # To import it takes longer than all else.
    from typing import Any

__all__ = ["record_collections"]

_PROVIDER = "vestige_python"
_DEBUG_LINE = 13
_NUMBER, _TEXT, _UNSIGNED = 0, 2, 6
_ENTRY = (
    ("span_id", _NUMBER),
    ("parent_id", _NUMBER),
    ("task", _TEXT),
    ("generation", _UNSIGNED),
)
_EXIT = (
    ("span_id", _NUMBER),
    ("error", _TEXT),
    ("waited", _NUMBER),
    ("collected", _UNSIGNED),
    ("uncollectable", _UNSIGNED),
)
"""What each span has, and what the collector says."""


def record_collections(native: Any) -> None:
    """Record collections from now on.

    Args:
        native: The extension.
    """
    points = [
        native.Tracepoint(_PROVIDER, name, _DEBUG_LINE, fields)
        for name, fields in (("gc_entry", _ENTRY), ("gc_exit", _EXIT))
    ]
    if all(point.enabled for point in points):
        native.follow_collections(*points, gc.callbacks)
