"""All programs that are registered, and what they record for which session."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ....owner_rights import owner_rights
from ..._collector import LoadedObjects
from ..channel_counts import ChannelCounts, OnUsage, by_channel, ignore_usage
from ..listening import Listener
from ..patience import LONGEST_FOR_ANSWERS, Patience
from . import abi
from .abi import Registration
from .application import Application, ApplicationError
from .buffers import ChannelBuffers, TraceBuffers
from .clock import Clock
from .notified_rules import NotifiedRules
from .plan import ChannelPlan, SessionPlan
from .program_traces import trace_of
from .recorded_session import Losses, RecordedSession
from .recording import Recording
from .registrations import Registrations
from .ring_files import Left, RingOwner, left_rings, remove_rings
from .session_dumps import Recorded, SessionDumps
from .snapshots import write_snapshot
from .trace_files import OwnerFiles, packet_bytes
from .wait_page import WaitPage

__all__ = ["Losses", "Programs", "command_of"]

MOST_WAITING = 1024
LARGEST_SAMPLE = 256 << 10
"""Bytes."""
FREE_PERIOD = 1_000_000
"""Microseconds between two looks at what programs have left that were killed."""


NO_SNAPSHOTS: Mapping[str, OwnerFiles] = {}


class Programs:
    """Listens for programs, and brings each to what sessions say.

    Args:
        path: The socket where programs connect.
        wait_page: Where programs wait for a daemon; ``None`` for nowhere.
        clock: What programs read times from.
    """

    def __init__(self, path: str, wait_page: str | None, clock: Clock) -> None:
        self.clock = clock
        kind = socket.SOCK_STREAM
        self._registrations = Registrations(self._register)
        self._listener = Listener(path, kind, MOST_WAITING, self._registrations.meet)
        self._wait_page = WaitPage(wait_page)
        self._applications: list[Application] = []
        self._sessions: dict[str, RecordedSession] = {}
        self._patience = Patience()
        self._loaded = LoadedObjects()
        self._left: dict[str, Losses] = {}
        """What a daemon before this one had lost, by session."""
        self.not_saved: dict[str, OSError] = {}
        """Why what it has left could not be written, by session."""
        self.notified = NotifiedRules()
        self.on_usage: OnUsage = ignore_usage
        """Called with each sample of how full rings are."""

    async def open(self) -> None:
        """Let programs come.

        Raises:
            OSError: The socket cannot be made.
        """
        self._listener.open()
        self._wait_page.open()

    async def _register(
        self,
        facts: Registration,
        owner: tuple[int, int],
        command: socket.socket,
        notify: socket.socket,
    ) -> None:
        await self._serve(Application(facts, owner, command, notify, self._channel_of))

    async def _serve(self, application: Application) -> None:
        self._applications.append(application)
        notices = asyncio.get_running_loop().create_task(application.answer_notices())
        try:
            async with application.turn():
                await application.ask(0, abi.TRACER_VERSION)
            await self.notified.bring(application)
            for session in [*self._sessions.values()]:
                if session.plan.is_active:
                    try:
                        await self._bring(application, session)
                    except OSError as error:
                        session.failure = error
            async with application.turn():
                await application.do(0, abi.REGISTER_DONE)
        except ApplicationError:
            application.close()
        await notices
        self._applications.remove(application)
        await self.notified.bury(application)
        await self._bury(application)
        await application.dispose()

    async def _bury(self, application: Application) -> None:
        """Complete the buffers that were of a process alone."""
        for session in [*self._sessions.values()]:
            if session.plan.is_per_process:
                traces = session.traces.pop(id(application), None)
                if traces is not None:
                    await traces.complete()
                    _count(session.lost, traces)
                    session.chunk_bytes += traces.chunk_size
                    for name, channel in traces.channels.items():
                        written = session.written.get(name, 0)
                        session.written[name] = written + channel.counts().bytes
                    session.failure = session.failure or traces.take_failure()
                    traces.close()
            else:
                # It may have been killed in a record, which others wait for.
                session.has_dead = True
                recording = application.sessions.get(session.plan.name)
                if recording is not None:
                    session.dumps.forget(application, recording.traces)
                for traces in [*session.traces.values()]:
                    for channel in [*traces.channels.values()]:
                        await channel.free()
                if recording is not None and session.plan.live_timer:
                    # Nothing more comes of it that readers would wait for.
                    await recording.traces.end_period()

    def _channel_of(
        self, application: Application, session: int, channel: int
    ) -> ChannelBuffers | None:
        for recording in application.sessions.values():
            if recording.handle == session:
                found: ChannelBuffers | None = recording.buffers(channel)
                return found
        return None

    async def _bring(self, application: Application, session: RecordedSession) -> None:
        """Bring a program to what a session says now."""
        facts = application.facts
        async with application.turn():
            if application.is_gone:
                raise ApplicationError("the program is gone")
            # Since it waited for its turn, all may be different.
            plan = session.plan
            if self._sessions.get(plan.name) is not session:
                return
            recording = application.sessions.get(plan.name)
            said = (facts.pid, facts.uid, facts.gid)
            if not plan.permits(application.pid, *said, application.uid):
                if recording is not None:
                    session.dumps.forget(application, recording.traces)
                    await recording.release()
                    del application.sessions[plan.name]
                return
            if recording is None:
                if not plan.is_active:
                    return
                recording = Recording(
                    application, trace_of(application, session, self.clock)
                )
                application.sessions[plan.name] = recording
            if plan.is_active:
                session.dumps.join(application, recording, plan)
            await recording.apply(plan)
            if plan.is_active and session.recording_since is None:
                session.recording_since = time.time()

    def save_left(
        self,
        root: str,
        owner: RingOwner | None = None,
        snapshots: Mapping[str, OwnerFiles] = NO_SNAPSHOTS,
    ) -> list[Left]:
        """Write what a daemon that was killed has left in its rings, and remove them.

        Args:
            root: The directory of all rings.
            owner: Whose that is and what is in it; ``None`` for the daemon's own, of
                which each ring says whose trace it belongs to.
            snapshots: For sessions without a trace where a snapshot is written.

        Returns:
            What was lost, of each set of rings.
        """
        found = []
        for left in left_rings(root, owner or RingOwner(os.geteuid(), os.getegid())):
            facts = left.facts
            # What is in a directory of a user counts for nobody else.
            uid, gid = owner or (facts["uid"], facts["gid"])
            snapshot = snapshots.get(facts.get("session", ""))
            try:
                one = left.save(uid, gid, snapshot)
            except OSError as error:
                self.not_saved[str(facts.get("session", ""))] = error
            except (ValueError, KeyError, TypeError, AttributeError):
                pass
            else:
                found.append(one)
                self.add_lost(one.session, one.lost)
            with owner_rights(*left.owner):
                remove_rings(left.folder, Path(root))
        return found

    def add_lost(self, session: str, lost: Losses) -> None:
        """Count what was lost in buffers that are gone.

        Args:
            session: The name of the session.
            lost: Event records and packets, by channel.
        """
        known = self._left.setdefault(session, {})
        for channel, (events, packets) in lost.items():
            before = known.get(channel, (0, 0))
            known[channel] = (before[0] + events, before[1] + packets)

    async def apply(self, plan: SessionPlan) -> None:
        """Bring all programs to what a session says.

        Args:
            plan: The session, which is active.

        Raises:
            OSError: There is no room for buffers, or the like.
        """
        session = self._sessions.get(plan.name)
        if session is None:
            dumps = SessionDumps(self.clock, self._loaded)
            session = self._sessions[plan.name] = RecordedSession(plan, dumps)
            session.lost = self._left.pop(plan.name, {})
        if plan.is_active and not session.plan.is_active:
            for traces in session.traces.values():
                # Who removes a trace that is complete wants the next one.
                traces.restore()
        session.plan = plan

        def note(error: BaseException) -> None:
            if isinstance(error, OSError):
                session.failure = error

        error = await self._patience.bring(
            [*self._applications], partial(self._try_to_bring, session), note
        )
        for channel in plan.channels:
            self._begin_timers(session, channel)

        async def live() -> None:
            for traces in [*session.traces.values()]:
                await traces.end_period()

        session.timers.begin("live", "", plan.live_timer, live)
        if error is not None:
            raise error

    def _begin_timers(self, session: RecordedSession, channel: ChannelPlan) -> None:
        name = channel.name

        async def switch() -> None:
            await self._switch(session, name)

        async def read() -> None:
            for buffers in session.buffers(name):
                buffers.consume()

        async def monitor() -> None:
            self._look_at_usage(session, name)

        async def free() -> None:
            for buffers in session.buffers(name) if session.has_dead else ():
                await buffers.free()

        if session.plan.output is None:
            # Nobody takes what is full; others may come to what one that is dead has
            # begun only when they have gone round.
            session.timers.begin("free", name, FREE_PERIOD, free)
        else:
            session.timers.begin("switch", name, channel.switch_timer, switch)
            session.timers.begin("read", name, channel.read_timer, read)
        session.timers.begin("monitor", name, channel.monitor_timer, monitor)

    def _look_at_usage(self, session: RecordedSession, channel: str) -> None:
        usages = {
            owner: traces.channels[channel].sample(is_active=session.plan.is_active)
            for owner, traces in session.traces.items()
            if channel in traces.channels
        }
        self.on_usage(session.plan.name, channel, usages)

    async def _switch(self, session: RecordedSession, channel: str) -> None:
        """End the sub-buffers of a channel that are not full, and write them."""
        done: list[TraceBuffers] = []
        chosen: dict[Application, Recording] = {}
        # One that owes an answer may be stopped.
        for application in sorted(self._applications, key=_is_busy):
            recording = application.sessions.get(session.plan.name)
            # Of the programs that share buffers, one is enough.
            if recording is not None and recording.traces not in done:
                done.append(recording.traces)
                chosen[application] = recording

        async def flush(application: Application) -> None:
            # The answer is waited for, also if the timer ends meanwhile.
            await asyncio.shield(_flush(application, chosen[application], channel))

        await self._patience.bring(chosen, flush, _ignore)
        for traces in done:
            if channel in traces.channels:
                traces.channels[channel].consume()

    async def end_packets(self, name: str) -> None:
        """Let what was recorded up to now be in packets that are full.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        if session is None:
            return
        with session.dumps.cutting(self._recorded(name), session.plan):
            await asyncio.gather(
                *(
                    buffers.end_packets()
                    for traces in session.traces.values()
                    for buffers in traces.channels.values()
                )
            )

    def end_chunk(self, name: str) -> None:
        """Write what is full: the files of a session may be moved then.

        Args:
            name: The session.

        Raises:
            OSError: A trace could not be read without what is still to be written.
        """
        for traces in self._traces_of(name):
            self._end_unused(traces)
            traces.end_chunk()

    def begin_chunk(self, name: str) -> None:
        """Let what a session records from now on be in new files.

        Args:
            name: The session, whose directories were moved away.
        """
        session = self._sessions.get(name)
        if session is not None:
            session.chunk_bytes = 0
        for traces in self._traces_of(name):
            traces.begin_chunk()
        self._describe(name)

    def clear(self, name: str) -> None:
        """Throw away what a session has recorded up to now.

        Args:
            name: The session.
        """
        for traces in self._traces_of(name):
            self._end_unused(traces)
            traces.clear()
        self._describe(name)

    def _describe(self, name: str) -> None:
        """Say what the programs of a session have loaded, where it was cut off."""
        session = self._sessions.get(name)
        if session is not None:
            traces = session.traces.values()
            session.dumps.begin(self._recorded(name), traces, session.plan)

    def _recorded(self, name: str) -> Recorded:
        return [
            (one, one.sessions[name])
            for one in self._applications
            if name in one.sessions
        ]

    def chunk_size(self, name: str) -> int:
        """Return how many bytes were written since the last rotation.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        before = 0 if session is None else session.chunk_bytes
        return before + sum(one.chunk_size for one in self._traces_of(name))

    def hold(self, name: str, *, is_held: bool) -> None:
        """Write nothing of a session for the moment, or go on.

        Args:
            name: The session.
            is_held: Whether nothing is written.
        """
        for trace in self._traces_of(name):
            trace.hold(is_held=is_held)

    def folders(self, name: str) -> list[str]:
        """Return the directories that a session writes to now.

        Args:
            name: The session.
        """
        return [one.folder for one in self._traces_of(name)]

    def _traces_of(self, name: str) -> list[TraceBuffers]:
        session = self._sessions.get(name)
        return [] if session is None else [*session.traces.values()]

    def _end_unused(self, traces: TraceBuffers) -> None:
        """End open packets, if no program writes to them, nor may in this turn."""
        is_used = any(
            recording.traces is traces
            for application in self._applications
            for recording in application.sessions.values()
        )
        for buffers in () if is_used else traces.channels.values():
            buffers.end_open()

    def counts(self, name: str) -> dict[str, ChannelCounts]:
        """Return what the channels of a session have recorded so far.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        if session is None:
            return {}
        gone = [
            (channel, ChannelCounts(session.written.get(channel, 0), *lost))
            for channel, lost in session.lost.items()
        ]
        there = [
            (channel, buffers.counts())
            for traces in session.traces.values()
            for channel, buffers in traces.channels.items()
        ]
        return by_channel([*gone, *there])

    def sample(self, name: str, channel: str) -> bytes | None:
        """Return a packet of a channel that is being filled, as far as it is.

        Args:
            name: The session.
            channel: The channel's name.

        Returns:
            ``None`` if there is none, or none that is small.
        """
        session = self._sessions.get(name)
        for buffers in [] if session is None else session.buffers(channel):
            for ring in buffers.rings:
                for packet in ring.snapshot(1):
                    if len(packet.data) <= LARGEST_SAMPLE:
                        return packet_bytes(packet)
        return None

    def running(self) -> list[dict[str, Any]]:
        """Return the programs that are registered, and the sessions of each.

        Each has ``pid``, ``uid``, ``name`` and ``sessions``.
        """
        return [
            {
                **_named(one),
                "uid": one.uid,
                "sessions": sorted(
                    name
                    for name, this in self._sessions.items()
                    if name in one.sessions and this.plan.is_active
                ),
            }
            for one in self._applications
        ]

    async def _bring_all(
        self, session: RecordedSession, silent: list[Application]
    ) -> OSError | None:
        """Bring all programs at once; return why one of them could not be."""
        bring = partial(self._try_to_bring, session)
        error = await self._patience.bring(
            [*self._applications], bring, _ignore, LONGEST_FOR_ANSWERS, silent=silent
        )
        return error if isinstance(error, OSError) else None

    async def _try_to_bring(
        self, session: RecordedSession, application: Application
    ) -> OSError | None:
        """Bring a program; let it go if it does not do what it should."""
        try:
            await self._bring(application, session)
        except ApplicationError:
            application.close()
        except OSError as error:
            return error
        return None

    def recording_since(self, name: str) -> float | None:
        """Return when a program recorded for a session first, in seconds since 1970.

        Args:
            name: The session.

        Returns:
            As this daemon knows; ``None`` if none has.
        """
        session = self._sessions.get(name)
        return None if session is None else session.recording_since

    def take_failure(self, name: str) -> OSError | None:
        """Return why a part of a session's trace could not be written, once.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        if session is None:
            return None
        failures = [one.take_failure() for one in session.traces.values()]
        failures.append(session.failure)
        session.failure = None
        found = next((one for one in failures if one is not None), None)
        session.told = found or session.told
        return found

    async def stop(self, plan: SessionPlan) -> tuple[Losses, list[dict[str, Any]]]:
        """Stop a session in all programs, and complete its files.

        Args:
            plan: The session, which is no longer active.

        Returns:
            What was lost so far, by channel, and which programs have not answered.
        """
        session = self._sessions.get(plan.name)
        if session is None:
            return {}, []
        silent: list[Application] = []
        session.timers.end()
        session.plan = plan
        session.failure = await self._bring_all(session, silent) or session.failure
        lost = dict(session.lost)
        for traces in session.traces.values():
            await traces.complete()
            if plan.live_timer:
                # The timer has ended: whoever reads would wait for the quiet ones.
                await traces.end_period(is_last=True)
            _count(lost, traces)
        # What was full is empty now, and the timers have ended.
        for channel in plan.channels:
            if channel.monitor_timer:
                self._look_at_usage(session, channel.name)
        return lost, [*map(_named, silent)]

    async def forget(self, name: str) -> OSError | None:
        """Let a session go in all programs.

        Args:
            name: The session.

        Returns:
            Why a part of its trace is not in the files, which was told before.
        """
        session = self._sessions.pop(name, None)
        if session is None:
            return None
        session.timers.end()

        async def release(application: Application) -> None:
            recording = application.sessions.pop(name, None)
            if recording is not None:
                with suppress(ApplicationError):
                    async with application.turn():
                        await recording.release()

        await self._patience.bring(
            [*self._applications], release, _ignore, LONGEST_FOR_ANSWERS
        )
        for traces in session.traces.values():
            traces.close()
        return session.told

    async def dump_state(self, name: str) -> list[dict[str, Any]]:
        """Let the state of all programs of a session be described once more.

        Nobody asks programs that the daemon can describe: it would take them a while,
        in which readers have forgotten what they knew.

        Args:
            name: The session.

        Returns:
            Those that have not answered; they do it when they do.
        """
        silent: list[Application] = []
        session = self._sessions.get(name)
        if session is None:
            return []
        told = session.dumps.tell_again(self._recorded(name), session.plan)

        async def dump(application: Application) -> None:
            recording = application.sessions.get(name)
            if recording is not None:
                with suppress(ApplicationError):
                    async with application.turn():
                        await recording.dump_state()

        others = [one for one in self._applications if one not in told]
        await self._patience.bring(others, dump, _ignore, silent=silent)
        return [*map(_named, silent)]

    async def snapshot(self, name: str, files: OwnerFiles, most: int | None) -> None:
        """Write what the buffers of a session hold now, which stays there.

        Args:
            name: The session.
            files: The directory of the snapshot.
            most: How many sub-buffers of each ring, the newest; ``None`` for all.

        Raises:
            OSError: It cannot be written.
        """
        session = self._sessions.get(name)
        if session is None:
            return
        session.dumps.refresh(self._recorded(name), session.plan)
        for traces in [*session.traces.values()]:
            await write_snapshot(traces, files, most)

    async def dump_state_for_chunk(self, name: str) -> None:
        """Let programs describe their state to a new chunk that nobody may look into.

        None is let go for that, and nobody waits long for one that is stopped.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        if session is None or not session.dumps.wanted(session.plan):
            return

        async def dump(application: Application) -> None:
            recording = application.sessions.get(name)
            if recording is not None and not recording.is_described:
                with suppress(ApplicationError):
                    async with application.lock:
                        await recording.dump_state_some_time()

        unknown = [
            one
            for one, recording in self._recorded(name)
            if not recording.is_described and not one.lock.locked()
        ]
        if unknown:
            await self._patience.bring(unknown, dump, _ignore)

    async def write_metadata(self, name: str) -> None:
        """Write the metadata of a session once more.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        for traces in [] if session is None else session.traces.values():
            traces.declare_again()

    async def list_programs(
        self, *, with_fields: bool
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the programs with their tracepoints.

        Args:
            with_fields: Whether the fields of these are wanted.

        Returns:
            Those, and the programs that have not answered.
        """
        applications = [*self._applications]
        events: dict[Application, list[dict[str, Any]]] = {}
        silent: list[Application] = []

        async def ask(one: Application) -> None:
            with suppress(ApplicationError):
                events[one] = await one.tracepoints(with_fields=with_fields)

        await self._patience.bring(
            applications, ask, _ignore, LONGEST_FOR_ANSWERS, silent=silent
        )
        found = [one for one in applications if one in events]
        return (
            [{**_named(one), "events": events[one]} for one in found],
            [*map(_named, silent)],
        )

    async def apply_notified(self) -> None:
        """Bring all programs to what the rules are now whose matches they tell."""
        await self._patience.bring([*self._applications], self.notified.bring, _ignore)

    def has_program(self, pid: int, uid: int) -> bool:
        """Tell whether a user has a program with a process ID.

        Args:
            pid: The ID, as the program sees it.
            uid: The user.
        """
        return any(
            one.uid == uid and pid == one.facts.pid for one in self._applications
        )

    async def close(self) -> None:
        """Let all programs go, and listen no more."""
        self._wait_page.close()
        self._listener.close()
        for application in self._applications:
            application.close()
        await self._listener.wait()
        self.notified.close()
        self.clock.close()


def _named(application: Application) -> dict[str, Any]:
    name = command_of(application.pid) or application.facts.name
    return {"pid": application.pid, "name": name}


def _is_busy(application: Application) -> bool:
    return application.silent_since is not None


def _ignore(error: BaseException) -> None:
    """Do nothing about an error that was dealt with."""


async def _flush(application: Application, recording: Recording, channel: str) -> None:
    with suppress(ApplicationError):
        async with application.turn():
            await recording.flush(channel)


def command_of(pid: int) -> str:
    """Return the first word of a program's command line, as LTTng shows it.

    Args:
        pid: Its process ID.

    Returns:
        The word; empty if there is none.
    """
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        raw = b""
    return raw.split(b"\0", 1)[0].decode(errors="replace")


def _count(lost: Losses, traces: TraceBuffers) -> None:
    for name, channel in traces.channels.items():
        events, packets = lost.get(name, (0, 0))
        lost[name] = (events + channel.lost, packets + channel.lost_packets)
