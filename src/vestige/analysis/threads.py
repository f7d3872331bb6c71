"""Processes and threads of traces, as values that can be compared."""

from __future__ import annotations

from dataclasses import dataclass, field

from .._typing import TYPE_CHECKING
from ..units import Nanoseconds, Vpid

if TYPE_CHECKING:
    from ..notebook import Picture

__all__ = ["Process", "Thread", "Threads", "own_name"]


def own_name(name: str | None, process: str | None) -> str | None:
    """Return what a thread is called for itself.

    Args:
        name: The name that the trace tells, if it does.
        process: That of its process, which threads have until they get their own.
    """
    return name if name and name != process else None


@dataclass(frozen=True, slots=True, order=True)
class Process:
    """A process."""

    pid: Vpid | None
    """Process ID, where the trace tells."""
    name: str | None = None
    """Its name, where the trace tells."""
    trace: str = ""
    """Name of the trace."""
    namespace: int = field(default=0, compare=False)
    """The PID namespace in which the ID counts: 0 is that of the recorder, or nothing
    tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A thread; two of them are the same if process and thread ID are."""

    process: Process
    """Its process."""
    tid: int | None
    """Thread ID, where the trace tells."""
    name: str | None = field(default=None, compare=False)
    """Its own name, where the trace tells one that is not that of its process."""
    begin: Nanoseconds | None = field(default=None, compare=False)
    """Time of its first event record, as far as they were counted."""
    end: Nanoseconds | None = field(default=None, compare=False)
    """Time of its last event record, as far as they were counted."""
    events: int = field(default=0, compare=False)
    """How many event records it has, as far as they were counted."""
    calls: int = field(default=0, compare=False)
    """How many calls it made, as far as they were counted."""

    @property
    def duration(self) -> int | None:
        """From its first event record to its last, nanoseconds, if both are known."""
        if self.begin is None or self.end is None:
            return None
        return self.end - self.begin

    def __str__(self) -> str:
        """Show what a person calls it."""
        name = self.name or self.process.name
        return f"{self.tid} ({name})" if name else str(self.tid)


class Threads(list[Thread]):
    """Threads, which notebooks show as a table, and the page of the trace."""

    picture: Picture | None = None
    """Draws that page."""

    def _repr_html_(self) -> str:
        """Show them in a notebook."""
        from ..notebook import rows_html, time_text, with_picture  # noqa: PLC0415 - for notebooks only

        head = ("process", "thread", "name", "event records", "calls", "time")
        rows = [
            (
                one.process.pid,
                one.tid,
                one.name or one.process.name or "",
                f"{one.events:,}",
                f"{one.calls:,}",
                time_text(one.duration),
            )
            for one in self
        ]
        return with_picture(rows_html("Threads", head, rows), self.picture)
