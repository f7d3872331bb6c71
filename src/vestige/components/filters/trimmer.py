"""A range of time: ``filter.utils.trimmer``.

It is pushed down: what is outside of the range is not even read. So nothing passes
through such a component; it changes what is wanted of the data streams before it. Only
behind components in Python it cuts what they give.
"""

from __future__ import annotations

import re
import time
from calendar import timegm
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ... import core
from ..._typing import TYPE_CHECKING
from ...errors import GraphError, SelectionError
from ...graph import Selection, Stream
from ...units import NANOSECONDS_PER_SECOND

if TYPE_CHECKING:
    from ...graph.growing import Feed
    from ...graph.message_component import Flow, Pulled
    from ...graph.plan import ComponentSpec

__all__ = ["TimeBound", "check_times", "time_range", "trim", "trim_flow"]

DATE = r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
PART = r"(?:\.(?P<part>\d{1,9}))?"
CLOCK = rf"(?P<hour>\d{{2}}):(?P<minute>\d{{2}})(?::(?P<second>\d{{2}}){PART})?"
SECONDS = rf"(?P<sign>-?)(?P<seconds>\d+){PART}"
DATE_FORMAT = re.compile(f"{DATE}(?: {CLOCK})?", re.ASCII)
CLOCK_FORMAT = re.compile(CLOCK, re.ASCII)
SECONDS_FORMAT = re.compile(SECONDS, re.ASCII)

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

    @classmethod
    def parse(cls, text: str | int, *, gmt: bool = False) -> TimeBound:
        """Read a time in one of the formats of Babeltrace 2.

        Args:
            text: ``YYYY-MM-DD [HH:MM[:SS[.NS]]]``, ``HH:MM[:SS[.NS]]`` or
                ``[-]SECONDS[.NS]``; an integer is a number of seconds.
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
        raise SelectionError(
            f"'{text}' is not a time (Invalid date/time format): expected "
            "YYYY-MM-DD [HH:MM[:SS[.NS]]], HH:MM[:SS[.NS]] or [-]SECONDS[.NS]"
        )

    def resolved(self, first: int | None) -> int:
        """Return nanoseconds from the origin.

        Args:
            first: Time of the first message, which gives the date.

        Raises:
            SelectionError: The date is missing and no message has a time.
        """
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


def check_times(spec: ComponentSpec) -> None:
    """Refuse a component whose parameters are no times.

    Args:
        spec: The component.

    Raises:
        GraphError: One is none.
    """
    try:
        _bounds(spec)
    except SelectionError as error:
        raise GraphError(
            f"component '{spec.name}' ({spec.class_name}): {error}"
        ) from None


def trim(
    spec: ComponentSpec, selections: dict[Stream | Feed, Selection]
) -> dict[Stream | Feed, Selection]:
    """Narrow what is wanted of data streams to a range of time.

    Args:
        spec: The component.
        selections: What is wanted of each data stream without it.

    Returns:
        What is wanted of each.

    Raises:
        SelectionError: The range begins after its end, or a data stream has no time.
    """
    begin, end = time_range(
        selections,
        *_bounds(spec),
        least=min(
            (one.begin for one in selections.values() if one.begin is not None),
            default=None,
        ),
    )
    return {
        stream: wanted.narrowed((), begin, end) for stream, wanted in selections.items()
    }


def _bounds(spec: ComponentSpec) -> tuple[TimeBound | None, TimeBound | None]:
    gmt = bool(spec.params.get("gmt", False))
    begin, end = (
        None if value is None else TimeBound.parse(str(value), gmt=gmt)
        for value in (spec.params.get(name) for name in ("begin", "end"))
    )
    return begin, end


def trim_flow(spec: ComponentSpec, flow: Flow) -> Flow:
    """Cut merges whose data streams nobody knows before to a range of time.

    Args:
        spec: The component.
        flow: The merges that come in.
    """
    begin, end = _bounds(spec)

    def trimmed(incoming: Iterator[Pulled]) -> Iterator[Pulled]:
        trimmer: core.Trimmer | None = None
        for merge in incoming:
            if merge is None:
                yield None
                continue
            if trimmer is None:
                span = merge.time_span
                first = None if span is None else span[0]
                trimmer = core.Trimmer(
                    None if begin is None else begin.resolved(first),
                    None if end is None else end.resolved(first),
                )
            yield merge.within(trimmer)
            if trimmer.has_ended:
                return

    return lambda: trimmed(flow())


def time_range(
    streams: Iterable[Stream | Feed],
    begin: TimeBound | None,
    end: TimeBound | None,
    *,
    least: int | None = None,
) -> tuple[int | None, int | None]:
    """Return a range of time in nanoseconds from the origin.

    Args:
        streams: The data streams that it is for.
        begin: Earliest time; ``None`` for no limit.
        end: Latest time, included; ``None`` for no limit.
        least: Earliest time that is left of the data streams, if not all of them is.

    Raises:
        SelectionError: It begins after its end, or a data stream has no time.
    """
    if begin is None and end is None:
        return None, None
    beginnings = []
    for stream in streams:
        if not stream.handle.has_clock:
            raise SelectionError(
                "no range of time can be taken: the data stream has no clock",
                path=stream.path,
            )
        if stream.handle.beginning is not None:
            beginnings.append(stream.handle.beginning)
    first = min(beginnings, default=None)
    if first is not None and least is not None:
        first = max(first, least)
    earliest = None if begin is None else begin.resolved(first)
    latest = None if end is None else end.resolved(first)
    if earliest is not None and latest is not None and earliest > latest:
        raise SelectionError(
            f"the range of time begins after its end: begin {earliest} ns, "
            f"end {latest} ns"
        )
    return earliest, latest


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
