"""All agents of logging libraries that are registered, and the port where they do."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from .agent import Agent, AgentError, AgentPlan
from .loopback import connection_owner, process_users

__all__ = ["Agents"]

LOOPBACK = "127.0.0.1"
MOST_WAITING = 128
LONGEST_PORT = 5
"""Digits."""
FEWEST_TURNS = 8
MOST_TURNS = 100
"""Of the event loop, until connections that are ended are gone."""
MOST_AGENTS, MOST_OF_USER = 1024, 512
"""Connections: all of them, and those of one user."""


class Agents:
    """Listens for agents, and brings each to what sessions say.

    Args:
        port_file: Where agents read the port.
        ports: Of these, the first that is free is taken; none if no agents should come.
        is_program: Tells whether a user has a registered program with a process ID,
            as the program sees it.
    """

    def __init__(
        self,
        port_file: str,
        ports: Sequence[int],
        is_program: Callable[[int, int], bool],
    ) -> None:
        self._port_file = Path(port_file)
        self._ports = ports
        self._is_program = is_program
        self._is_closed = False
        self._connections: set[Agent] = set()
        self._agents: list[Agent] = []
        """Those that have registered, in this order."""
        self._plans: dict[str, dict[str, AgentPlan]] = {}
        """By domain, then by session."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> bool:
        """Let agents come.

        Returns:
            Whether they can, if they should: a port was free.
        """
        listener = self._listen(self._left_port())
        self._port_file.unlink(missing_ok=True)
        if listener is None:
            return not self._ports
        self._server = await asyncio.get_running_loop().create_server(
            self._connected, sock=listener, backlog=MOST_WAITING
        )
        # Programs see the whole number, or none.
        made = self._port_file.with_name(f"{self._port_file.name}.new")
        made.write_text(f"{listener.getsockname()[1]}\n")
        made.chmod(0o644)
        made.rename(self._port_file)
        return True

    def _left_port(self) -> int:
        """Return the port of a daemon that was killed, where its agents come back."""
        try:
            text = self._port_file.read_text(errors="replace").strip()
        except OSError:
            return 0
        return int(text) if text.isdecimal() and len(text) <= LONGEST_PORT else 0

    def _listen(self, first: int) -> socket.socket | None:
        for port in sorted(self._ports, key=lambda one: one != first):
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            # Connections to a daemon that was killed may linger at its port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((LOOPBACK, port))
                listener.listen(MOST_WAITING)
            except OSError:
                listener.close()
            else:
                return listener
        return None

    def _connected(self) -> Agent:
        agent = Agent(self._registered, self._ended)
        self._connections.add(agent)
        if self._is_closed or len(self._connections) > MOST_AGENTS:
            asyncio.get_running_loop().call_soon(agent.close)
        return agent

    def _ended(self, agent: Agent) -> None:
        self._connections.discard(agent)
        with suppress(ValueError):
            self._agents.remove(agent)

    def _registered(self, agent: Agent) -> None:
        self._spawn(self._serve(agent))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, agent: Agent) -> None:
        """Take a new agent, if it is one of whose rules it may know."""
        try:
            if not await self._admit(agent) or agent.is_gone:
                agent.close()
                return
            self._agents.append(agent)
            await agent.apply(self._plans_of(agent))
            agent.confirm()
        except (AgentError, OSError):
            agent.close()

    async def _admit(self, agent: Agent) -> bool:
        """Find out whose connection it is: TCP carries nothing that proves it."""
        assert agent.facts is not None  # noqa: S101 - it has registered
        own, other = (agent.address(one)[1] for one in ("sockname", "peername"))
        uid = await asyncio.to_thread(connection_owner, other, own)
        if uid is None or (os.geteuid() != 0 and uid not in {0, os.geteuid()}):
            return False
        if sum(one.uid == uid for one in self._connections) >= MOST_OF_USER:
            return False
        agent.uid = uid
        pid = agent.facts.pid
        return self._is_program(pid, uid) or uid in process_users(pid)

    def _plans_of(self, agent: Agent) -> Mapping[str, AgentPlan]:
        assert agent.facts is not None  # noqa: S101 - it has registered
        return self._plans.get(agent.facts.domain, {})

    async def apply(self, session: str, plans: Mapping[str, AgentPlan]) -> None:
        """Bring all agents to what a session says.

        Args:
            session: Its name.
            plans: What it wants of each domain; nothing of the others.
        """
        before = {
            domain: known.pop(session, None) for domain, known in self._plans.items()
        }
        for domain, plan in plans.items():
            self._plans.setdefault(domain, {})[session] = plan
        domains = {
            domain
            for domain in {*before, *plans}
            if before.get(domain) != plans.get(domain)
        }

        async def bring(agent: Agent) -> None:
            try:
                await agent.apply(self._plans_of(agent))
            except AgentError:
                agent.close()

        chosen = [
            one for one in self._agents if one.facts and one.facts.domain in domains
        ]
        await asyncio.gather(*map(bring, chosen))

    async def loggers(self, domain: str) -> list[tuple[int, tuple[str, ...]]]:
        """Return the loggers of each program that has an agent.

        Args:
            domain: Of which library.

        Returns:
            Process IDs, as programs see them, with names.
        """

        async def ask(agent: Agent) -> tuple[int, tuple[str, ...]] | None:
            assert agent.facts is not None  # noqa: S101 - it has registered
            with suppress(AgentError):
                return agent.facts.pid, await agent.loggers()
            return None

        chosen = [
            one for one in self._agents if one.facts and one.facts.domain == domain
        ]
        found = await asyncio.gather(*map(ask, chosen))
        return [one for one in found if one is not None]

    async def close(self) -> None:
        """Let all agents go, and listen no more."""
        self._is_closed = True
        if self._server is not None:
            for listener in self._server.sockets:
                asyncio.get_running_loop().remove_reader(listener)
            self._port_file.unlink(missing_ok=True)
        for task in [*self._tasks]:
            task.cancel()
        for turn in range(MOST_TURNS):
            # One that was taken just now shows up some turns later.
            if turn >= FEWEST_TURNS and not self._connections:
                break
            for agent in [*self._connections]:
                agent.close()
            await asyncio.sleep(0)
        if self._server is not None:
            # Not before: where a server is closed, who was just taken stays open.
            self._server.close()
