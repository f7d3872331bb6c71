"""The log levels of LTTng-UST; see lttng-ust(3)."""

from __future__ import annotations

__all__ = ["LEVEL_PREFIXES", "LOG_LEVELS"]

LOG_LEVELS = (
    "EMERG",
    "ALERT",
    "CRIT",
    "ERR",
    "WARNING",
    "NOTICE",
    "INFO",
    "DEBUG_SYSTEM",
    "DEBUG_PROGRAM",
    "DEBUG_PROCESS",
    "DEBUG_MODULE",
    "DEBUG_UNIT",
    "DEBUG_FUNCTION",
    "DEBUG_LINE",
    "DEBUG",
)
"""From the most severe, 0, to the least severe."""
LEVEL_PREFIXES = ("LTTNG_UST_TRACEPOINT_LOGLEVEL_", "TRACE_")
"""What programs write before the names, today and before LTTng 2.13."""
