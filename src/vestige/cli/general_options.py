"""The general options of Babeltrace 2, which its command lines may have.

There they choose how much of the inner workings is logged on standard error, and how
long to wait for a source that has nothing yet. Here is no such log: those options are
accepted and change nothing.
"""

from __future__ import annotations

import argparse
import re

__all__ = ["LOG_LEVELS", "add_general_arguments", "retry_seconds"]

LOG_LEVELS = {
    **dict.fromkeys(("N", "NONE"), "NONE"),
    **dict.fromkeys(("F", "FATAL"), "FATAL"),
    **dict.fromkeys(("E", "ERROR"), "ERROR"),
    **dict.fromkeys(("W", "WARN", "WARNING"), "WARNING"),
    **dict.fromkeys(("I", "INFO"), "INFO"),
    **dict.fromkeys(("D", "DEBUG"), "DEBUG"),
    **dict.fromkeys(("T", "TRACE"), "TRACE"),
}
"""The log levels of Babeltrace 2, by what can be written for each."""


def add_general_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options to a parser."""
    group = parser.add_argument_group(
        "options of Babeltrace 2 that are accepted and change nothing"
    )
    group.add_argument("-v", "--verbose", action="store_true", help="log more")
    group.add_argument("-d", "--debug", action="store_true", help="log all")
    group.add_argument(
        "-l",
        "--log-level",
        metavar="LEVEL",
        choices=tuple(LOG_LEVELS),
        help="log from LEVEL on: N, F, E, W, I, D or T",
    )
    parser.add_argument(
        "--retry-duration",
        metavar="MICROSECONDS",
        type=_duration,
        help="wait so long before a source that has nothing yet is asked again "
        "(default: 100000)",
    )


def retry_seconds(options: argparse.Namespace) -> float | None:
    """Return how long to wait for a source that has nothing yet, if it was asked for.

    Args:
        options: The parsed command line.
    """
    given: int | None = options.retry_duration
    return None if given is None else given / 1_000_000


def _duration(text: str) -> int:
    if not re.fullmatch("[0-9]+", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no integer of 0 or more")
    return int(text)
