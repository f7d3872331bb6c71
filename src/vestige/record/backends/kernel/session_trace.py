"""The kernel's part of a recording session, for a daemon.

Its methods wait for the process that records, so they are called in threads, one at a
time.
"""

from __future__ import annotations

import os

from ...._typing import TYPE_CHECKING
from ..channel_counts import NO_COUNTS, ChannelCounts
from .process_link import CollectorProcess, KernelOrderError, missing_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .wanted import ChannelWanted, Wanted

__all__ = ["SessionTrace"]


class SessionTrace:
    """Records the kernel for a session, from its first start to its end.

    Args:
        wanted: What is recorded.

    Raises:
        KernelOrderError: It cannot be recorded.
        OSError: The process that records cannot be started.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._channels = wanted.channels
        self._tracked = wanted.tracked
        self._is_active = False
        self._totals: list[dict[str, Any]] = []
        self._before_chunk = 0
        self.failure: str | None = None
        """Why a part of the trace could not be written; what nobody was told yet."""
        self._told: set[str] = set()
        self._process = CollectorProcess(wanted)
        self._process.wait_until_ready()
        self.directory = self._process.directory
        """Where it is written to; ``None`` if nothing but snapshots is."""

    @property
    def process(self) -> int:
        """The ID of the process that records."""
        return self._process.id

    @property
    def has_ended(self) -> bool:
        """Whether that process was asked for something, and was not there any more."""
        return self._process.has_ended

    def take_problems(self) -> list[str]:
        """Return what cannot be recorded, and why; each is told once."""
        problems, self._process.problems = self._process.problems, []
        return problems

    def apply(
        self,
        channels: Sequence[ChannelWanted],
        tracked: Mapping[str, list[int] | None],
        *,
        is_active: bool,
    ) -> None:
        """Record what is wanted now.

        Args:
            channels: The channels; there are no others than at first.
            tracked: The inclusion sets, as :class:`.wanted.Wanted` has them.
            is_active: Whether anything is recorded.

        Raises:
            KernelOrderError: It cannot be done.
        """
        if [*channels] != self._channels:
            self._ask("change", channels=[one.to_json() for one in channels])
            self._channels = [*channels]
        if tracked != self._tracked:
            self._ask("track", tracked=tracked)
            self._tracked = {**tracked}
        if is_active and not self._is_active:
            own = sorted(int(one) for one in os.listdir("/proc/self/task"))
            self._ask("start", left_out=own)
            self._is_active = True

    def stop(self) -> None:
        """Record nothing for the moment; the files are complete then."""
        self._is_active = False
        self._note(self._ask("stop"))

    def refresh(self, *, is_read: bool = False) -> None:
        """Count what is there now.

        Args:
            is_read: Whether buffers are read before that; else it may be some time ago.
        """
        self._note(self._ask("counts", is_read=is_read))

    def rotate(self, directory: str) -> None:
        """Let what comes from now on be in another directory.

        Args:
            directory: It is made.

        Raises:
            KernelOrderError: It cannot be made, and all goes on where it is.
        """
        self._note(self._ask("rotate", directory=directory))
        self._before_chunk = self._bytes()
        self.directory = directory

    def clear(self, directory: str, old: str) -> None:
        """Throw away what was recorded up to now, and go on in another directory.

        Args:
            directory: It is made.
            old: Where the one is that was written to up to now; it is removed.

        Raises:
            KernelOrderError: It cannot be done.
        """
        self._note(self._ask("clear", directory=directory, old=old))
        self._before_chunk = self._bytes()

    def snapshot(self, directory: str, most: Sequence[int | None]) -> None:
        """Write what the buffers hold, which stays there.

        Args:
            directory: It is made.
            most: By channel, how many bytes of each CPU, the newest; ``None``: all.

        Raises:
            KernelOrderError: It cannot be written.
        """
        self._ask("snapshot", directory=directory, most=[*most])
        self.refresh()

    def hold(self, *, is_held: bool) -> None:
        """Read nothing for the moment, or go on.

        Args:
            is_held: Whether nothing is read; buffers may run full meanwhile.
        """
        self._ask("hold", is_held=is_held)

    def dump_state(self) -> None:
        """Record the state that there is now once more."""
        self._ask("dump")

    def write_metadata(self) -> None:
        """Write the metadata once more."""
        self._ask("metadata")

    def counts(self) -> dict[str, ChannelCounts]:
        """Return what was known of each channel when it was counted last."""
        if not self._totals:
            return {one.name: NO_COUNTS for one in self._channels}
        return {
            channel.name: ChannelCounts(
                one["bytes"],
                one["lost"],
                buffered=one["buffered"],
                buffer_size=channel.buffer_size * one["cpus"],
                fill=min(one["fullest"] / channel.buffer_size, 1.0),
            )
            for channel, one in zip(self._channels, self._totals, strict=True)
        }

    @property
    def chunk_size(self) -> int:
        """Bytes that were written since the last rotation, as far as it was counted."""
        return self._bytes() - self._before_chunk

    def _bytes(self) -> int:
        return sum(one["bytes"] for one in self._totals)

    def end(self) -> None:
        """Complete the files, and end the process."""
        if self._process.is_there:
            try:
                self._note(self._ask("end"))
            except KernelOrderError as error:
                self.failure = self.failure or missing_text(str(error))
        self._process.end()

    def _ask(self, order: str, **facts: Any) -> Any:
        return self._process.ask(order, **facts)

    def _note(self, totals: list[dict[str, Any]]) -> None:
        if not totals:
            return
        self._totals = totals
        for one in totals:
            text = one["failure"]
            if text is not None and text not in self._told:
                self._told.add(text)
                self.failure = self.failure or missing_text(text)
