"""The lines at the end of what was recorded to a session."""

from __future__ import annotations

from collections.abc import Iterator

from ..._typing import NamedTuple
from ...control import Losses, Session
from ...errors import VestigeError

__all__ = ["Recorded", "session_lines"]

SMALL = 4 << 20
"""Bytes up to which events are counted by name."""
LARGE = 512 << 20
"""Bytes above which counting would take longer than a second."""
_OF_STATE = ("lttng_ust_statedump:", "lttng_ust_lib:")


class Recorded(NamedTuple):
    """What there is in the trace of a session."""

    size: int = 0
    """Bytes of its files."""

    events: int | None = 0
    """Event records; ``None`` if they were not counted."""

    @classmethod
    def of(cls, session: Session) -> Recorded:
        """Return what there is now.

        Args:
            session: The session; it writes a trace, and is not active.
        """
        files = [] if session.output is None else session.output.rglob("*")
        size = sum(one.stat().st_size for one in files if one.is_file())
        if size > LARGE:
            return cls(size, None)
        counts = [one.events for one in session.statistics().values()]
        events = None if None in counts else sum(one or 0 for one in counts)
        return cls(size, events)

    def since(self, before: Recorded) -> Recorded:
        """Return what was added.

        Args:
            before: What there was; less of it may be there now, where only so many
                files are kept.
        """
        if self.events is None or before.events is None:
            return Recorded(max(self.size - before.size, 0), None)
        events = self.events - before.events
        size = self.size - before.size
        return Recorded(max(size, 0), None if min(events, size) < 0 else events)


def session_lines(
    session: Session,
    losses: Losses,
    seconds: float,
    larger: str,
    before: Recorded | None = None,
) -> Iterator[str]:
    """Say what was recorded, what was lost and why, and what to type next.

    Args:
        session: The session, which has ended.
        losses: What was lost.
        seconds: How long it took.
        larger: The option that makes buffers larger.
        before: What the session had recorded before.

    Yields:
        Lines for people.
    """
    output = session.output
    if output is None:
        yield f"recorded for {seconds:.3f} s; the session writes no trace"
        return
    size, events = Recorded.of(session).since(before or Recorded())
    what = "events (not counted)" if events is None else _count(events, "event")
    lost = _count(losses.discarded, "event") if losses.discarded else "no events"
    yield f"recorded {what} in {seconds:.3f} s, {_count(size, 'byte')}; {lost} lost"
    if losses.discarded:
        yield f"buffers were full: {larger} makes them larger"
    if losses.lost_packets:
        yield f"{_count(losses.lost_packets, 'packet')} lost"
    if losses.failure is not None:
        yield f"warning: a part of the trace could not be written: {losses.failure}"
    if not events:
        if events == 0:
            yield "no event was recorded: no rule matches what the programs did"
        return
    if size <= SMALL and _has_state_only(session):
        yield "no tracepoint was met that a rule matches; only the state dump is there"
    yield f"trace in {output}"
    yield f"vestige view {output}"


def _has_state_only(session: Session) -> bool:
    try:
        counts = session.trace(debug_info=False).counts()
    except VestigeError:
        return False
    return all((name or "").startswith(_OF_STATE) for name in counts)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what if number == 1 else what + 's'}"
