"""Files that other programs show: flame graphs, timelines, profiles.

Each module writes one format. Names of functions, processes and events come from
others: what could steer a terminal is written as an escape.
"""

from __future__ import annotations

from .write import FORMS, TABLES, Outcome, write_calls, write_trace

__all__ = ["FORMS", "TABLES", "Outcome", "write_calls", "write_trace"]
