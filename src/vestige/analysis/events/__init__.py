"""What the event records of any trace tell, whatever their kind."""

from __future__ import annotations

from .origin import Origin
from .pairs import LongPair, PairRule, PairTimes, found_rules
from .table import EventKind, EventTable, OriginEvents, event_table

__all__ = [
    "EventKind",
    "EventTable",
    "LongPair",
    "Origin",
    "OriginEvents",
    "PairRule",
    "PairTimes",
    "event_table",
    "found_rules",
]
