"""What the event records of any trace tell, whatever their kind."""

from __future__ import annotations

from .table import EventKind, EventTable, Origin, OriginEvents, event_table

__all__ = ["EventKind", "EventTable", "Origin", "OriginEvents", "event_table"]
