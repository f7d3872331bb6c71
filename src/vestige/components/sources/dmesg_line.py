"""A line that ``dmesg`` prints: its time, and what the kernel says."""

from __future__ import annotations

import re
from calendar import timegm

from ..._typing import NamedTuple

__all__ = ["DmesgLine", "parsed_line"]

NUMBER = rb"\s*(\d{1,19})"
"""Longer ones are no part of a time."""
SINCE_BOOT = re.compile(rb"\[%b\.%b" % (NUMBER, NUMBER))
"""``[SECONDS.PART``: the part counts microseconds, however many digits it has."""
DATE = re.compile(rb"\[%b-%b-%b\s%b:%b:%b\.%b" % ((NUMBER,) * 7))
"""``[YEAR-MONTH-DAY HOUR:MINUTE:SECOND.PART``: the part counts milliseconds."""

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
MICROSECOND = 1_000


class DmesgLine(NamedTuple):
    """What a line says."""

    time: int | None
    """When, nanoseconds; ``None`` if it does not tell."""
    text: str
    """What."""
    size: int
    """Bytes of the line."""


def parsed_line(line: bytes, *, reads_time: bool) -> DmesgLine:
    """Read a line.

    Args:
        line: The line, without its end.
        reads_time: Whether what it begins with may be its time.
    """
    time = _time(line) if reads_time else None
    text = line
    if time is not None:
        text = line.partition(b"]")[2]
        text = text.removeprefix(b" ")
    # As a text in C, which a null character ends.
    text = text.partition(b"\0")[0]
    return DmesgLine(time, text.decode(errors="replace"), len(line))


def _time(line: bytes) -> int | None:
    if b"]" not in line:
        return None
    if match := SINCE_BOOT.match(line):
        seconds, microseconds = map(int, match.groups())
        return seconds * SECOND + microseconds * MICROSECOND
    if match := DATE.match(line):
        *date, milliseconds = map(int, match.groups())
        try:
            seconds = timegm(tuple(date))
        except (OverflowError, ValueError):
            return None
        return seconds * SECOND + milliseconds * MILLISECOND
    return None
