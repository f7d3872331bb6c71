"""The events of spans, which programs name: fields tell them from others."""

from __future__ import annotations

from collections.abc import Iterable

from ..._typing import TYPE_CHECKING
from ...graph import Stream

if TYPE_CHECKING:
    from typing import Any

__all__ = ["ENTRY_FIELDS", "span_classes"]

ENTRY_FIELDS = {"span_id", "parent_id", "task"}
_EXIT_FIELDS = {"span_id", "error", "waited"}
"""What tells events of spans from those of others."""


def span_classes(streams: Iterable[Stream]) -> tuple[set[str], set[str]]:
    """Find the events of spans by their fields.

    Args:
        streams: The data streams.

    Returns:
        The names of entries, and those of exits.
    """
    entries, exits = set(), set()
    for stream_class in {
        id(one.stream_class): one.stream_class for one in streams
    }.values():
        for one in stream_class.event_classes:
            fields = _field_names(one.payload)
            name = one.name or ""
            if fields >= ENTRY_FIELDS and name.endswith("_entry"):
                entries.add(name)
            elif fields >= _EXIT_FIELDS and name.endswith("_exit"):
                exits.add(name)
    return entries, exits


def _field_names(payload: Any) -> frozenset[str]:
    members = getattr(payload, "members", ()) or ()
    return frozenset(member.name for member in members)
