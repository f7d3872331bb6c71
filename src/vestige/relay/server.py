"""The relay daemon: where it listens, its connections, its end."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Callable
from typing import Any

from ._relay import Relay
from .commands import Configuration, CreateSession
from .configuration import RelayOptions
from .control_verbs import Verbs
from .health import listen_for_health, remove_health_socket
from .notices import Notices
from .peers import Connection, Connections
from .sessions import Session, Sessions
from .sockets import Address, listen
from .viewed_streams import LiveSessions
from .viewer_server import ViewerServer

__all__ = ["RelayDaemon"]

NOTICES = {"closed", "stream-full", "stream-ended", "chunk-left"}
"""Events that nobody waits for an answer to."""
EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
PAUSE = 1.0
"""Seconds until somebody is met again when the system has nothing left."""


class RelayDaemon:
    """A relay that runs until a signal ends it.

    Args:
        options: How.
        warn: Told what went wrong with which peer.
        when_ready: Called once peers can connect.
    """

    def __init__(
        self,
        options: RelayOptions,
        warn: Callable[[str], None],
        when_ready: Callable[[], None],
    ) -> None:
        self._options = options
        self._tell = warn
        self._warn: Notices
        self._when_ready = when_ready
        self._relay: Relay
        self._sessions: Sessions
        self._verbs: Verbs
        self._connections = Connections(options.limits.connections)
        self._session_of: dict[int, Session] = {}
        """By the numbers of their connections."""

    def run(self) -> None:
        """Run it.

        Raises:
            VestigeError: It cannot listen.
            OSError: The output cannot be made.
        """
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        options = self._options
        loop = asyncio.get_running_loop()
        self._warn = Notices(self._tell, loop.call_later)
        loop.set_exception_handler(self._warn_of)
        limits = options.limits
        self._relay = Relay(options.threads, options.most_files, limits.memory)
        self._sessions = Sessions(self._relay, options)
        self._verbs = Verbs(
            self._sessions, allows_clear=options.allows_clear, warn=self._warn
        )
        health = []
        if options.health:
            answer = self._relay.is_running
            health.append(
                await listen_for_health(options.health, options.group, answer)
            )
        listeners = [
            self._listen(options.control, is_control=True),
            self._listen(options.data, is_control=False),
        ]
        viewers = ViewerServer(
            LiveSessions(self._sessions),
            limits.viewers,
            limits.viewed_streams,
            warn=self._warn,
        )
        live = [await viewers.listen(listen(options.live)), *health]
        end = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                # nohup(1) and shells have others go on.
                loop.add_signal_handler(number, end.set)
        loop.add_reader(self._relay.fileno(), self._take)
        self._when_ready()
        await end.wait()
        for listener in listeners:
            loop.remove_reader(listener)
            listener.close()
        for server in live:
            server.close()
        if options.health:
            remove_health_socket(options.health)
        await viewers.close()
        loop.remove_reader(self._relay.fileno())
        self._relay.stop()
        while self._take():
            pass
        self._warn.flush()

    def _warn_of(
        self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]
    ) -> None:
        """Say what has happened that nobody has caught."""
        self._warn(f"{context.get('message')}: {context.get('exception')!r}")

    def _listen(self, address: Address, *, is_control: bool) -> socket.socket:
        """Wait for connections."""
        listener = listen(address)
        self._meet(listener, is_control)
        return listener

    def _meet(self, listener: socket.socket, is_control: bool) -> None:  # noqa: FBT001 - of a callback
        if listener.fileno() >= 0:
            loop = asyncio.get_running_loop()
            loop.add_reader(listener, self._accept, listener, is_control)

    def _accept(self, listener: socket.socket, is_control: bool) -> None:  # noqa: FBT001 - of a callback
        try:
            peer, (host, *_) = listener.accept()
        except BlockingIOError:
            return
        except OSError as error:
            self._warn(f"cannot accept a connection: {error}")
            if error.errno in EXHAUSTED:
                loop = asyncio.get_running_loop()
                loop.remove_reader(listener)
                loop.call_later(PAUSE, self._meet, listener, is_control)
            return
        if not self._connections.has_room(host):
            number = self._connections.make_room(host, self._relay.idle())
            if number is None:
                self._warn(f"{host}: there are as many connections as are allowed")
                peer.close()
                return
            self._relay.end_connection(number, "it has no session, and others come")
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._options.keep_alive.apply(peer)
        descriptor = peer.detach()
        if is_control:
            number = self._relay.add_control(descriptor, host)
        else:
            number = self._relay.add_data(descriptor)
        self._connections.add(number, Connection(host, is_control=is_control))

    def _say(self, message: str) -> None:
        if self._options.is_verbose:
            self._tell(message)

    def _take(self) -> bool:
        """Do what events ask for; whether there were some.

        Those that come meanwhile wake the loop again: no peer that asks for more and
        more keeps others waiting.
        """
        events = self._relay.take()
        for kind, number, minor, members in events:
            try:
                self._handle(kind, number, minor, members)
            except Exception as error:  # noqa: BLE001 - others have their events, too
                self._warn(f"{kind}: {error or repr(error)}")
                if kind not in NOTICES:
                    self._relay.end_connection(number, "its command has failed")
        return bool(events)

    def _handle(
        self, kind: str, number: int, minor: int, members: tuple[Any, ...]
    ) -> None:
        if kind == "closed":
            self._close(number, members[0])
        elif kind == "stream-full":
            name = self._sessions.name_of(number)
            self._warn(f"{name}: there is no space: packets are left out")
        elif kind == "stream-ended":
            self._end_stream(number)
        elif kind == "chunk-left":
            self._sessions.leave_chunk(number)
        elif number in self._connections:
            self._answer(kind, number, minor, members)

    def _end_stream(self, number: int) -> None:
        name = self._sessions.name_of(number)
        stream = self._sessions.end_stream(number)
        if stream is None:
            return
        *_, packets, size, _, _, _, _ = stream.stream.progress()
        if packets:
            self._warn(f"{name}: no space: {packets} packets, {size} bytes, left out")

    def _close(self, connection: int, problem: str | None) -> None:
        ended = self._connections.pop(connection)
        if ended is None:
            return
        if problem is not None:
            self._warn(f"{ended.peer}: {problem}")
        session = self._session_of.pop(connection, None)
        if session is not None:
            self._say(f"{session.path}: the session of {session.host} has ended")
            self._sessions.end(session)

    def _answer(
        self, kind: str, connection: int, minor: int, members: tuple[Any, ...]
    ) -> None:
        session = self._session_of.get(connection)
        if kind == "create-session":
            asked = CreateSession(*members)
            asking = self._connections[connection]
            created, reply = self._verbs.create_session(asked, minor, asking.peer)
            if created is not None:
                asking.has_session = True
                self._session_of[connection] = created
            number = None if created is None else created.number
            self._relay.reply(connection, reply, number)
            if created is not None:
                self._say(f"{created.path}: a session of {created.host} begins")
            else:
                self._relay.end_connection(connection, "its session was refused")
        elif kind == "configuration":
            reply = self._verbs.configuration(Configuration(*members))
            self._relay.reply(connection, reply)
        elif session is not None:
            self._relay.reply(connection, self._verbs.answer(session, kind, members))
