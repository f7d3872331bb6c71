"""Times on the command line."""

from __future__ import annotations

import argparse
import re

__all__ = ["parse_seconds", "period", "seconds"]

_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(us|ms|s|m|)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0}


def parse_seconds(text: str) -> float | None:
    """Read a time such as ``500ms``, ``10s`` or ``1m``.

    Args:
        text: The time; a number alone is one of seconds.

    Returns:
        Seconds; ``None`` for what is no time.
    """
    match = _DURATION.fullmatch(text)
    return None if match is None else float(match[1]) * _SECONDS[match[2]]


def seconds(text: str) -> float:
    """Read a time, as the value of an option.

    Args:
        text: The time.

    Returns:
        Seconds.

    Raises:
        argparse.ArgumentTypeError: It is none.
    """
    found = parse_seconds(text)
    if found is None:
        raise argparse.ArgumentTypeError(
            f"{text}: expected a time such as 500ms, 10s or 1m"
        )
    return found


def period(text: str) -> float:
    """Read a time after which something is done again, as the value of an option.

    Args:
        text: The time.

    Returns:
        Seconds.

    Raises:
        argparse.ArgumentTypeError: It is none, or no time at all.
    """
    found = seconds(text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text}: expected a time above 0")
    return found
