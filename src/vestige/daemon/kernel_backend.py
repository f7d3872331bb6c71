"""The backend for the kernel: sessions as what its recording process is told."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from ..owner_rights import owner_rights
from ..record.backends.channel_counts import ChannelCounts
from ..record.backends.kernel.metadata import ClockFacts
from ..record.backends.kernel.process_link import KernelOrderError
from ..record.backends.kernel.rules import KernelRule
from ..record.backends.kernel.session_trace import SessionTrace, missing_text
from ..record.backends.kernel.wanted import ChannelWanted, Wanted
from ..record.backends.lttng_ust.clock import Clock
from ..record.trace_directory import KERNEL
from .chunks import ARCHIVES, kernel_folders
from .model import Channel, EventRule, Session
from .refusals import os_error_text, refused
from .tracking_verbs import tracked_number

__all__ = ["KernelBackend", "channels_wanted", "kernel_rule"]

CLEARED = ".kernel-cleared"
"""What a directory is called that is about to be removed."""
ENOUGH = 0.5
"""Seconds for which counts are new enough."""
_KINDS = {
    "TRACEPOINT": "tracepoint",
    "SYSCALL": "syscall",
    "PROBE": "probe",
    "FUNCTION": "function",
    "USERSPACE_PROBE": "userspace-probe",
}


class KernelBackend:
    """Records the kernel for sessions that have channels of it.

    Args:
        warn: Says what is missing, but hinders nothing else.
    """

    def __init__(self, warn: Callable[[str], None] | None = None) -> None:
        self._warn = warn
        self._traces: dict[str, SessionTrace] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._counted: dict[str, float] = {}
        self._tasks: set[asyncio.Task[bool]] = set()
        self._failures: dict[str, str] = {}
        self._losses: dict[str, dict[str, int]] = {}
        """By session and channel: what daemons have told that were killed."""

    async def apply(self, session: Session) -> None:
        """Record what a session says now.

        Args:
            session: The session; it is active or has been.

        Raises:
            SessionError: It cannot be recorded.
        """
        if not session.kernel_channels:
            return
        trace = self._traces.get(session.name)
        if trace is None and not session.active:
            return
        try:
            if trace is None:
                trace = await asyncio.to_thread(SessionTrace, _wanted(session))
                self._traces[session.name] = trace
                before = session.kernel_channels.values()
                self._losses[session.name] = {
                    one.name: one.discarded_events for one in before
                }
            await self._told(session, _apply, trace, session)
        except (KernelOrderError, OSError) as error:
            raise refused("KERN_START_FAIL", _text_of(error)) from error
        self._tell_problems(trace)

    async def stop(self, session: Session) -> None:
        """Make the files of a session complete, and count its losses.

        Args:
            session: The session, which is no longer active.
        """
        trace = self._traces.get(session.name)
        if trace is None:
            return
        await self._tried(session, trace.stop)
        self._set_losses(session, trace)

    def _set_losses(self, session: Session, trace: SessionTrace) -> None:
        before = self._losses.get(session.name, {})
        for name, counts in trace.counts().items():
            channel = session.kernel_channels.get(name)
            if channel is not None:
                lost = counts.discarded_events + before.get(name, 0)
                channel.discarded_events = lost

    async def rotate(self, session: Session) -> None:
        """Let what is recorded from now on be in a new directory.

        Args:
            session: The session, whose present chunk was moved to the archives.
        """
        trace = self._traces.get(session.name)
        if trace is None or session.output is None or session.moving_to is None:
            return
        archive = f"{session.output}/{ARCHIVES}/{session.moving_to}"
        place = f"{session.output}/{KERNEL}"
        if not await self._tried(session, trace.rotate, place):
            # It writes to what was moved.
            with owner_rights(session.uid, session.gid), suppress(OSError):
                for name in kernel_folders(archive):
                    os.rename(f"{archive}/{name}", f"{session.output}/{name}")  # noqa: PTH104 - a moment

    async def clear(self, session: Session) -> None:
        """Throw away what a session has recorded up to now.

        Args:
            session: The session.
        """
        trace = self._traces.get(session.name)
        if trace is None:
            return
        directory, moved = trace.directory, f"{session.output}/{CLEARED}"
        if directory is not None:
            try:
                with owner_rights(session.uid, session.gid):
                    shutil.rmtree(moved, ignore_errors=True)
                    os.rename(directory, moved)  # noqa: PTH104 - a moment
            except OSError as error:
                self._failures.setdefault(session.name, os_error_text(error))
                return
        is_done = await self._tried(session, trace.clear, directory or "")
        if directory is not None:
            with owner_rights(session.uid, session.gid), suppress(OSError):
                if is_done:
                    shutil.rmtree(moved)
                else:
                    os.rename(moved, directory)  # noqa: PTH104 - as above

    async def snapshot(self, session: Session, folder: str, most: int | None) -> None:
        """Write what the buffers of a session hold now, which stays there.

        Args:
            session: The session.
            folder: The directory of the snapshot.
            most: How many sub-buffers of each ring, the newest; ``None`` for all.

        Raises:
            OSError: It cannot be written.
        """
        trace = self._traces.get(session.name)
        if trace is None:
            return
        sizes = [
            None if most is None else most * one.attributes.subbuf_size
            for one in session.kernel_channels.values()
        ]
        try:
            await self._told(session, trace.snapshot, f"{folder}/{KERNEL}", sizes)
        except KernelOrderError as error:
            raise OSError(str(error)) from error

    async def dump_state(self, session: Session) -> None:
        """Record the state that there is now once more.

        Args:
            session: An active session.
        """
        trace = self._traces.get(session.name)
        if trace is not None:
            await self._tried(session, trace.dump_state)

    async def write_metadata(self, session: Session) -> None:
        """Write the metadata of a session once more.

        Args:
            session: An active session.
        """
        trace = self._traces.get(session.name)
        if trace is not None:
            await self._tried(session, trace.write_metadata)

    def hold(self, session: Session, *, is_held: bool) -> None:
        """Read nothing of a session for the moment, or go on.

        Args:
            session: The session.
            is_held: Whether nothing is read.
        """
        trace = self._traces.get(session.name)
        if trace is not None:
            self._some_time(session, trace, partial(trace.hold, is_held=is_held))

    def counts(self, session: Session) -> dict[str, ChannelCounts]:
        """Return what the channels of a session have recorded, a moment ago.

        Args:
            session: The session.
        """
        trace = self._traces.get(session.name)
        if trace is None:
            return {}
        self._count_some_time(session, trace)
        return trace.counts()

    def chunk_size(self, session: Session) -> int:
        """Return how many bytes were written since the last rotation.

        Args:
            session: The session.
        """
        trace = self._traces.get(session.name)
        if trace is None:
            return 0
        self._count_some_time(session, trace)
        return trace.chunk_size

    def _count_some_time(self, session: Session, trace: SessionTrace) -> None:
        """Have it counted soon, unless that was just done."""
        now = time.monotonic()
        if now - self._counted.get(session.name, 0.0) < ENOUGH:
            return
        self._counted[session.name] = now
        self._some_time(session, trace, trace.refresh)

    def _some_time(
        self, session: Session, trace: SessionTrace, do: Callable[[], object]
    ) -> None:
        """Do something that nobody waits for."""

        def do_if_there() -> None:
            # It may have ended while this has waited, and a session of the same name
            # have begun.
            if self._traces.get(session.name) is trace:
                do()

        task = asyncio.ensure_future(self._tried(session, do_if_there))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def take_failure(self, session: Session) -> str | None:
        """Return why a part of the trace could not be written, if that is new.

        Args:
            session: The session.
        """
        trace = self._traces.get(session.name)
        failure = self._failures.pop(session.name, None)
        if trace is not None and trace.failure is not None:
            failure, trace.failure = failure or trace.failure, None
        return failure

    async def forget(self, session: Session) -> str | None:
        """Let a session go; its files stay.

        Args:
            session: The session.

        Returns:
            Why a part of the trace is not in them.
        """
        trace = self._traces.get(session.name)
        if trace is None:
            return None
        await self._tried(session, trace.end)
        failure = self.take_failure(session)
        del self._traces[session.name]
        self._locks.pop(session.name, None)
        self._losses.pop(session.name, None)
        self._counted.pop(session.name, None)
        return failure

    async def close(self) -> None:
        """Let all of it go."""
        for name, trace in [*self._traces.items()]:
            async with self._lock_of(name):
                await asyncio.to_thread(trace.end)
            self._traces.pop(name, None)

    async def _told(
        self, session: Session, do: Callable[..., Any], *facts: Any
    ) -> None:
        """Do something that waits, in a thread; of a session one after the other."""
        async with self._lock_of(session.name):
            await asyncio.to_thread(do, *facts)

    def _lock_of(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())

    async def _tried(
        self, session: Session, do: Callable[..., Any], *facts: Any
    ) -> bool:
        """Do the same; keep why it could not be done, for whoever asks."""
        try:
            await self._told(session, do, *facts)
        except (KernelOrderError, OSError) as error:
            why = missing_text(_text_of(error))
            self._failures.setdefault(session.name, why)
            return False
        return True

    def _tell_problems(self, trace: SessionTrace) -> None:
        for one in trace.take_problems():
            if self._warn is not None:
                self._warn(one)


def channels_wanted(session: Session) -> list[ChannelWanted]:
    """Return what a session wants of the kernel.

    Args:
        session: The session.
    """
    return [_channel(session, one) for one in session.kernel_channels.values()]


def _channel(session: Session, channel: Channel) -> ChannelWanted:
    attributes = channel.attributes
    # Of what is sent, the relay daemon limits the files.
    limits = (attributes.tracefile_size, attributes.tracefile_count)
    size, count = (0, 0) if session.relay is not None else limits
    return ChannelWanted(
        channel.name,
        [kernel_rule(one) for one in channel.rules if one.enabled],
        attributes.subbuf_size * attributes.num_subbuf,
        attributes.overwrite,
        is_enabled=channel.enabled,
        contexts=[one.name for one in channel.contexts],
        switch_timer=attributes.switch_timer,
        is_kept=session.output is None,
        tracefile_size=size,
        tracefile_count=count,
    )


def kernel_rule(rule: EventRule) -> KernelRule:
    """Return a rule as whoever records the kernel has it."""
    return KernelRule(
        _KINDS[rule.type], rule.name, filter=rule.filter, location=rule.location
    )


def _tracked(session: Session) -> dict[str, list[int] | None]:
    """Return the numbers of the inclusion sets of a session."""
    return {
        attribute: None
        if values is None
        else [tracked_number(attribute, one) for one in values]
        for attribute, values in session.kernel_trackers.items()
    }


def _wanted(session: Session) -> Wanted:
    return Wanted(
        f"{session.output}/{KERNEL}" if session.output is not None else "",
        session.name,
        str(uuid.uuid4()),
        _clock(session),
        session.uid,
        session.gid,
        channels_wanted(session),
        live=session.live_timer,
        older="kept" if session.is_taken_over else "replaced",
        grows=True,
        tracked=_tracked(session),
    )


def _clock(session: Session) -> ClockFacts:
    """Return the clock of a session with channels of the kernel, in all domains."""
    clock = Clock()
    offset = session.clock_offset
    return ClockFacts(
        clock.name,
        clock.description,
        clock.uuid,
        clock.frequency,
        clock.offset() if offset is None else offset,
    )


def _apply(trace: SessionTrace, session: Session) -> None:
    channels, tracked = channels_wanted(session), _tracked(session)
    trace.apply(channels, tracked, is_active=session.active)


def _text_of(error: KernelOrderError | OSError) -> str:
    return os_error_text(error) if isinstance(error, OSError) else str(error)
