"""An agent of a logging library in a program: its connection, and what it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

from ...._typing import NamedTuple
from .agent_protocol import (
    COMMAND,
    AgentRegistration,
    AgentReply,
    LoggerRule,
    app_context_command,
    disable_command,
    enable_command,
    list_command,
    read_agent_registration,
    read_reply,
    registered_command,
)

__all__ = ["Agent", "AgentError", "AgentPlan"]

LONGEST_WAIT = 5.0
"""Seconds for a registration, and for an answer."""
LONGEST_REQUEST = 10.0
"""Seconds for all answers to what is asked at once."""


class AgentError(Exception):
    """An agent does not do as it should, or is gone."""


class AgentPlan(NamedTuple):
    """What a session wants of the agents of a domain."""

    uid: int
    """Its owner: root's sessions take programs of all users, others their own."""

    rules: tuple[LoggerRule, ...] = ()
    contexts: tuple[tuple[str, str], ...] = ()
    """Provider and name of contexts that programs fill in."""


class Agent(asyncio.Protocol):
    """A connection, of an agent once it has registered.

    Args:
        on_registration: Called when it has said who it is.
        on_end: Called when it is gone.
    """

    def __init__(
        self,
        on_registration: Callable[[Agent], None],
        on_end: Callable[[Agent], None],
    ) -> None:
        self._on_registration, self._on_end = on_registration, on_end
        self._transport: asyncio.Transport | None = None
        self._late: asyncio.TimerHandle | None = None
        self._raw = bytearray()
        self._asked = 0
        """The number of the command that is to be answered."""
        self._answer: asyncio.Future[AgentReply] | None = None
        self._lock = asyncio.Lock()
        """One request at a time."""
        self._rules: set[tuple[str, LoggerRule]] = set()
        self._contexts: set[tuple[str, tuple[str, str]]] = set()
        """What it was told, with the session for which."""
        self.facts: AgentRegistration | None = None
        self.uid = -1
        """Its user, once that is known."""
        self.is_gone = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for its registration, but not for long."""
        self._transport = cast("asyncio.Transport", transport)
        if self.is_gone:
            self.close()
            return
        loop = asyncio.get_running_loop()
        self._late = loop.call_later(LONGEST_WAIT, self.close)

    def connection_lost(self, error: Exception | None) -> None:
        """Tell whoever waits for it that it is gone."""
        self.is_gone = True
        if self._late is not None:
            self._late.cancel()
        if self._answer is not None and not self._answer.done():
            why = str(error or "the agent closed its connection")
            self._answer.set_exception(AgentError(why))
        self._on_end(self)

    def data_received(self, data: bytes) -> None:
        """Take a part of a registration or of an answer; nothing else is let in."""
        if self.is_gone:
            return
        self._raw += data
        try:
            if self.facts is None:
                self._register()
            elif self._answer is None or self._answer.done():
                # Nobody asked for that.
                self.close()
            else:
                reply = read_reply(self._asked, bytes(self._raw))
                if reply is not None:
                    self._raw.clear()
                    self._answer.set_result(reply)
        except ValueError:
            self.close()

    def _register(self) -> None:
        self.facts = read_agent_registration(bytes(self._raw))
        if self.facts is not None:
            self._raw.clear()
            if self._late is not None:
                self._late.cancel()
            self._on_registration(self)

    def address(self, name: str) -> Any:
        """Return where the connection begins or ends.

        Args:
            name: ``peername`` or ``sockname``.
        """
        assert self._transport is not None  # noqa: S101 - it is connected
        return self._transport.get_extra_info(name)

    def close(self) -> None:
        """End the talk: the program goes on without us."""
        self.is_gone = True
        if self._transport is not None:
            self._transport.abort()

    def confirm(self) -> None:
        """Tell the agent that it is registered: its program waits for that."""
        if self._transport is not None and not self.is_gone:
            self._transport.write(registered_command())

    async def _ask(self, command: bytes) -> AgentReply:
        if self.is_gone or self._transport is None:
            raise AgentError("the agent is gone")
        self._asked = COMMAND.unpack_from(command)[1]
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(command)
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                return await self._answer
        except TimeoutError:
            raise AgentError(f"no answer for {LONGEST_WAIT:g} s") from None
        finally:
            if not self._answer.done() or self._answer.cancelled():
                # What it answers later would be taken for something else.
                self.close()

    async def apply(self, plans: Mapping[str, AgentPlan]) -> None:
        """Bring the agent to what all sessions say.

        Args:
            plans: What each session wants, by its name.

        Raises:
            AgentError: It does not do it in time; it is let go.
        """
        try:
            async with asyncio.timeout(LONGEST_REQUEST), self._lock:
                await self._bring(plans)
        except TimeoutError:
            self.close()
            raise AgentError(f"no end of a request for {LONGEST_REQUEST:g} s") from None

    async def _bring(self, plans: Mapping[str, AgentPlan]) -> None:
        mine = [
            (name, plan) for name, plan in plans.items() if plan.uid in {0, self.uid}
        ]
        contexts = {(name, one) for name, plan in mine for one in plan.contexts}
        rules = {(name, one) for name, plan in mine for one in plan.rules}
        # A context is known before the first event that has it.
        for context in sorted(contexts - self._contexts):
            await self._ask(app_context_command(*context[1], is_enabled=True))
            self._contexts.add(context)
        for rule in sorted(rules - self._rules):
            await self._ask(enable_command(rule[1]))
            self._rules.add(rule)
        for rule in sorted(self._rules - rules):
            await self._ask(disable_command(rule[1].name))
            self._rules.discard(rule)
        for context in sorted(self._contexts - contexts):
            await self._ask(app_context_command(*context[1], is_enabled=False))
            self._contexts.discard(context)

    async def loggers(self) -> tuple[str, ...]:
        """Return the names of the loggers of the program.

        Raises:
            AgentError: It does not tell.
        """
        try:
            async with asyncio.timeout(LONGEST_REQUEST), self._lock:
                return (await self._ask(list_command())).names
        except TimeoutError:
            raise AgentError(f"no end of a request for {LONGEST_REQUEST:g} s") from None
