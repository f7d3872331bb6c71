"""The relay daemons that sessions are sent to.

Such a session is recorded to a directory in memory, which its *sender* empties; see
:mod:`vestige.record.relay`.
"""

from __future__ import annotations

import asyncio
import os
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from functools import partial
from typing import TypeVar

from ..live.output_url import read_uri
from ..record.relay import messages
from ..record.relay.chunk import Chunk
from ..record.relay.connection import RelayAddress, RelayRefusedError
from ..record.relay.folder import remove_spool
from ..record.relay.messages import SessionFacts
from ..record.relay.plan import SenderPlan
from ..record.relay.sender import RelaySender
from .model import Session, SnapshotOutput
from .refusals import os_error_text, refused

__all__ = ["Relays", "check_relay", "paused"]

T = TypeVar("T")

ROOM = 64 << 20
"""Bytes in a spool after which nothing more is collected: then programs' buffers fill,
and they lose or wait, as their channels say."""
BOTH = 2
PATIENCE = 10.0
"""Seconds for which a relay daemon may take nothing while somebody waits for it."""


def check_relay(uris: Sequence[str]) -> None:
    """Refuse what are no URIs of a relay daemon.

    Args:
        uris: For control and for data.

    Raises:
        ValueError: They are none.
    """
    if len(uris) != BOTH or any(read_uri(one).is_file for one in uris):
        raise ValueError(f"{', '.join(uris)}: expected URIs for control and data")
    if any(part in {"..", "."} for part in read_uri(uris[0]).path.split("/")):
        raise ValueError(f"{uris[0]}: expected a directory below that of the host")


class Relays:
    """The senders of all sessions.

    Args:
        hold: Called, in the loop, with the name of a session whose spool is full, or
            has room again.
        dump: Called, in the loop, with the name of a session whose programs are to
            describe their state once more: what was there of it is in another trace.
        waiting: Returns of the name of a session what is entered while it waits for its
            relay daemon.
    """

    def __init__(
        self,
        hold: Callable[[str, bool], None],
        dump: Callable[[str], None],
        waiting: Callable[[str], AbstractAsyncContextManager[None]],
    ) -> None:
        self._hold, self._dump, self._waiting = hold, dump, waiting
        self._senders: dict[str, RelaySender] = {}
        self._started: set[str] = set()
        self._uuid = uuid.uuid4().bytes
        self._numbers = iter(range(1, 1 << 31))

    def sender(self, session: Session) -> RelaySender | None:
        """Return what sends a session, if anything has begun to.

        Args:
            session: The session.
        """
        return self._senders.get(session.name)

    async def connect(self, session: Session) -> None:
        """Reach the relay daemon of a session, if it has one.

        Args:
            session: The session.

        Raises:
            SessionError: It is not there, or does not take the session.
        """
        if session.relay is None or session.name in self._senders:
            return
        sender = self._made(session, session.created)
        await self._connect(session, sender)
        self._senders[session.name] = sender

    def _plan(
        self, session: Session, created: float, relay: Sequence[str], spool: str
    ) -> SenderPlan:
        control, data = map(read_uri, relay)
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(session.created))
        facts = SessionFacts(
            session.name,
            os.uname().nodename,
            control.path,
            self._uuid,
            next(self._numbers),
            int(created),
            has_time=session.name == f"auto-{stamp}",
            live_timer=session.live_timer,
        )
        address = RelayAddress(control.host, control.port, data.port, control.family)
        return SenderPlan(address, facts, spool, session.uid, session.gid, ROOM)

    async def send_snapshot(
        self, session: Session, output: SnapshotOutput, spool: str, name: str
    ) -> str:
        """Send a snapshot.

        Args:
            session: The session.
            output: The relay daemon.
            spool: The directory of the snapshot, in memory.
            name: What it is called.

        Returns:
            Where it is on the relay daemon.

        Raises:
            SessionError: It is not there.
        """
        assert output.data is not None  # noqa: S101 - for the types
        relay = [output.path, output.data]
        plan = self._plan(session, session.created, relay, spool)
        plan = plan._replace(session=plan.session._replace(is_snapshot=True))
        sender = RelaySender(plan)
        await self._connect(session, sender)
        now = time.time()
        sender.start(session.snapshots_taken, now, name=name)
        path: str | None = await self._in_thread(
            session, partial(sender.end, PATIENCE, end=now)
        )
        if path is None:
            raise refused("SNAPSHOT_FAIL", _why(sender))
        return path

    def _made(
        self, session: Session, created: float, *, is_resumed: bool = False
    ) -> RelaySender:
        assert session.relay is not None  # noqa: S101 - for the types
        assert session.output is not None  # noqa: S101 - as above
        plan = self._plan(session, created, session.relay, session.output)
        loop = asyncio.get_running_loop()

        def on_full(is_full: bool) -> None:  # noqa: FBT001 - it is called so
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._hold, session.name, is_full)

        def on_again() -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._dump, session.name)

        limits = partial(_limits, session)
        return RelaySender(plan, on_full, limits, on_again, is_resumed=is_resumed)

    def begin(self, session: Session) -> None:
        """Send what a session records from now on.

        Args:
            session: The session, which has been started.
        """
        sender = self.sender(session)
        if sender is not None and session.name not in self._started:
            self._started.add(session.name)
            sender.start(session.chunk, session.chunk_begin)

    def resume(self, session: Session) -> None:
        """Go on with what a daemon before this one has left.

        Args:
            session: The session.
        """
        if session.relay is not None and session.output is not None:
            sender = self._made(session, time.time(), is_resumed=True)
            self._senders[session.name] = sender
            if session.was_active:
                self.begin(session)

    async def flush(self, session: Session) -> str | None:
        """Wait until all that was recorded is on the relay daemon.

        Args:
            session: The session.

        Returns:
            Why it is not there; ``None``: it is.
        """
        sender = self.sender(session)
        if sender is None or session.name not in self._started:
            return None
        if await self._in_thread(session, partial(sender.flush, PATIENCE)):
            return None
        return _why(sender)

    async def wait_for(self, session: Session, chunk: Chunk) -> str | None:
        """Wait until a chunk that has ended is on the relay daemon.

        Args:
            session: The session.
            chunk: The chunk.

        Returns:
            Why it is not there; ``None``: it is.
        """
        sender = self.sender(session)
        assert sender is not None  # noqa: S101 - it has ended the chunk
        if await self._in_thread(session, partial(sender.wait_for, chunk, PATIENCE)):
            return None
        return _why(sender)

    async def end(self, session: Session, now: float) -> tuple[str | None, str | None]:
        """Send what is left of a session, and forget it.

        Args:
            session: The session; nothing writes its files any more.
            now: Seconds since 1970.

        Returns:
            Where its last chunk is on the relay daemon, or why it is not there.
        """
        sender = self._senders.pop(session.name, None)
        is_started = session.name in self._started
        self._started.discard(session.name)
        path, why = None, None
        if sender is not None and is_started:
            what = messages.MOVE if session.chunk else messages.NOTHING
            if session.chunk and _is_empty(session) and sender.may_clear:
                what = messages.DELETE
            end = partial(sender.end, PATIENCE, end=now, what=what)
            path = await self._in_thread(session, end)
            if path is None:
                packets, size = sender.lost_packets, sender.lost_bytes
                why = f"{_why(sender)}; {packets} packets ({size:,} bytes) are lost"
        elif sender is not None:
            sender.drop()
        self.remove_spool(session)
        return path, why

    async def _connect(self, session: Session, sender: RelaySender) -> None:
        """Reach a relay daemon; the errors are those of the verbs."""
        try:
            await self._in_thread(session, sender.connect)
        except RelayRefusedError as error:
            raise refused("RELAYD_VERSION_FAIL", str(error)) from error
        except OSError as error:
            raise refused("RELAYD_CONNECT_FAIL", os_error_text(error)) from error

    async def _in_thread(self, session: Session, do: Callable[[], T]) -> T:
        """Wait for a relay daemon; others have their turn meanwhile."""
        loop = asyncio.get_running_loop()
        # As many may wait as there are sessions; a thread ends with what it waits for.
        waiter = ThreadPoolExecutor(1, "vestige-relay-wait")
        try:
            async with self._waiting(session.name):
                return await loop.run_in_executor(waiter, do)
        finally:
            waiter.shutdown(wait=False)

    @staticmethod
    def remove_spool(session: Session) -> None:
        """Remove the directory in memory of a session.

        Args:
            session: The session.
        """
        if session.relay is not None and session.output is not None:
            remove_spool(session.output)


@contextmanager
def paused(sender: RelaySender | None) -> Iterator[None]:
    """Let a sender look at nothing, if there is one.

    Args:
        sender: The sender.
    """
    if sender is None:
        yield
        return
    with sender.paused():
        yield


def _is_empty(session: Session) -> bool:
    """Tell whether nothing was recorded since the last rotation or clear."""
    return session.is_rotated_while_inactive or session.is_cleared_while_inactive


def _why(sender: RelaySender) -> str:
    failure = sender.failure
    if isinstance(failure, OSError):
        return f"the relay daemon cannot be reached: {os_error_text(failure)}"
    return str(failure or "the relay daemon takes nothing")


def _limits(session: Session, path: str, name: str) -> tuple[int, int]:
    """Return how large the files of a stream may be, and how many are kept."""
    of_trace = session.channels.get(path.rpartition("/")[2])
    channel = of_trace or session.channels.get(name.rpartition("_")[0])
    if channel is None:
        return 0, 0
    return channel.attributes.tracefile_size, channel.attributes.tracefile_count
