"""The closing lines of ``vestige view``: counts, losses, time span."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ... import core
from ...graph import LostNotice, notices_of
from ...units import NANOSECONDS_PER_SECOND
from .long_duration import long_duration

__all__ = ["Summary", "summary_lines"]

_MILLISECOND = 1_000_000


class Summary:
    """What was seen of a trace.

    Args:
        events: Number of event records.
        begin: Time of the first, nanoseconds.
        end: Time of the last, nanoseconds.
        lost: What the tracer lost, by kind, as far as the trace tells the number.
        uncounted: Kinds of losses whose number the trace does not tell.
    """

    def __init__(
        self,
        events: int = 0,
        begin: int | None = None,
        end: int | None = None,
        lost: Mapping[str, int] | None = None,
        uncounted: Iterable[str] = (),
    ) -> None:
        # No data class: what makes those takes longer to import than all of this.
        self.events = events
        self.begin = begin
        self.end = end
        self.lost = dict(lost or {})
        self.uncounted = set(uncounted)
        self.left_out = 0
        """Number of events that are not shown since only the recorder needs them."""

    def add(self, merge: core.Merge) -> None:
        """Count a merge."""
        self.events += len(merge)
        span = merge.time_span
        if span is not None:
            self.begin = span[0] if self.begin is None else self.begin
            self.end = span[1]
        for notice in notices_of(merge):
            if isinstance(notice, LostNotice):
                self._add_loss(notice)

    def _add_loss(self, notice: LostNotice) -> None:
        if notice.count is None:
            self.uncounted.add(notice.kind)
        else:
            self.lost[notice.kind] = self.lost.get(notice.kind, 0) + notice.count


def summary_lines(summary: Summary, *, damaged: int) -> Iterator[str]:
    """Return the closing lines.

    Args:
        summary: What was seen.
        damaged: Number of places where the trace is damaged.

    Yields:
        The lines.
    """
    parts = [f"{summary.events:,} event{'' if summary.events == 1 else 's'}"]
    if summary.begin is not None and summary.end is not None:
        parts.append(f"over {duration(summary.end - summary.begin)}")
    yield " ".join(parts) + f"; {losses(summary)}" + damage(damaged)
    if summary.left_out:
        number = f"{summary.left_out:,} event{'' if summary.left_out == 1 else 's'}"
        yield f"{number} of the recorder itself left out; --all shows them"


def losses(summary: Summary) -> str:
    """Return what was lost, in words."""
    words = [
        f"{count:,} {kind.removesuffix('s') if count == 1 else kind} lost"
        for kind, count in sorted(summary.lost.items())
    ]
    words += [
        f"an unknown number of {kind} lost before the first packet"
        for kind in sorted(summary.uncounted)
    ]
    return ", ".join(words) or "nothing lost"


def damage(places: int) -> str:
    """Return how much damage there is, in words."""
    if not places:
        return ""
    return f"; damaged in {places} place{'' if places == 1 else 's'}, see above"


def duration(nanoseconds: int) -> str:
    """Return a time span in the unit that suits it."""
    long = long_duration(nanoseconds)
    if long is not None:
        return long
    seconds = nanoseconds / NANOSECONDS_PER_SECOND
    if seconds >= 1:
        return f"{seconds:.3f} s"
    if nanoseconds >= _MILLISECOND:
        return f"{nanoseconds / _MILLISECOND:.3f} ms"
    return f"{nanoseconds / 1000:.1f} µs"
