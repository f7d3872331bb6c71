"""All programs with Vestige's own tracer that are registered, and what they record."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from ....errors import RecordError, SelectionError
from ..._agreement import AGREEMENT
from ...rules.encoding import encode_rules
from ..channel_counts import ChannelCounts, OnUsage, by_channel, ignore_usage
from ..listening import Credentials, Listener, credentials_of
from ..lttng_ust.plan import ChannelPlan, SessionPlan
from ..lttng_ust.timers import Timers
from ..lttng_ust.trace_files import OwnerFiles
from ..patience import LONGEST_FOR_ANSWERS, Patience
from ._agreement import MOST_CHANNELS, REGISTRATION_SOCKET, Joining, Message
from .loaded_state import LoadedObjects, LoadedState, ToldProgram
from .meeting_place import announce
from .messages import LARGEST_MESSAGE, Hello, decode
from .program import Program, ProgramGoneError
from .program_states import ProgramStates, joined, told_now, told_of
from .trace import (
    Losses,
    ProgramTrace,
    clear_older,
    compiled_rules,
    left_traces,
)
from .watched_rules import WatchedRules

__all__ = ["RegisteredPrograms"]

MOST_WAITING = 512
"""Connections that nobody has accepted yet."""
MOST_PROGRAMS = 4096
"""With those that have not said who they are."""
MOST_OF_USER = 1024
"""Of one user other than root, and than the daemon's."""
LONGEST_HELLO = 5.0
"""Seconds."""
FINGERPRINT_BYTES = 8
"""With which the first message of a program begins."""
MOST_WARNINGS = 100
"""Of programs with another tracer: anybody can start those."""
FOLDER = "64-bit-vestige"
"""Of a user's traces, next to ``64-bit``, that of LTTng-UST's programs."""


class OtherBuildError(Exception):
    """A program has a tracer of another build."""


class _Session:
    """A session that has been active."""

    def __init__(self, plan: SessionPlan, looks: LoadedObjects) -> None:
        self.set_plan(plan)
        self.traces: dict[tuple[str, int], ProgramTrace] = {}
        """By channel, and by user or by program."""
        self.lost: dict[str, Losses] = {}
        """Of traces that are gone, by channel."""
        self.written: dict[str, int] = {}
        """Bytes that these have recorded, by channel."""
        self.users: set[int] = set()
        """Those whose traces have begun."""
        self.states = ProgramStates(looks, plan.kept)
        self.failure: Exception | None = None
        self.timers = Timers()
        self.cut_at: dict[tuple[str, int], int] = {}
        """By trace: when the present chunk had begun, if it is not the first."""
        self.told: Exception | None = None
        """The last one that was told, and stays true."""

    def add_lost(self, channel: str, lost: Losses) -> None:
        """Count what a trace that is gone has lost."""
        self.lost[channel] = self.lost.get(channel, Losses()).plus(lost)

    def set_plan(self, plan: SessionPlan) -> None:
        """Take over what the session says now."""
        self.plan = plan
        self.rules: dict[str, bytes] = {}
        """By channels: the rules that are in force, as programs read them."""
        for channel in plan.channels:
            rules = compiled_rules(channel)
            self.rules[channel.name] = encode_rules(rules) if rules else b""


class RegisteredPrograms:
    """Listens for programs, and brings each to what sessions say.

    Each channel of a session is a trace of its own, in memory of its own; a program
    records to so many at a time as its tracer has channels.

    Args:
        folder: The run directory.
        tracer: The path of the tracer.
        warn: Told of programs that cannot be recorded.
    """

    def __init__(
        self, folder: str, tracer: str, warn: Callable[[str], None] | None = None
    ) -> None:
        self._folder = folder
        self._warn = warn
        self._warnings_left = MOST_WARNINGS
        self._tracer = tracer
        path = f"{folder}/{REGISTRATION_SOCKET}"
        kind = socket.SOCK_SEQPACKET
        self._listener = Listener(path, kind, MOST_WAITING, self._meet)
        self._programs: list[Program] = []
        self._strangers: Counter[int] = Counter()
        """Connections of those that have not said who they are, by user."""
        self._sessions: dict[str, _Session] = {}
        self._patience = Patience()
        self.watched = WatchedRules()
        self.watched.on_full = self._warn_of_rules
        self.on_usage: OnUsage = ignore_usage
        """Called when it was looked at how full rings are."""
        self._looks = LoadedObjects()

    async def open(self, left: Sequence[SessionPlan] = ()) -> None:
        """Let programs come.

        Args:
            left: Sessions of a daemon that was killed. What programs have recorded
                since then is written, whether these still run or not.

        Raises:
            OSError: The socket cannot be made.
        """
        for plan in left:
            self._continue(plan)
        self._listener.open()
        announce(self._folder, self._tracer)

    def _continue(self, plan: SessionPlan) -> None:
        """Go on with the traces of a session that a daemon has left."""
        self._sessions[plan.name] = session = _Session(plan, self._looks)
        if plan.output is None:
            session.states.take_over()
        for channel, key, folder in left_traces(plan, FOLDER):
            try:
                trace = ProgramTrace(plan, channel, folder, is_left=True)
            except (OSError, RecordError) as error:
                session.failure = session.failure or error
            else:
                session.traces[channel.name, key] = trace

    def _takes(self, uid: int) -> bool:
        """Tell whether another program of a user may come."""
        if len(self._programs) + self._strangers.total() >= MOST_PROGRAMS:
            return False
        if uid in {0, os.geteuid()}:
            return True
        known = sum(1 for one in self._programs if one.uid == uid)
        return known + self._strangers[uid] < MOST_OF_USER

    async def _meet(self, connection: socket.socket) -> None:
        """Let a program say who it is, and serve it until it is gone."""
        credentials = credentials_of(connection)
        if self._takes(credentials.uid):
            await self._serve(connection, credentials)
        else:
            connection.close()

    async def _serve(self, connection: socket.socket, credentials: Credentials) -> None:
        loop = asyncio.get_running_loop()
        self._strangers[credentials.uid] += 1
        try:
            async with asyncio.timeout(LONGEST_HELLO):
                raw = await loop.sock_recv(connection, LARGEST_MESSAGE)
            hello = _hello(raw)
        except OtherBuildError:
            self._warn_of(credentials)
            connection.close()
            return
        except (OSError, TimeoutError, ValueError):
            connection.close()
            return
        finally:
            self._strangers[credentials.uid] -= 1
        program = Program(connection, credentials, hello)
        self._programs.append(program)
        reading = loop.create_task(program.read())
        try:
            await self._welcome(program)
        except ProgramGoneError:
            program.close()
        await reading
        self._programs.remove(program)
        await self.watched.bury(program)
        self._bury(program)
        program.dispose()

    def _warn_of(self, program: Credentials) -> None:
        """Say once that a program has a tracer with which nothing is agreed."""
        self._say(
            f"process {program.pid} of user {program.uid} has the tracer of another "
            "version of Vestige: it is recorded once it is started again"
        )

    def _say(self, what: str) -> None:
        """Warn of a program, unless too many others were."""
        self._warnings_left -= 1
        if self._warn is None or self._warnings_left < 0:
            return
        last = "" if self._warnings_left else "; no more of these are told"
        self._warn(what + last)

    def _warn_of_rules(self, program: Program) -> None:
        """Say that a program does not tell of all triggers."""
        self._say(
            f"process {program.pid} ({program.hello.name}) has no room for the rules "
            "of all triggers: of some events it tells those that it had before"
        )

    async def _welcome(self, program: Program) -> None:
        """Tell a program what to record, and let it begin."""
        await self._watch(program)
        for session in [*self._sessions.values()]:
            await self._bring(program, session)
        for arena in program.hello.arenas - {*program.recorded.values()}:
            # What it recorded for another daemon is of no session any more.
            await program.stop(arena)
        program.is_welcomed = True
        program.let_begin()

    def _bury(self, program: Program) -> None:
        """End the traces that were of a program alone."""
        for session in self._sessions.values():
            for (channel, _), trace in session.traces.items():
                name = (session.plan.name, channel)
                if program.recorded.get(name) == trace.arena:
                    self._expect(name, trace)
            own = [key for key in session.traces if key[1] == id(program)]
            for key in own if session.plan.is_per_process else ():
                trace = session.traces.pop(key)
                session.add_lost(key[0], trace.close())
                written = session.written.get(key[0], 0)
                session.written[key[0]] = written + trace.counts().bytes
                session.failure = session.failure or trace.take_failure()

    async def _bring(self, program: Program, session: _Session) -> None:
        """Bring a program to what a session says now."""
        plan = session.plan
        # Groups are asked of the kernel, not of the program.
        own = (program.pid, program.vpid, program.uid, program.gid, program.uid)
        is_wanted = plan.is_active and plan.permits(*own)
        chosen = [one for one in plan.channels if is_wanted and session.rules[one.name]]
        # What ends makes room for what begins.
        for channel in plan.channels:
            if channel not in chosen:
                await self._leave(program, (plan.name, channel.name))
        for channel in chosen:
            # While others were asked, the session may have become another.
            if self._sessions.get(plan.name) is session and session.plan is plan:
                await self._record(program, session, channel)

    def _expect(self, key: tuple[str, str], trace: ProgramTrace) -> None:
        """Tell a trace how many programs record for it."""
        trace.expect(
            sum(one.recorded.get(key) == trace.arena for one in self._programs)
        )

    async def _leave(self, program: Program, key: tuple[str, str]) -> None:
        arena = program.recorded.pop(key, None)
        if arena is not None:
            await program.stop(arena)

    async def _record(
        self,
        program: Program,
        session: _Session,
        channel: ChannelPlan,
    ) -> None:
        """Let a program record for a channel."""
        try:
            trace = self._trace(program, session, channel)
        except (OSError, RecordError) as error:
            session.failure = session.failure or error
            return
        key = (session.plan.name, channel.name)
        program.recorded[key] = trace.arena
        self._expect(key, trace)
        rules = session.rules[channel.name]
        replaced = _replaced(program, session, channel.name, trace.arena)
        time = trace.now()
        status = await program.record(trace.words(channel), rules, replaced)
        if status == Joining.DONE:
            session.states.join(program, trace.arena, time, is_left=trace.is_left)
            if session.plan.output is None:
                here = {one.pid for one in self._programs}
                session.states.keep_first(program, trace.arena, here)
            return
        program.recorded.pop(key, None)
        why = "it cannot reach the memory of the channel"
        if status == Joining.BUSY:
            why = f"it records for {MOST_CHANNELS} channels, and for no more at a time"
        session.failure = session.failure or RecordError(
            f"process {program.pid} ({program.hello.name}) was not recorded for "
            f"channel '{channel.name}': {why}"
        )

    def _trace(
        self, program: Program, session: _Session, channel: ChannelPlan
    ) -> ProgramTrace:
        plan = session.plan
        key = (channel.name, id(program) if plan.is_per_process else program.uid)
        found = session.traces.get(key)
        if found is None:
            folder = self._folder_of(program, session)
            place = (*folder, channel.name)
            found = ProgramTrace(plan, channel, place, program.uid)
            session.traces[key] = found
        return found

    def _folder_of(self, program: Program, session: _Session) -> tuple[str, ...]:
        """Return the directory of the traces of a user, or of a program."""
        if session.plan.is_per_process:
            stamp = time.strftime("%Y%m%d-%H%M%S")
            name = program.hello.name.replace("/", "_")
            return ("ust", "pid", f"{name}-{program.vpid}-{stamp}")
        folder = ("ust", "uid", str(program.uid), FOLDER)
        if program.uid not in session.users:
            session.users.add(program.uid)
            clear_older(session.plan, folder)
        return folder

    async def apply(self, plan: SessionPlan) -> None:
        """Bring all programs to what a session says.

        Args:
            plan: The session, which is active.
        """
        session = self._sessions.setdefault(plan.name, _Session(plan, self._looks))
        session.set_plan(plan)
        arenas = {one.arena for one in session.traces.values()}
        had = session.states.look(self._programs, arenas)
        is_waited_for = True

        async def bring(program: Program) -> None:
            await self._try_to_bring(session, program)
            if not is_waited_for:
                await self._tell_again(session, had)

        await self._patience.bring([*self._programs], bring, lambda _: None)
        is_waited_for = False
        await self._tell_again(session, had)
        for channel in plan.channels:
            self._begin_monitor(session, channel)

    async def _tell_again(self, session: _Session, had: LoadedState | None) -> None:
        """Tell what those have loaded who have joined again, and tell nothing.

        Args:
            session: The session.
            had: What they had before they joined.
        """
        name = session.plan.name
        again = session.states.take_again()
        if not again or self._sessions.get(name) is not session:
            return
        times: dict[tuple[str, int], int] = {}
        for key, trace in session.traces.items():
            joined_at = [one.time for one in again if one.arena == trace.arena]
            if joined_at:
                # If it was cut since, they were described to the chunk.
                times[key] = max(min(joined_at), session.cut_at.get(key, 0))
        programs = joined([], (told_now(one.program) for one in again))
        loaded = session.states.read_again(programs, had)
        self._tell_state(session, programs, loaded, times)
        await self.dump_state_for_chunk(name)

    def _begin_monitor(self, session: _Session, channel: ChannelPlan) -> None:
        async def monitor() -> None:
            self._look_at_usage(session, channel.name)

        session.timers.begin("monitor", channel.name, channel.monitor_timer, monitor)

    def _look_at_usage(self, session: _Session, channel: str) -> None:
        usages = {
            owner: trace.usage()
            for (name, owner), trace in session.traces.items()
            if name == channel
        }
        self.on_usage(session.plan.name, channel, usages)

    async def apply_watched(self) -> None:
        """Bring all programs to what the rules of triggers are now."""

        async def watch(program: Program) -> None:
            try:
                await self._watch(program)
            except ProgramGoneError:
                program.close()

        await self._patience.bring([*self._programs], watch, lambda _: None)

    async def _watch(self, program: Program) -> None:
        # Without them it records as it should.
        with suppress(OSError, SelectionError):
            await self.watched.bring(program)

    async def _try_to_bring(self, session: _Session, program: Program) -> None:
        try:
            await self._bring(program, session)
        except ProgramGoneError:
            program.close()

    async def stop(
        self, plan: SessionPlan
    ) -> tuple[dict[str, Losses], list[dict[str, Any]]]:
        """Stop a session in all programs, and complete its files.

        Args:
            plan: The session, which is no longer active.

        Returns:
            What was lost so far, by channel, and which programs have not answered.
        """
        session = self._sessions.get(plan.name)
        if session is None:
            return {}, []
        silent: list[Program] = []
        session.timers.end()
        session.set_plan(plan)
        bring = partial(self._try_to_bring, session)
        await self._patience.bring(
            [*self._programs],
            bring,
            lambda _: None,
            LONGEST_FOR_ANSWERS,
            silent=silent,
        )
        lost = dict(session.lost)
        for (channel, _), trace in session.traces.items():
            lost[channel] = lost.get(channel, Losses()).plus(trace.complete())
        # What was full is empty now, and the timers have ended.
        for one in plan.channels:
            if one.monitor_timer:
                self._look_at_usage(session, one.name)
        return lost, [*map(_named, silent)]

    def cut(self, name: str) -> bool:
        """Let what a session records from now on be a chunk of its own.

        Args:
            name: The session, whose directories were moved away.

        Returns:
            Whether it is so; otherwise some of them are still written to.
        """
        session = self._sessions.get(name)
        if session is None:
            return True
        before = self._present(session)
        had = session.states.read(before)
        done = [one.cut(told_of(before, one), had) for one in session.traces.values()]
        self._tell_change(session, before, had)
        return all(done)

    def _tell_change(
        self, session: _Session, before: Sequence[ToldProgram], had: LoadedState
    ) -> None:
        """Tell what programs have, and had before the present chunk began."""
        # Before that is told: who joins meanwhile records already.
        session.cut_at = {key: one.now() for key, one in session.traces.items()}
        programs = joined(before, self._present(session))
        self._tell_state(session, programs, session.states.read(programs, had))

    def _recorded(self, session: _Session) -> list[Program]:
        """Return the programs that record for a session."""
        name = session.plan.name
        return [
            one for one in self._programs if any(key[0] == name for key in one.recorded)
        ]

    def _present(self, session: _Session) -> list[ToldProgram]:
        """Return who records for a session, also those that have not registered."""
        programs = [*map(told_now, self._recorded(session))]
        registered = {
            (one.vpid, one.hello.pid_namespace)
            for one in self._programs
            if one.is_welcomed
        }
        for trace in [*session.traces.values()]:
            programs = joined(trace.unregistered(registered), programs)
        return programs

    def _tell_state(
        self,
        session: _Session,
        programs: Sequence[ToldProgram],
        loaded: LoadedState,
        times: Mapping[tuple[str, int], int] | None = None,
    ) -> None:
        """Write what programs had when the present chunk began, or at other times."""
        if session.plan.output is None:
            here = {one.pid for one in self._programs} | {one.pid for one in programs}
            session.states.keep(programs, loaded, here)
        else:
            session.states.tell(session.traces, programs, loaded, times)

    def clear(self, name: str) -> None:
        """Throw away what a session has recorded up to now.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        if session is None:
            return
        before = self._present(session)
        had = session.states.read(before)
        for trace in session.traces.values():
            trace.clear()
        session.states.forget()
        self._tell_change(session, before, had)

    def chunk_size(self, name: str) -> int:
        """Return how many bytes were written since the last rotation.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        traces = [] if session is None else session.traces.values()
        return sum(one.chunk_size for one in traces)

    def hold(self, name: str, *, is_held: bool) -> None:
        """Write nothing of a session for the moment, or go on."""
        session = self._sessions.get(name)
        for trace in [] if session is None else session.traces.values():
            trace.hold(is_held=is_held)

    def folders(self, name: str) -> list[str]:
        """Return the directories that a session writes to now.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        traces = [] if session is None else session.traces.values()
        return [one.folder for one in traces]

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
        there = [(key[0], one.counts()) for key, one in session.traces.items()]
        return by_channel([*gone, *there])

    def untold(self, name: str) -> dict[str, int]:
        """Return what no packet has told yet of what was lost, by channel.

        A daemon that goes on after this one was killed counts it again.

        Args:
            name: The session, which was stopped.
        """
        session = self._sessions.get(name)
        found: Counter[str] = Counter()
        for (channel, _), trace in () if session is None else session.traces.items():
            found[channel] += trace.untold
        return dict(found)

    def running(self) -> list[dict[str, Any]]:
        """Return the programs that are registered, and the sessions of each.

        Each has ``pid``, ``uid``, ``name`` and ``sessions``.
        """
        return [
            {
                **_named(one),
                "uid": one.uid,
                "sessions": sorted({session for session, _ in one.recorded}),
            }
            for one in self._programs
        ]

    def take_failure(self, name: str) -> Exception | None:
        """Return why a part of a session's trace could not be written, once.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        if session is None:
            return None
        failures: list[Exception | None] = [
            one.take_failure() for one in session.traces.values()
        ]
        failures.append(session.failure)
        session.told = session.failure or session.told
        session.failure = None
        return next((one for one in failures if one is not None), None)

    async def forget(self, name: str) -> Exception | None:
        """Let a session go in all programs.

        Args:
            name: The session.

        Returns:
            Why a part of its trace is not in the files; also what was told before.
        """
        session = self._sessions.pop(name, None)
        if session is None:
            return None
        session.timers.end()

        async def leave(program: Program) -> None:
            with suppress(ProgramGoneError):
                for key in [one for one in program.recorded if one[0] == name]:
                    await self._leave(program, key)

        await self._patience.bring(
            [*self._programs], leave, lambda _: None, LONGEST_FOR_ANSWERS
        )
        failures = [session.failure, session.told]
        for trace in session.traces.values():
            trace.close()
            # What found no room may have found some now.
            failures.append(trace.take_failure() or trace.breakage)
        if session.plan.output is None:
            shutil.rmtree(session.plan.kept, ignore_errors=True)
        return next((one for one in failures if one is not None), None)

    async def dump_state(self, name: str) -> list[dict[str, Any]]:
        """Make all programs of a session describe their state once more.

        Args:
            name: The session.

        The daemon does it, for all that it can read.

        Returns:
            Those that were asked and have not answered; they do it when they do.
        """
        session = self._sessions.get(name)
        if session is None:
            return []
        times = {key: one.now() for key, one in session.traces.items()}
        programs = self._present(session)
        loaded = session.states.read(programs, session.states.kept)
        self._tell_state(session, programs, loaded, times)
        asked = session.states.silent_of(self._recorded(session))
        silent: list[Program] = []

        async def dump(program: Program) -> None:
            with suppress(ProgramGoneError):
                for (of, _), arena in [*program.recorded.items()]:
                    if of == name:
                        await program.dump_state(arena)

        await self._patience.bring(asked, dump, lambda _: None, silent=silent)
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
        told, loaded = session.states.for_snapshot(self._present(session))
        for trace in [*session.traces.values()]:
            own = [one for one in told if trace.arena in one.arenas]
            trace.write_state(own, loaded)
            trace.snapshot(files, most)
            # Others are answered between two traces.
            await asyncio.sleep(0)

    async def dump_state_for_chunk(self, name: str) -> None:
        """Let those describe their state to a new chunk for whom the daemon cannot.

        None is let go for that, and nobody waits long for one that is stopped.

        Args:
            name: The session.
        """

        async def dump(program: Program) -> None:
            with suppress(ProgramGoneError):
                for (of, _), arena in [*program.recorded.items()]:
                    if of == name:
                        await program.dump_state_some_time(arena)

        session = self._sessions.get(name)
        states = None if session is None else session.states
        asked = [] if states is None else states.silent_of(self._programs)
        await self._patience.bring(asked, dump, lambda _: None)

    async def write_metadata(self, name: str) -> None:
        """Write what begins the metadata of a session once more.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        for trace in [] if session is None else session.traces.values():
            trace.write_metadata()

    async def list_programs(
        self, *, with_fields: bool
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the programs with their events.

        Args:
            with_fields: Whether the fields of these are wanted.

        Returns:
            Those, and the programs that have not answered.
        """
        programs = [*self._programs]
        events: dict[Program, list[dict[str, Any]]] = {}
        silent: list[Program] = []

        async def ask(one: Program) -> None:
            with suppress(ProgramGoneError):
                events[one] = await one.events(with_fields=with_fields)

        await self._patience.bring(
            programs, ask, lambda _: None, LONGEST_FOR_ANSWERS, silent=silent
        )
        found = [one for one in programs if one in events]
        return (
            [{**_named(one), "events": events[one]} for one in found],
            [*map(_named, silent)],
        )

    async def close(self) -> None:
        """Let all programs go, and listen no more."""
        self._listener.close()
        for program in self._programs:
            program.close()
        await self._listener.wait()
        self.watched.close()


def _named(program: Program) -> dict[str, Any]:
    return {"pid": program.pid, "name": program.command()}


def _hello(raw: bytes) -> Hello:
    message = decode(raw)
    own = int(AGREEMENT, 16).to_bytes(FINGERPRINT_BYTES, sys.byteorder)
    # What follows it may be something else in another version.
    if message.kind == Message.HELLO and message.body[:FINGERPRINT_BYTES] != own:
        raise OtherBuildError
    return Hello.read(message)


def _replaced(program: Program, session: _Session, channel: str, arena: int) -> int:
    """Return the memory that a program has had for a channel before it registered.

    It is that of its parent, or of a daemon that was killed; 0 if there is none.
    """
    had = program.hello.arenas - {*program.recorded.values()}
    for (name, _), one in session.traces.items():
        if name == channel and one.arena in had and one.arena != arena:
            return one.arena
    return 0
