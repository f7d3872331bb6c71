"""What the backends of all kinds of programs have in common."""

from __future__ import annotations

from typing import Any, Protocol

from ..record.backends.channel_counts import ChannelCounts, OnUsage, Usage
from ..record.backends.lttng_ust.trace_files import OwnerFiles
from .backend import OnSample
from .model import Session
from .refusals import os_error_text, refused
from .triggers.sampled import Sample

__all__ = ["ProgramBackend", "RecordedPrograms", "failure_text"]


class RecordedPrograms(Protocol):
    """Programs of a kind, and what they record for which session."""

    on_usage: OnUsage
    """Called when it was looked at how full rings are."""

    def take_failure(self, name: str) -> Exception | None:
        """Return why a part of a session's trace could not be written, once.

        Args:
            name: The session.
        """

    def chunk_size(self, name: str) -> int:
        """Return how many bytes were written since the last rotation.

        Args:
            name: The session.
        """

    def hold(self, name: str, *, is_held: bool) -> None:
        """Write nothing of a session for the moment, or go on.

        Args:
            name: The session.
            is_held: Whether nothing is written.
        """

    def folders(self, name: str) -> list[str]:
        """Return the directories that a session writes to now.

        Args:
            name: The session.
        """

    async def dump_state(self, name: str) -> list[dict[str, Any]]:
        """Make all programs of a session describe their state once more.

        Args:
            name: The session.

        Returns:
            Those that have not answered.
        """

    async def dump_state_for_chunk(self, name: str) -> None:
        """Let the programs of a session describe their state to a new chunk.

        Args:
            name: The session.
        """

    async def write_metadata(self, name: str) -> None:
        """Write the metadata of a session once more.

        Args:
            name: The session.
        """

    async def snapshot(self, name: str, files: OwnerFiles, most: int | None) -> None:
        """Write what the buffers of a session hold now, which stays there.

        Args:
            name: The session.
            files: The directory of the snapshot.
            most: How many sub-buffers of each ring, the newest; ``None`` for all.
        """

    def counts(self, name: str) -> dict[str, ChannelCounts]:
        """Return what the channels of a session have recorded so far.

        Args:
            name: The session.
        """

    def running(self) -> list[dict[str, Any]]:
        """Return the programs, without asking them, and the sessions of each."""

    async def list_programs(
        self, *, with_fields: bool
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the programs with their tracepoints, and those that did not answer.

        Args:
            with_fields: Whether the fields of these are wanted.
        """


def failure_text(error: Exception | None) -> str | None:
    """Say why a part of a trace could not be written, for people.

    Args:
        error: That; ``None`` if there is nothing to say.
    """
    if isinstance(error, OSError):
        return os_error_text(error)
    return None if error is None else str(error)


class ProgramBackend:
    """Asks programs of a kind what a session needs of them.

    Args:
        recorded: The programs.
    """

    tracer = ""
    """What records in the programs: ``lttng-ust`` or ``vestige``."""

    def __init__(self, recorded: RecordedPrograms) -> None:
        self._recorded = recorded

    def tell_samples(self, on_sample: OnSample) -> None:
        """Say who is told how full buffers are.

        Args:
            on_sample: Called with each sample of a monitor timer.
        """

        def told(session: str, channel: str, usages: dict[int, Usage]) -> None:
            on_sample(Sample(session, channel, self.tracer, usages))

        self._recorded.on_usage = told

    def take_failure(self, session: Session) -> str | None:
        """Return why a part of the trace could not be written, if that is new.

        Args:
            session: The session.
        """
        return failure_text(self._recorded.take_failure(session.name))

    def chunk_size(self, session: Session) -> int:
        """Return how many bytes were written since the last rotation.

        Args:
            session: The session.
        """
        return self._recorded.chunk_size(session.name)

    def hold(self, session: Session, *, is_held: bool) -> None:
        """Write nothing of a session for the moment, or go on.

        Args:
            session: The session.
            is_held: Whether nothing is written.
        """
        self._recorded.hold(session.name, is_held=is_held)

    def folders(self, session: Session) -> list[str]:
        """Return the directories of the traces that are written to now.

        Args:
            session: The session.
        """
        return self._recorded.folders(session.name)

    async def dump_state(self, session: Session) -> list[dict[str, Any]]:
        """Make all programs describe their state once more.

        Args:
            session: An active session.

        Returns:
            Those that have not answered.
        """
        return await self._recorded.dump_state(session.name)

    async def dump_state_for_chunk(self, session: Session) -> None:
        """Let the programs of a session describe their state to a new chunk.

        Args:
            session: The session.
        """
        await self._recorded.dump_state_for_chunk(session.name)

    async def write_metadata(self, session: Session) -> None:
        """Write the metadata of a session once more.

        Args:
            session: An active session.

        Raises:
            SessionError: Buffers of processes begin and end at any time.
        """
        if session.buffers == "pid":
            raise refused("NOT_SUPPORTED")
        await self._recorded.write_metadata(session.name)

    async def snapshot(self, session: Session, folder: str, most: int | None) -> None:
        """Write what the buffers of a session hold now, which stays there.

        Args:
            session: The session.
            folder: The directory of the snapshot.
            most: How many sub-buffers of each ring, the newest; ``None`` for all.

        Raises:
            OSError: It cannot be written.
        """
        files = OwnerFiles(folder, session.uid, session.gid)
        await self._recorded.snapshot(session.name, files, most)

    def counts(self, session: Session) -> dict[str, ChannelCounts]:
        """Return what the channels of a session have recorded so far.

        Args:
            session: The session.
        """
        return self._recorded.counts(session.name)

    def running(self) -> list[dict[str, Any]]:
        """Return the registered programs without asking them anything."""
        return [{**one, "tracer": self.tracer} for one in self._recorded.running()]

    async def programs(
        self, *, with_fields: bool
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the registered programs, and those that have not answered.

        Args:
            with_fields: Whether the fields of their tracepoints are wanted.
        """
        return await self._recorded.list_programs(with_fields=with_fields)
