"""Log levels."""

from __future__ import annotations

from typing import Any

from .checks import check_int

__all__ = [
    "LoggingLevel",
    "get_global_logging_level",
    "get_minimal_logging_level",
    "set_global_logging_level",
]


class LoggingLevel:
    """Log levels of components."""

    TRACE = 1
    DEBUG = 2
    INFO = 3
    WARNING = 4
    ERROR = 5
    FATAL = 6
    NONE = 0xFF


LEVELS = (1, 2, 3, 4, 5, 6, 0xFF)
"""All log levels."""

LETTERS = {1: "T", 2: "D", 3: "I", 4: "W", 5: "E", 6: "F", 0xFF: "N"}
"""What a plan calls them."""


def check_log_level(level: Any) -> None:
    """Refuse what is no log level.

    Args:
        level: The argument.

    Raises:
        TypeError: It is no integer.
        ValueError: There is no such level.
    """
    check_int(level)
    if level not in LEVELS:
        raise ValueError(f"'{level}' is not a valid logging level")


_level = LoggingLevel.NONE


def get_minimal_logging_level() -> int:
    """Return the lowest log level that can be had."""
    return LoggingLevel.TRACE


def get_global_logging_level() -> int:
    """Return the log level of what is no component."""
    return _level


def set_global_logging_level(level: int) -> None:
    """Set the log level of what is no component.

    Args:
        level: The level.

    Raises:
        TypeError: There is no such level.
    """
    global _level  # noqa: PLW0603 - as bt2 has it
    if level not in LEVELS:
        raise TypeError(f"'{level}' is not a valid logging level")
    _level = level
