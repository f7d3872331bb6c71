"""All programs with Vestige's own tracer that are registered, and what they record."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ....errors import RecordError
from ..._agreement import AGREEMENT
from ...rules.encoding import encode_rules
from ..listening import Credentials, Listener, credentials_of
from ..lttng_ust.plan import SessionPlan
from ._agreement import REGISTRATION_SOCKET, Joining
from .meeting_place import announce
from .messages import LARGEST_MESSAGE, Hello, decode
from .program import Program, ProgramGoneError
from .trace import ProgramTrace, compiled_rules

__all__ = ["RegisteredPrograms"]

MOST_WAITING = 512
"""Connections that nobody has accepted yet."""
MOST_STRANGERS = 256
"""Connections of those that have not said who they are."""
MOST_PROGRAMS = 4096
MOST_OF_USER = 1024
"""Programs of one user other than root, and than the daemon's."""
LONGEST_HELLO = 5.0
"""Seconds."""
FOLDER = "64-bit-vestige"
"""Of a user's trace, next to ``64-bit``, that of LTTng-UST's programs."""


class _Session:
    """A session that has been active."""

    def __init__(self, plan: SessionPlan) -> None:
        self.plan = plan
        self.traces: dict[int, ProgramTrace] = {}
        """By user, or by program."""
        self.lost = 0
        """Of traces that are gone."""
        self.failure: Exception | None = None


class RegisteredPrograms:
    """Listens for programs, and brings each to what sessions say.

    A program records for one session at a time: the one that had it first.

    Args:
        folder: The run directory.
        tracer: The path of the tracer.
    """

    def __init__(self, folder: str, tracer: str) -> None:
        self._folder = folder
        self._tracer = tracer
        path = f"{folder}/{REGISTRATION_SOCKET}"
        kind = socket.SOCK_SEQPACKET
        self._listener = Listener(path, kind, MOST_WAITING, self._meet)
        self._programs: list[Program] = []
        self._strangers = 0
        self._sessions: dict[str, _Session] = {}

    async def open(self) -> None:
        """Let programs come.

        Raises:
            OSError: The socket cannot be made.
        """
        self._listener.open()
        announce(self._folder, self._tracer)

    def _takes(self, uid: int) -> bool:
        """Tell whether another program of a user may come."""
        if self._strangers >= MOST_STRANGERS or len(self._programs) >= MOST_PROGRAMS:
            return False
        if uid in {0, os.geteuid()}:
            return True
        return sum(1 for one in self._programs if one.uid == uid) < MOST_OF_USER

    async def _meet(self, connection: socket.socket) -> None:
        """Let a program say who it is, and serve it until it is gone."""
        credentials = credentials_of(connection)
        if self._takes(credentials.uid):
            await self._serve(connection, credentials)
        else:
            connection.close()

    async def _serve(self, connection: socket.socket, credentials: Credentials) -> None:
        loop = asyncio.get_running_loop()
        self._strangers += 1
        try:
            async with asyncio.timeout(LONGEST_HELLO):
                raw = await loop.sock_recv(connection, LARGEST_MESSAGE)
            hello = _hello(raw)
        except (OSError, TimeoutError, ValueError):
            connection.close()
            return
        finally:
            self._strangers -= 1
        program = Program(connection, credentials, hello)
        self._programs.append(program)
        reading = loop.create_task(program.read())
        try:
            await self._welcome(program)
        except ProgramGoneError:
            program.close()
        await reading
        self._programs.remove(program)
        self._bury(program)
        program.dispose()

    async def _welcome(self, program: Program) -> None:
        """Tell a program what to record, and let it begin."""
        await self._offer(program)
        if program.session is None and program.hello.arena:
            # What it recorded for another daemon is of no session any more.
            await program.stop()
        program.let_begin()

    async def _offer(self, program: Program) -> None:
        """Give a program that is free to the first session that wants it."""
        for session in [*self._sessions.values()]:
            if program.session is None and not program.is_gone:
                await self._bring(program, session)

    def _bury(self, program: Program) -> None:
        """End the trace that was of a program alone."""
        for session in self._sessions.values():
            trace = session.traces.pop(id(program), None)
            if trace is not None:
                session.lost += trace.close()
                session.failure = session.failure or trace.failure

    async def _bring(self, program: Program, session: _Session) -> None:
        """Bring a program to what a session says now."""
        plan = session.plan
        rules = compiled_rules(plan) if plan.is_active and plan.output else ()
        # Groups are asked of the kernel, not of the program.
        own = (program.pid, program.vpid, program.uid, program.gid, program.uid)
        if not rules or not plan.permits(*own):
            if program.session == plan.name:
                program.session = None
                await program.stop()
            return
        if program.session not in {None, plan.name}:
            session.failure = session.failure or RecordError(
                f"process {program.pid} ({program.hello.name}) was not recorded: it "
                f"records for session '{program.session}', and for one at a time"
            )
            return
        try:
            trace = self._trace(program, session)
        except (OSError, RecordError) as error:
            session.failure = session.failure or error
            return
        program.session = plan.name
        status = await program.record(trace.words(plan), encode_rules(rules))
        if status != Joining.DONE:
            program.session = None
            session.failure = session.failure or RecordError(
                f"process {program.pid} ({program.hello.name}) was not recorded: it "
                "cannot reach the memory of the session, or another recording goes on"
            )

    def _trace(self, program: Program, session: _Session) -> ProgramTrace:
        plan = session.plan
        if plan.uid != os.geteuid():
            raise RecordError(
                "programs with Vestige's own tracer were not recorded: expected a "
                "session of the user whose daemon it is"
            )
        key = id(program) if plan.is_per_process else program.uid
        found = session.traces.get(key)
        if found is None:
            folder: tuple[str, ...] = ("ust", "uid", str(program.uid), FOLDER)
            if plan.is_per_process:
                stamp = time.strftime("%Y%m%d-%H%M%S")
                name = program.hello.name.replace("/", "_")
                folder = ("ust", "pid", f"{name}-{program.vpid}-{stamp}")
            found = session.traces[key] = ProgramTrace(plan, folder)
        return found

    async def apply(self, plan: SessionPlan) -> None:
        """Bring all programs to what a session says.

        Args:
            plan: The session, which is active.
        """
        session = self._sessions.setdefault(plan.name, _Session(plan))
        session.plan = plan
        await self._bring_all(session)

    async def _bring_all(self, session: _Session) -> None:
        async def bring(program: Program) -> None:
            try:
                await self._bring(program, session)
            except ProgramGoneError:
                program.close()

        await asyncio.gather(*map(bring, [*self._programs]))

    async def stop(self, plan: SessionPlan) -> int:
        """Stop a session in all programs, and complete its files.

        Args:
            plan: The session, which is no longer active.

        Returns:
            How many event records were lost so far.
        """
        session = self._sessions.get(plan.name)
        if session is None:
            return 0
        session.plan = plan
        await self._bring_all(session)
        lost = session.lost + sum(one.complete() for one in session.traces.values())
        await self._offer_all()
        return lost

    async def _offer_all(self) -> None:
        for program in [*self._programs]:
            with suppress(ProgramGoneError):
                await self._offer(program)

    def failure(self, name: str) -> Exception | None:
        """Return why a part of a session's trace could not be written.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        if session is None:
            return None
        failures: Iterator[Exception | None] = (
            one.failure for one in session.traces.values()
        )
        return next((one for one in failures if one is not None), session.failure)

    async def forget(self, name: str) -> None:
        """Let a session go in all programs.

        Args:
            name: The session.
        """
        session = self._sessions.pop(name, None)
        if session is None:
            return
        for program in [*self._programs]:
            if program.session == name:
                program.session = None
                with suppress(ProgramGoneError):
                    await program.stop()
        for trace in session.traces.values():
            trace.close()
        await self._offer_all()

    async def dump_state(self, name: str) -> None:
        """Make all programs of a session describe their state once more.

        Args:
            name: The session.
        """

        async def dump(program: Program) -> None:
            with suppress(ProgramGoneError):
                await program.dump_state()

        chosen = [one for one in self._programs if one.session == name]
        await asyncio.gather(*map(dump, chosen))

    async def write_metadata(self, name: str) -> None:
        """Write what begins the metadata of a session once more.

        Args:
            name: The session.
        """
        session = self._sessions.get(name)
        for trace in [] if session is None else session.traces.values():
            trace.write_metadata()

    async def list_programs(self, *, with_fields: bool) -> list[dict[str, Any]]:
        """Return the programs with their events.

        Args:
            with_fields: Whether the fields of these are wanted.
        """

        async def describe(program: Program) -> dict[str, Any] | None:
            with suppress(ProgramGoneError):
                events = await program.events(with_fields=with_fields)
                return {"pid": program.pid, "name": program.command(), "events": events}
            return None

        found = await asyncio.gather(*map(describe, [*self._programs]))
        return [one for one in found if one is not None]

    async def close(self) -> None:
        """Let all programs go, and listen no more."""
        self._listener.close()
        for program in self._programs:
            program.close()
        await self._listener.wait()


def _hello(raw: bytes) -> Hello:
    hello = Hello.read(decode(raw))
    if hello.fingerprint != int(AGREEMENT, 16):
        raise ValueError("a tracer of another build")
    return hello
