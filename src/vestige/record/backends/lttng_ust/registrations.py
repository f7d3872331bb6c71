"""Programs that register: each opens two sockets, and is complete with both."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

from ..listening import credentials_of
from . import abi
from .abi import Registration, process_number, read_registration
from .application import ApplicationError, receive

__all__ = ["Registered", "Registrations"]

LONGEST_HALF = 10.0
"""Seconds between the two sockets of a program."""
LONGEST_FACTS = 5.0
"""Seconds until a program has said what it is."""

Registered = Callable[
    [Registration, tuple[int, int], socket.socket, socket.socket], Awaitable[None]
]
"""Called with what a program says of itself, its process ID and user as the kernel
says, its socket of commands and that of notices; returns when it is gone."""
_Who = tuple[int, int, int, Registration | None]
"""A program that registers: its process ID, its user; without an ID, the number that
the kernel has for it, and what it says."""
_Half = dict[int, tuple[Registration, socket.socket]]


class Registrations:
    """Brings the two sockets of each program together.

    Args:
        registered: Is called with each program that is complete.
    """

    def __init__(self, registered: Registered) -> None:
        self._registered = registered
        self.half: dict[_Who, _Half] = {}
        """Sockets of programs that have not opened the other yet."""

    async def meet(self, connection: socket.socket) -> None:
        """Take a socket of a program; with its other one, the program is complete.

        Args:
            connection: The socket.
        """
        pid, uid, _ = credentials_of(connection)
        try:
            async with asyncio.timeout(LONGEST_FACTS):
                raw = await receive(connection, abi.REGISTRATION.size)
            facts = read_registration(raw)
        except (ApplicationError, TimeoutError, ValueError):
            connection.close()
            return
        # Processes of other PID namespaces have no ID here: what they say, and what
        # newer kernels say, tells them apart.
        said = None if pid else facts._replace(kind=abi.COMMAND_SOCKET)
        who = (pid, uid, 0 if pid else process_number(connection), said)
        half = self.half.setdefault(who, {})
        if facts.kind in half:
            self._drop(who, half)
            if who[:3] == (0, uid, 0):
                # Two that nothing tells apart: either may come again, alone.
                connection.close()
                return
            half = self.half[who] = {}
        half[facts.kind] = (facts, connection)
        loop = asyncio.get_running_loop()
        if len(half) == 1:
            loop.call_later(LONGEST_HALF, self._drop, who, half)
            # It has nothing to say before it is complete: it ends, or errs.
            loop.add_reader(connection, self._drop, who, half)
        if len(half) == 2:  # noqa: PLR2004 - both sockets
            del self.half[who]
            for _, one in half.values():
                loop.remove_reader(one)
            said_first, command = half[abi.COMMAND_SOCKET]
            notify = half[abi.NOTIFY_SOCKET][1]
            await self._registered(said_first, (pid, uid), command, notify)

    def _drop(self, who: _Who, half: _Half) -> None:
        """Close the only socket of a program that has not opened the other one."""
        if self.half.get(who) is half:
            del self.half[who]
            for _, connection in half.values():
                asyncio.get_running_loop().remove_reader(connection)
                connection.close()
