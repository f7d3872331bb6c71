"""The session daemon: its sockets, its signals, its end."""

from __future__ import annotations

import asyncio
import grp
import itertools
import os
import signal
import socket
import struct
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from pathlib import Path

from .._typing import NamedTuple
from ..errors import SessionError, VestigeError
from .backend import Backend
from .kernel_logger import NAME, KernelLogger
from .lock import check_sockets, take_lock
from .model import Session
from .peer import Peer
from .protocol import (
    LARGEST_MESSAGE,
    Request,
    decode_request,
    encode_answer,
    encode_refusal,
)
from .refusals import KERNEL_NEEDS_ROOT, os_error_text, refused
from .registry import Registry, make_output
from .rotation_schedules import RotationSchedules
from .rotation_verbs import complete_rotation, end_output
from .run_paths import TRACING_GROUP, RunPaths
from .saving_verbs import load_text
from .session_verbs import end_session
from .snapshot_verbs import remove_unfinished
from .store import Store
from .triggers.firing import Firing
from .verbs import answer

__all__ = ["Daemon", "DaemonOptions"]

CREDENTIALS = struct.Struct("3i")
"""``struct ucred``: PID, user, group; unix(7)."""
LONGEST_TURN = 15.0
"""Seconds that the end waits for a request: programs are given up before."""
UNORDERED_VERBS = {
    "kernel-points",
    "list-triggers",
    "loggers",
    "programs",
    "statistics",
    "subscribe",
    "unsubscribe",
}
READING_VERBS = {"describe", "list", "list-snapshot-outputs", "save"}
"""Those that change nothing, and wait for no session that waits itself."""
SYSTEM_AUTO = "/etc/lttng/sessions/auto"


class DaemonOptions(NamedTuple):
    """How a daemon runs."""

    paths: RunPaths
    group: str = TRACING_GROUP
    """Whose members may control root's daemon."""

    load: str | None = None
    """A configuration, or a directory of some, in place of those by default."""

    home: str | None = None
    """Where configurations by default are."""

    is_attached: bool = False
    """Whether it ends after its standard input, once no session is left."""

    warn: Callable[[str], None] | None = None
    """Says what is missing, but hinders nothing else."""

    kernel_logger: str | None = None
    """A path to which any user may write text for the kernel's traces, too."""


class Daemon:
    """A daemon that runs until a signal ends it.

    Args:
        options: How.
        make_backend: Makes what reaches programs.
        when_ready: Called once clients can connect.
    """

    def __init__(
        self,
        options: DaemonOptions,
        make_backend: Callable[[RunPaths], Backend],
        when_ready: Callable[[], None],
    ) -> None:
        self._options = options
        self._make_backend = make_backend
        self._when_ready = when_ready
        self._registry: Registry
        self._connections = itertools.count(1)
        self._end: asyncio.Event
        self._is_released = False
        """Whether it ends when no session is left."""

    def run(self) -> None:
        """Run it.

        Raises:
            DaemonRunsError: There is one already.
            VestigeError: It cannot run.
            OSError: As above.
        """
        paths = self._options.paths
        is_root = os.geteuid() == 0
        Path(paths.folder).mkdir(
            mode=0o755 if is_root else 0o700, parents=True, exist_ok=True
        )
        lock = take_lock(paths.lock)
        try:
            check_sockets(paths.lock, (paths.lttng_socket, paths.application_socket))
            pid = Path(paths.pid)
            pid.write_text(f"{os.getpid()}\n")
            try:
                asyncio.run(self._serve())
            finally:
                pid.unlink(missing_ok=True)
        finally:
            os.close(lock)

    async def _serve(self) -> None:
        backend = self._make_backend(self._options.paths)
        store = Store(self._options.paths.state)
        self._registry = registry = Registry(backend, store)
        firing = Firing(registry, _ask)
        self._end = end = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end.set)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        sessions = registry.take_over()
        for session in sessions:
            complete_rotation(registry, session, self._options.paths.rings)
            remove_unfinished(session)
        registry.on_fire = firing.fire
        backend.tell_matches(firing.matched)
        backend.tell_samples(registry.sampled)
        backend.tell_counted(registry.changed.set)
        backend.tell_leave(registry.turn.left)
        if [*registry.triggers]:
            await backend.watch([*registry.triggers])
        await backend.open(sessions)
        # What was found out about them is known also to a daemon after this one.
        if sessions:
            registry.save()
        for session in sessions:
            if session.active:
                with suppress(SessionError):
                    make_output(session)
                await backend.apply(session)
            registry.relays.resume(session)
        if self._options.is_attached:
            loop.add_reader(0, self._read_input)
        else:
            await self._load_sessions()
        listener = self._listen()
        server = await asyncio.start_unix_server(
            self._serve_client, sock=listener, limit=LARGEST_MESSAGE
        )
        schedules = RotationSchedules(registry)
        rotating = loop.create_task(schedules.run())
        loggers = self._make_loggers(backend.kernel_refusal())
        self._when_ready()
        try:
            await end.wait()
        finally:
            rotating.cancel()
            for logger in loggers:
                logger.close()
            server.close()
            with suppress(FileNotFoundError):
                os.unlink(self._options.paths.client_socket)  # noqa: PTH108 - in memory
            await firing.close()
            registry.hub.close()
            await self._end_sessions()

    def _read_input(self) -> None:
        """Notice that whoever started this daemon needs it no more, or is gone."""
        if not os.read(0, 1 << 12):
            asyncio.get_running_loop().remove_reader(0)
            self._is_released = True
            self._end_if_idle()

    def _end_if_idle(self) -> None:
        if self._is_released and not self._registry.all():
            self._end.set()

    async def _end_sessions(self) -> None:
        # A request that takes longer is left where it is.
        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_TURN):
                await self._registry.turn.take()
        backend = self._registry.backend
        sent = []
        for session in self._registry.all():
            try:
                if session.active:
                    session.active = False
                    await backend.stop(session)
                await backend.forget(session)
            except Exception:  # noqa: BLE001 - the others end in order
                traceback.print_exc()
            ended = self._end_output(session)
            if session.relay is None:
                await ended
            else:
                sent.append(ended)
        # They wait for relay daemons, at the same time.
        await asyncio.gather(*sent)
        await backend.close()
        self._registry.forget_store()

    async def _end_output(self, session: Session) -> None:
        try:
            await end_output(self._registry, session)
        except Exception:  # noqa: BLE001 - as above
            traceback.print_exc()

    def _listen(self) -> socket.socket:
        path = self._options.paths.client_socket
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Whoever has the lock owns the socket: what is there was left behind.
        Path(path).unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            listener.bind(path)
        finally:
            os.umask(before)
        if os.geteuid() == 0:
            with suppress(KeyError):
                os.chown(path, 0, grp.getgrnam(self._options.group).gr_gid)
                Path(path).chmod(0o660)
        return listener

    async def _serve_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        connection: socket.socket = writer.get_extra_info("socket")
        packed = connection.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size
        )
        pid, uid, gid = CREDENTIALS.unpack(packed)
        peer = Peer(pid, uid, gid, next(self._connections))
        self._registry.hub.connect(peer, writer)
        with suppress(ConnectionError):
            # A line that is too long has no end that could be found again.
            with suppress(ValueError):
                while line := await reader.readline():
                    # An empty one follows a request that somebody broke off.
                    if line != b"\n":
                        writer.write(await self._answer(peer, line))
                        await writer.drain()
            writer.close()
        self._registry.hub.disconnect(peer)
        await self._end_connection(peer)

    async def _end_connection(self, peer: Peer) -> None:
        """End the sessions that were to last as long as a connection."""
        for session in self._registry.take_temporary(peer):
            async with self._registry.turn.of(session.name):
                if session not in self._registry.all():
                    continue
                try:
                    await end_session(self._registry, session)
                except Exception:  # noqa: BLE001 - the others end in order
                    traceback.print_exc()
        self._end_if_idle()

    async def _answer(self, peer: Peer, line: bytes) -> bytes:
        own = os.geteuid()
        number = None
        if own != 0 and peer.uid not in {0, own}:
            return encode_refusal(refused("EPERM"), number)
        try:
            request = decode_request(line)
            number = request.own_number
            # What only looks at programs waits for them, and nobody for it.
            async with self._turn_of(request):
                found = await answer(self._registry, peer, request)
            return encode_answer(found, number)
        except SessionError as error:
            return encode_refusal(error, number)
        except OSError as error:
            return encode_refusal(refused("UNKNOWN", os_error_text(error)), number)
        except Exception as error:  # noqa: BLE001 - it is answered
            # Nothing that a program or a client sends ends the daemon.
            traceback.print_exc()
            what = f"the request failed: {type(error).__name__}: {error}"
            return encode_refusal(refused("UNKNOWN", what), number)

    def _turn_of(self, request: Request) -> AbstractAsyncContextManager[None]:
        """Return what is entered while a request is answered."""
        turn = self._registry.turn
        if request.verb in UNORDERED_VERBS:
            return nullcontext()
        if request.verb == "load":
            # It may be any one that it takes the place of.
            return turn.of()
        name = None
        if request.verb not in READING_VERBS:
            is_new = request.verb == "create"
            name = request.optional_text("name" if is_new else "session")
        return turn.of(name or "")

    def _make_loggers(self, why_not: str | None) -> list[KernelLogger]:
        """Let any user's text come into the kernel's traces."""
        options = self._options
        asked, warn = options.kernel_logger, options.warn
        if os.geteuid() != 0:
            # Nobody else records the kernel.
            why_not = why_not or KERNEL_NEEDS_ROOT
        if why_not is not None:
            if asked is not None and warn is not None:
                warn(f"no text from {asked}: {why_not}")
            return []
        own = f"{options.paths.folder}/{NAME}"
        places = [own] if asked in {None, own} else [own, str(asked)]
        return [KernelLogger(one, warn) for one in places]

    async def _load_sessions(self) -> None:
        peer = Peer(os.getpid(), os.getuid(), os.getgid())
        for path in self._configurations():
            try:
                text = path.read_text(errors="replace")
                request = Request("load", {"text": text, "path": str(path)})
                await load_text(self._registry, peer, request)
            except (SessionError, OSError) as error:
                what = str(error)
                if isinstance(error, SessionError):
                    if error.name == "EXIST_SESS":
                        continue
                    what = error.detail or error.message
                if self._options.load is not None:
                    raise VestigeError(what) from error
                # Nobody has asked for it now, and other sessions need the daemon.
                if self._options.warn is not None:
                    self._options.warn(f"a session was not loaded: {what}")

    def _configurations(self) -> Iterator[Path]:
        """Yield what is to be loaded; by default, only what this user has written."""
        chosen = self._options.load
        places = [chosen] if chosen else [SYSTEM_AUTO]
        if chosen is None and self._options.home is not None:
            places.insert(0, f"{self._options.home}/.lttng/sessions/auto")
        for place in places:
            path = Path(place)
            if chosen is not None and not path.exists():
                raise VestigeError("expected a session configuration", path=path)
            files = sorted(path.glob("*.lttng")) if path.is_dir() else [path]
            for file in files:
                if file.is_file() and (chosen or file.stat().st_uid == os.geteuid()):
                    yield file


async def _ask(
    registry: Registry, peer: Peer, verb: str, values: Mapping[str, object]
) -> object:
    """Do what a trigger says, as if its user had asked for it."""
    return await answer(registry, peer, Request(verb, values))
