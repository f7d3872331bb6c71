"""Log levels of tracepoints and loggers: names and numbers, by domain."""

from __future__ import annotations

from ..log_levels import LOG_LEVELS as OF_TRACEPOINTS

__all__ = ["LOG_LEVELS", "level_name", "level_number"]

_HIGHEST, _LOWEST = (1 << 31) - 1, -(1 << 31)
LOG_LEVELS: dict[str, dict[str, int]] = {
    "UST": {name: number for number, name in enumerate(OF_TRACEPOINTS)},
    "JUL": {
        "OFF": _HIGHEST,
        "SEVERE": 1000,
        "WARNING": 900,
        "INFO": 800,
        "CONFIG": 700,
        "FINE": 500,
        "FINER": 400,
        "FINEST": 300,
        "ALL": _LOWEST,
    },
    "LOG4J": {
        "OFF": _HIGHEST,
        "FATAL": 50000,
        "ERROR": 40000,
        "WARN": 30000,
        "INFO": 20000,
        "DEBUG": 10000,
        "TRACE": 5000,
        "ALL": _LOWEST,
    },
    "PYTHON": {
        "CRITICAL": 50,
        "ERROR": 40,
        "WARNING": 30,
        "INFO": 20,
        "DEBUG": 10,
        "NOTSET": 0,
    },
}
"""The numbers of lttng-enable-event(1) and of the frameworks."""
PREFIXES = {"UST": "TRACE_", "JUL": "JUL_", "LOG4J": "LOG4J_", "PYTHON": "PYTHON_"}


def level_number(domain: str, name: str) -> int | None:
    """Return the number of a log level; ``None`` if there is none of the name.

    Args:
        domain: Its domain.
        name: With or without the prefix of the domain, in any case.
    """
    levels = LOG_LEVELS.get(domain, {})
    return levels.get(name.upper().removeprefix(PREFIXES.get(domain, "")))


def level_name(domain: str, number: int) -> str:
    """Return the name of a log level with its prefix; empty if it has none.

    Args:
        domain: Its domain.
        number: The level.
    """
    for name, value in LOG_LEVELS.get(domain, {}).items():
        if value == number:
            return PREFIXES[domain] + name
    return ""
