"""A session as the programs of LTTng-UST record for it."""

from __future__ import annotations

from .buffers import ChannelBuffers, TraceBuffers
from .plan import SessionPlan
from .session_dumps import SessionDumps
from .timers import Timers

__all__ = ["Losses", "RecordedSession"]

Losses = dict[str, tuple[int, int]]
"""Event records without room, and packets that are not in the files, by channel."""


class RecordedSession:
    """A session that has been active.

    Args:
        plan: What it says now.
        dumps: Describe its programs.
    """

    def __init__(self, plan: SessionPlan, dumps: SessionDumps) -> None:
        self.plan = plan
        self.dumps = dumps
        self.traces: dict[int, TraceBuffers] = {}
        """By user, or by process."""
        self.lost: Losses = {}
        """Of processes whose buffers are gone."""
        self.written: dict[str, int] = {}
        """Bytes that these have recorded, by channel."""
        self.timers = Timers()
        self.failure: OSError | None = None
        """Why a part was not recorded, of no buffers that are there."""
        self.told: OSError | None = None
        """The last failure that was told."""
        self.has_dead = False
        """Whether a program has ended that shared its buffers."""
        self.chunk_bytes = 0
        """Of the present chunk: what was written of buffers that are gone."""
        self.recording_since: float | None = None
        """When the first program was brought to it, in seconds since 1970."""

    def buffers(self, channel: str) -> list[ChannelBuffers]:
        """Return the buffers of a channel, of all users or processes.

        Args:
            channel: Its name.
        """
        all_traces = self.traces.values()
        return [one.channels[channel] for one in all_traces if channel in one.channels]
