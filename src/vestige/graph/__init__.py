"""Components and how they are joined: sources, muxers, filters, sinks.

What is wanted is a *plan*, which is data. It is lowered to graphs, one for each sink.
A graph pulls *merges* from the muxer: parts of the merged order of all event records,
still encoded. Each filter may attach a derived column to a merge; the sink then decodes
what it needs, once. Nothing is copied from component to component.
"""

from __future__ import annotations

from .._lazy import lazy_names
from .._typing import TYPE_CHECKING
from .clocks import check_correlation, is_absolute
from .graph import Graph, Inputs, run_graphs
from .mux import merges, mux
from .notice import DamageNotice, LostNotice, Notice, notices_of
from .protocols import Analysis, Filter, Sink, Source
from .selection import Selection
from .stream import Stream, StreamFacts, TraceInfo

if TYPE_CHECKING:
    from .first_event import first_event_time
    from .record_filter import check_filter

__all__ = [
    "Analysis",
    "DamageNotice",
    "Filter",
    "Graph",
    "Inputs",
    "LostNotice",
    "Notice",
    "Selection",
    "Sink",
    "Source",
    "Stream",
    "StreamFacts",
    "TraceInfo",
    "check_correlation",
    "check_filter",
    "first_event_time",
    "is_absolute",
    "merges",
    "mux",
    "notices_of",
    "run_graphs",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {"check_filter": "record_filter", "first_event_time": "first_event"},
)
