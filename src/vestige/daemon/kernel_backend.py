"""The backend for the kernel: sessions as what its recording process is told."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from functools import partial
from typing import Any, TypeVar

from ..errors import SessionError
from ..owner_rights import owner_rights
from ..record.backends.channel_counts import ChannelCounts
from ..record.backends.kernel.process_link import ENDED, KernelOrderError, missing_text
from ..record.backends.kernel.session_trace import SessionTrace
from ..record.trace_directory import KERNEL
from .backend import OnSample
from .chunks import ARCHIVES, kernel_folders
from .kernel_samples import KernelSamples
from .kernel_wanted import channels_wanted, kernel_wanted, tracked_wanted
from .model import Session
from .refusals import os_error_text, refused
from .triggers.trigger import Trigger

__all__ = ["KernelBackend"]

CLEARED = ".kernel-cleared"
"""What a directory is called that is about to be removed."""
ENOUGH = 0.5
"""Seconds for which counts are new enough."""
ENOUGH_TO_ROTATE = 0.1
"""The same where a session is rotated by its size."""
PAUSE = 5.0
"""Seconds from one process of a session to the next, if each of them ends."""
PATIENCE = 1.0
"""Seconds after which others have their turn."""
_TIMES = 2
"""How often a session is tried to be recorded: its process may have just ended."""
MOST_GAPS = 16
"""How many of a session are kept for those who ask, the last ones."""


Leave = Callable[[str], AbstractAsyncContextManager[None]]
"""Called with the name of a session."""
Result = TypeVar("Result")


def _keep(session: str) -> AbstractAsyncContextManager[None]:  # noqa: ARG001 - of all
    return nullcontext()


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
        self._tasks: set[asyncio.Task[Any]] = set()
        self._buried: dict[str, float] = {}
        """By session: when a process of it had last ended, by the monotonic clock."""
        self._watched: dict[str, int] = {}
        """By session: what can be read once its process has ended."""
        self._samples = KernelSamples(self._counts_now)
        self.leave: Leave = _keep
        """Lets others have their turn while something is waited for."""
        self.on_counted: Callable[[], None] = lambda: None
        """Called when it was counted how large a chunk is."""
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
            trace = await self._patiently(session, self._applied(session))
        except (KernelOrderError, OSError) as error:
            raise refused("KERN_START_FAIL", _text_of(error)) from error
        self._tell_problems(trace)
        self._samples.follow(session)

    async def _applied(self, session: Session) -> SessionTrace:
        """Record what a session says, in a new trace if there is none any more."""
        name = session.name
        for _ in range(_TIMES):
            async with self._lock_of(name):
                trace = await self._trace_of(session)
                try:
                    await asyncio.to_thread(_apply, trace, session)
                except KernelOrderError:
                    if not trace.has_ended:
                        raise
                else:
                    return trace
            await self._bury(session, trace)
        raise KernelOrderError(ENDED)

    async def _trace_of(self, session: Session) -> SessionTrace:
        """Return the trace of a session, which is begun if there is none."""
        name = session.name
        if (trace := self._traces.get(name)) is not None:
            return trace
        is_renewed = name in self._buried
        wanted = kernel_wanted(session, is_renewed=is_renewed)
        trace = await asyncio.to_thread(SessionTrace, wanted)
        self._traces[name] = trace
        channels = session.kernel_channels.values()
        self._losses[name] = {one.name: one.discarded_events for one in channels}
        if is_renewed and session.kernel_gaps and len(session.kernel_gaps[-1]) == 1:
            session.kernel_gaps[-1].append(time.time())
        with suppress(OSError):
            # Before Linux 5.3, it is seen when the process is asked for something.
            self._watched[name] = watched = os.pidfd_open(trace.process)
            loop = asyncio.get_running_loop()
            loop.add_reader(watched, self._note_end, session, trace)
        return trace

    def _note_end(self, session: Session, trace: SessionTrace) -> None:
        """Go on without a process that somebody has killed."""
        self._unwatch(session.name)
        self._spawn(self._renew(session, trace))

    def _unwatch(self, name: str) -> None:
        watched = self._watched.pop(name, None)
        if watched is not None:
            asyncio.get_running_loop().remove_reader(watched)
            os.close(watched)

    async def _renew(self, session: Session, trace: SessionTrace) -> None:
        """Record a session in another trace, beside one whose process has ended."""
        name, before = session.name, self._buried.get(session.name)
        if not await self._bury(session, trace):
            return
        if before is not None:
            await asyncio.sleep(before + PAUSE - time.monotonic())
        if name not in self._buried or not session.active:
            return
        try:
            await self.apply(session)
        except SessionError as error:
            self._fail(session, str(error))

    async def _bury(self, session: Session, trace: SessionTrace) -> bool:
        """Let go of a trace whose process has ended; return whether it was there."""
        name = session.name
        async with self._lock_of(name):
            if self._traces.get(name) is not trace:
                return False
            self._unwatch(name)
            await asyncio.to_thread(trace.end)
            self._set_losses(session, trace)
            del self._traces[name]
            self._buried[name] = time.monotonic()
            now = time.time()
            session.kernel_gaps = [*session.kernel_gaps, [now]][-MOST_GAPS:]
            at = time.strftime("%F %T", time.localtime(now))
            self._fail(session, f"{ENDED} ({at})")
        return True

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
        self._samples.see(session, trace.counts())
        self._tell_problems(trace)

    def _set_losses(self, session: Session, trace: SessionTrace) -> None:
        for name, lost in self._lost(session, trace).items():
            session.kernel_channels[name].discarded_events = lost

    def _lost(self, session: Session, trace: SessionTrace) -> dict[str, int]:
        before = self._losses.get(session.name, {})
        return {
            name: counts.discarded_events + before.get(name, 0)
            for name, counts in trace.counts().items()
            if name in session.kernel_channels
        }

    async def losses(self, session: Session) -> dict[str, int]:
        """Return how many event records the channels of a session have lost up to now.

        Args:
            session: The session.

        Returns:
            By channel; nothing if it is not active, or whoever reads does not answer.
        """
        trace = self._traces.get(session.name)
        if trace is None or not session.active:
            return {}
        counting = self._some_time(session, trace, trace.refresh)
        done, _ = await asyncio.wait({counting}, timeout=ENOUGH)
        return self._lost(session, trace) if done else {}

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
                    # One is there if whoever removes it was killed.
                    shutil.rmtree(moved, ignore_errors=True)
                    os.rename(directory, moved)  # noqa: PTH104 - a moment
            except OSError as error:
                self._failures.setdefault(session.name, os_error_text(error))
                return
        # Whoever reads removes it, which may take long.
        is_done = await self._tried(session, trace.clear, directory or "", moved)
        if directory is not None and not is_done:
            with owner_rights(session.uid, session.gid), suppress(OSError):
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
        is_exact = session.rotation_size > 0
        enough = ENOUGH_TO_ROTATE if is_exact else ENOUGH
        if now - self._counted.get(session.name, 0.0) < enough:
            return
        self._counted[session.name] = now
        refresh = partial(trace.refresh, is_read=is_exact)
        counting = self._some_time(session, trace, refresh)
        if is_exact:
            counting.add_done_callback(lambda _: self.on_counted())

    async def _counts_now(self, session: Session) -> dict[str, ChannelCounts] | None:
        trace = self._traces.get(session.name)
        if trace is None or not await self._tried(session, trace.refresh):
            return None
        return trace.counts()

    def watch(self, triggers: Sequence[Trigger]) -> None:
        """Look at the buffers of sessions whose fill triggers ask for.

        Args:
            triggers: All triggers that there are.
        """
        self._samples.watch(triggers)

    def tell_samples(self, on_sample: OnSample) -> None:
        """Say who is told how full buffers are.

        Args:
            on_sample: Called with each sample of a monitor timer.
        """
        self._samples.on_sample = on_sample

    def _some_time(
        self, session: Session, trace: SessionTrace, do: Callable[[], object]
    ) -> asyncio.Task[Any]:
        """Do something that nobody waits for."""

        def do_if_there() -> None:
            # It may have ended while this has waited, and a session of the same name
            # have begun.
            if self._traces.get(session.name) is trace:
                do()

        return self._spawn(self._tried(session, do_if_there))

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

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
        return await self._patiently(session, self._forget(session))

    async def _forget(self, session: Session) -> str | None:
        name = session.name
        async with self._lock_of(name):
            self._unwatch(name)
            trace = self._traces.get(name)
            if trace is not None:
                await asyncio.to_thread(trace.end)
            failure = self.take_failure(session)
            self._traces.pop(name, None)
        for facts in (self._locks, self._losses, self._counted, self._buried):
            facts.pop(name, None)
        return failure

    async def close(self) -> None:
        """Let all of it go."""
        self._samples.close()
        for name, trace in [*self._traces.items()]:
            async with self._lock_of(name):
                self._unwatch(name)
                await asyncio.to_thread(trace.end)
            self._traces.pop(name, None)

    async def _told(
        self, session: Session, do: Callable[..., Any], *facts: Any
    ) -> None:
        """Do something that waits, in a thread; of a session one after the other."""

        async def told() -> None:
            async with self._lock_of(session.name):
                await asyncio.to_thread(do, *facts)

        await self._patiently(session, told())

    async def _patiently(
        self, session: Session, work: Coroutine[Any, Any, Result]
    ) -> Result:
        """Do something, and let others have their turn if it takes long.

        A process that was stopped, or whose disk is slow, is waited for.
        """
        task = asyncio.ensure_future(work)
        await asyncio.wait({task}, timeout=PATIENCE)
        if not task.done():
            async with self.leave(session.name):
                await asyncio.wait({task})
        return task.result()

    def _lock_of(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())

    async def _tried(
        self, session: Session, do: Callable[..., Any], *facts: Any
    ) -> bool:
        """Do the same; keep why it could not be done, for whoever asks."""
        try:
            await self._told(session, do, *facts)
        except (KernelOrderError, OSError) as error:
            self._fail(session, _text_of(error))
            trace = self._traces.get(session.name)
            if trace is not None and trace.has_ended:
                self._note_end(session, trace)
            return False
        return True

    def _fail(self, session: Session, why: str) -> None:
        self._failures.setdefault(session.name, missing_text(why))

    def _tell_problems(self, trace: SessionTrace) -> None:
        for one in trace.take_problems():
            if self._warn is not None:
                self._warn(one)


def _apply(trace: SessionTrace, session: Session) -> None:
    channels, tracked = channels_wanted(session), tracked_wanted(session)
    trace.apply(channels, tracked, is_active=session.active)


def _text_of(error: KernelOrderError | OSError) -> str:
    return os_error_text(error) if isinstance(error, OSError) else str(error)
