"""The event record classes that programs have added to the metadata of a recording."""

from __future__ import annotations

import re

__all__ = ["tracepoint_classes"]

_TRACEPOINT = re.compile(
    r'^\tname = "([^"\n]+)";\n\tstream_id = 0;\n\tloglevel = (-?\d+);', re.MULTILINE
)


def tracepoint_classes(text: str) -> list[tuple[str, int]]:
    """Find the event record classes that processes have added.

    Args:
        text: The metadata of a recording; ``tracer/hooks/event_class.c`` writes these
            classes, their names before their IDs' stream.

    Returns:
        Name and log level of each.
    """
    return [(found[1], int(found[2])) for found in _TRACEPOINT.finditer(text)]
