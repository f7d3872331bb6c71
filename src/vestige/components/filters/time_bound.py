"""One end of a range of time, as people write it."""

from __future__ import annotations

import re
import time
from calendar import timegm
from dataclasses import dataclass, replace

from ...errors import SelectionError
from ...units import NANOSECONDS_PER_SECOND

__all__ = ["TimeBound"]

DATE = r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
PART = r"(?:\.(?P<part>\d{1,9}))?"
CLOCK = rf"(?P<hour>\d{{2}}):(?P<minute>\d{{2}})(?::(?P<second>\d{{2}}){PART})?"
SECONDS = rf"(?P<sign>-?)(?P<seconds>\d+){PART}"
DATE_FORMAT = re.compile(f"{DATE}(?: {CLOCK})?", re.ASCII)
CLOCK_FORMAT = re.compile(CLOCK, re.ASCII)
SECONDS_FORMAT = re.compile(SECONDS, re.ASCII)

SHIFT = re.compile(
    r"(?P<before>.*?)(?P<sign>[+-])(?P<number>\d{1,12}(?:\.\d{1,9})?)"
    r"(?P<unit>ns|us|µs|μs|ms|s|m|min|h)?",
    re.ASCII | re.DOTALL,
)
"""Some time from another one on: of the first event, where nothing stands before it."""
UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    # The letter mu next to the sign micro: they look the same.
    "μs": 1_000,
    "ms": 1_000_000,
    "s": NANOSECONDS_PER_SECOND,
    "m": 60 * NANOSECONDS_PER_SECOND,
    "min": 60 * NANOSECONDS_PER_SECOND,
    "h": 3600 * NANOSECONDS_PER_SECOND,
}
"""Nanoseconds in each unit."""

LARGEST_TIME = 2**63 - 1
"""Nanoseconds from the origin are 64-bit integers."""

LIMITS = {"month": (1, 12), "day": (1, 31), "hour": (0, 23), "minute": (0, 59)}
"""The least and the greatest value of the parts of a date and a time."""


@dataclass(frozen=True, slots=True)
class TimeBound:
    """One end of a range of time, as far as it is known without a trace."""

    nanoseconds: int
    """Nanoseconds from the origin, or since midnight."""
    gmt: bool = False
    """Whether dates are those of UTC, not of local time."""
    since_midnight: bool = False
    """Whether the date is that of the first message."""
    since_first: bool = False
    """Whether it counts from the first event record on."""
    shift: int = 0
    """Nanoseconds that are added in the end."""

    @classmethod
    def parse(cls, text: str | int, *, gmt: bool = False) -> TimeBound:
        """Read a time in one of the formats of Babeltrace 2, or one of ours.

        Args:
            text: ``YYYY-MM-DD [HH:MM[:SS[.NS]]]``, ``HH:MM[:SS[.NS]]`` or
                ``[-]SECONDS[.NS]``; an integer is a number of seconds. Not in
                Babeltrace: ``+DURATION`` from the first event record on, and any of
                these with ``+DURATION`` or ``-DURATION`` behind it, with a unit.
            gmt: Whether dates and times are those of UTC, not of local time.

        Returns:
            The bound.

        Raises:
            SelectionError: It has another format, or is no time that a trace can have.
        """
        text = str(text)
        if match := DATE_FORMAT.fullmatch(text):
            return cls(_checked(text, _date(text, match, gmt=gmt)), gmt)
        if match := CLOCK_FORMAT.fullmatch(text):
            seconds = _clock_seconds(text, match)
            value = seconds * NANOSECONDS_PER_SECOND + _part(match)
            return cls(value, gmt, since_midnight=True)
        if match := SECONDS_FORMAT.fullmatch(text):
            value = int(match["seconds"]) * NANOSECONDS_PER_SECOND + _part(match)
            return cls(_checked(text, -value if match["sign"] else value), gmt)
        if match := SHIFT.fullmatch(text):
            return cls._shifted(text, match, gmt=gmt)
        raise SelectionError(
            f"'{text}' is not a time (Invalid date/time format): expected "
            "YYYY-MM-DD [HH:MM[:SS[.NS]]], HH:MM[:SS[.NS]], [-]SECONDS[.NS] or "
            "+DURATION, such as +10.2s"
        )

    @classmethod
    def _shifted(cls, text: str, match: re.Match[str], *, gmt: bool) -> TimeBound:
        before, number, unit = match["before"], match["number"], match["unit"]
        whole, _, part = number.partition(".")
        # Exact to the last nanosecond, as no binary fraction is.
        size = UNITS[unit or "s"]
        span = int(whole) * size + int(part or "0") * size // 10 ** len(part)
        if not before and match["sign"] == "+":
            return cls(_checked(text, span), gmt, since_first=True)
        if not before or unit is None:
            raise SelectionError(
                f"'{text}' is not a time (Invalid date/time format): a duration "
                "needs a unit, such as ms or s"
            )
        bound = cls.parse(before, gmt=gmt)
        shift = bound.shift + (span if match["sign"] == "+" else -span)
        return replace(bound, shift=_checked(text, shift))

    def resolved(self, first: int | None) -> int:
        """Return nanoseconds from the origin.

        Args:
            first: Time of the first message, which gives the date, and from which on
                durations count.

        Raises:
            SelectionError: The date is missing and no message has a time.
        """
        return max(
            -LARGEST_TIME, min(self._unshifted(first) + self.shift, LARGEST_TIME)
        )

    def _unshifted(self, first: int | None) -> int:
        if self.since_first:
            if first is None:
                raise SelectionError(
                    "a time from the first event on needs a trace with events"
                )
            return first + self.nanoseconds
        if not self.since_midnight:
            return self.nanoseconds
        if first is None:
            raise SelectionError(
                "a time without a date needs a trace whose packets tell their times"
            )
        # Babeltrace 2 rounds towards zero here.
        seconds = abs(first) // NANOSECONDS_PER_SECOND * (1 if first >= 0 else -1)
        day = time.gmtime(seconds) if self.gmt else time.localtime(seconds)
        clock, part = divmod(self.nanoseconds, NANOSECONDS_PER_SECOND)
        fields = (day.tm_year, day.tm_mon, day.tm_mday, 0, 0, clock, 0, 0, -1)
        return _epoch(fields, gmt=self.gmt) * NANOSECONDS_PER_SECOND + part


def _date(text: str, match: re.Match[str], *, gmt: bool) -> int:
    _check_parts(text, match, ("month", "day"))
    seconds = _clock_seconds(text, match) if match["hour"] else 0
    year, month, day = (int(match[name]) for name in ("year", "month", "day"))
    fields = (year, month, day, 0, 0, seconds, 0, 0, -1)
    try:
        epoch = _epoch(fields, gmt=gmt)
    except (OverflowError, ValueError):
        raise SelectionError(f"'{text}' is no date that this machine knows") from None
    return epoch * NANOSECONDS_PER_SECOND + (_part(match) if match["hour"] else 0)


def _epoch(fields: tuple[int, ...], *, gmt: bool) -> int:
    """Return seconds since the epoch; too large parts move the date, as in C."""
    if gmt:
        return timegm(fields)
    hours, rest = divmod(fields[5], 3600)
    minutes, seconds = divmod(rest, 60)
    year, month, day = fields[:3]
    return int(time.mktime((year, month, day, hours, minutes, seconds, 0, 0, -1)))


def _clock_seconds(text: str, match: re.Match[str]) -> int:
    _check_parts(text, match, ("hour", "minute"))
    hour, minute, second = (int(match[n] or 0) for n in ("hour", "minute", "second"))
    return hour * 3600 + minute * 60 + second


def _check_parts(text: str, match: re.Match[str], names: tuple[str, ...]) -> None:
    for name in names:
        least, greatest = LIMITS[name]
        if not least <= int(match[name]) <= greatest:
            raise SelectionError(
                f"'{text}' is not a time: the {name} must be from {least} to {greatest}"
            )


def _part(match: re.Match[str]) -> int:
    """Return the decimals of a second: .5 is half a second."""
    return int((match["part"] or "0").ljust(9, "0"))


def _checked(text: str, nanoseconds: int) -> int:
    if abs(nanoseconds) > LARGEST_TIME:
        raise SelectionError(
            f"'{text}' is not a time that a trace can have: "
            "its nanoseconds do not fit 64 bits"
        )
    return nanoseconds
