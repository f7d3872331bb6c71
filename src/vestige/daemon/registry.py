"""The sessions of a daemon: who may reach which, and keeping them."""

from __future__ import annotations

import asyncio
import os
import pwd
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from ..owner_rights import owner_rights
from .backend import Backend
from .model import Session
from .peer import Peer
from .refusals import os_error_text, refused
from .relays import Relays
from .store import Store
from .triggers.book import TriggerBook
from .triggers.hub import Hub
from .triggers.sampled import Fire, Sample, SessionConditions
from .triggers.trigger import Trigger
from .turn import Turn

__all__ = ["Peer", "Registry"]


class Registry:
    """All sessions, by name.

    Args:
        backend: What reaches programs.
        store: Where they are kept for the next daemon.
        clock: Returns seconds since 1970.
    """

    def __init__(
        self, backend: Backend, store: Store, clock: Callable[[], float] = time.time
    ) -> None:
        self.backend = backend
        self._store = store
        self._clock = clock
        self._sessions: dict[str, Session] = {}
        # As with LTTng, a name is taken for all users: so it is also what backends,
        # the directories of buffers and triggers know a session by.
        self._is_held = False
        self._dumps: set[asyncio.Future[Any]] = set()
        self._temporary: dict[int, list[Session]] = {}
        """Sessions that end with a connection, by its number."""
        self.changed = asyncio.Event()
        """Set when something was changed."""
        self.triggers = TriggerBook()
        self.on_fire: Fire = _ignore
        """Has the actions of a trigger done."""
        self.conditions = SessionConditions(self.triggers, self._fire)
        self.hub = Hub()
        self.turn = Turn()
        """Had by whoever changes sessions."""
        self.relays = Relays(self._hold, self._dump_again, self._waiting)

    def now(self) -> float:
        """Return seconds since 1970."""
        return self._clock()

    def _hold(self, name: str, is_held: bool) -> None:  # noqa: FBT001 - it is called so
        """Collect nothing more of a session, or collect it again."""
        session = self._sessions.get(name)
        if session is not None:
            self.backend.hold(session, is_held=is_held)

    @asynccontextmanager
    async def _waiting(self, name: str) -> AsyncIterator[None]:
        """Let others have their turn while a session waits for its relay daemon."""
        held, self._is_held = self._is_held, False
        if held:
            # What others do meanwhile is kept as always.
            self.save()
        try:
            async with self.turn.left(name):
                yield
        finally:
            self._is_held = held

    def _dump_again(self, name: str) -> None:
        """Let programs describe their state once more, some time."""
        session = self._sessions.get(name)
        if session is not None and session.active:
            task = asyncio.ensure_future(self.backend.dump_state(session))
            self._dumps.add(task)
            task.add_done_callback(self._dumps.discard)

    def take_over(self) -> list[Session]:
        """Go on with what another daemon left; return the sessions."""
        left = self._store.read()
        self.triggers.restore(left.triggers)
        for session in left.sessions:
            # The connections of the others are gone.
            if not session.is_temporary:
                session.is_taken_over = True
                self._sessions[session.name] = session
        return self.all()

    def all(self) -> list[Session]:
        """Return all sessions, newest first."""
        return [*reversed(self._sessions.values())]

    def _fire(self, trigger: Trigger, why: dict[str, Any]) -> None:
        self.on_fire(trigger, why)

    def sampled(self, sample: Sample) -> None:
        """Look at triggers for what a monitor timer has seen.

        Args:
            sample: That.
        """
        session = self._sessions.get(sample.session)
        if session is not None:
            self.conditions.sampled(session, sample)

    def sessions(self, peer: Peer) -> list[Session]:
        """Return the sessions that somebody sees, newest first.

        Args:
            peer: Who asks; root sees all.
        """
        return [one for one in self.all() if peer.uid in {0, one.uid}]

    def session(self, peer: Peer, name: str) -> Session:
        """Return a session.

        Args:
            peer: Who asks.
            name: Its name.

        Raises:
            SessionError: There is none that the peer sees.
        """
        found = self._sessions.get(name)
        if found is None or peer.uid not in {0, found.uid}:
            raise refused("SESS_NOT_FOUND")
        return found

    def add(self, session: Session) -> None:
        """Keep a new session.

        Args:
            session: The session.

        Raises:
            SessionError: Somebody has one of this name.
        """
        if session.name in self._sessions:
            raise refused("EXIST_SESS")
        self._sessions[session.name] = session
        self.save(session)

    def bind(self, session: Session, peer: Peer) -> None:
        """Let a session end with the connection of who created it.

        Args:
            session: The session.
            peer: Who created it.
        """
        session.is_temporary = True
        self._temporary.setdefault(peer.connection, []).append(session)
        self.save(session)

    def take_temporary(self, peer: Peer) -> list[Session]:
        """Return the sessions that are to end with a connection, once.

        Args:
            peer: Whose connection has ended.
        """
        bound = self._temporary.pop(peer.connection, [])
        return [one for one in self.all() if any(one is that for that in bound)]

    def remove(self, session: Session) -> None:
        """Keep a session no longer.

        Args:
            session: The session.
        """
        self._sessions.pop(session.name, None)
        self.conditions.forget(session)
        self.save(session)

    def save(self, *changed: Session) -> None:
        """Write what a daemon after this one needs.

        Args:
            changed: The sessions that are others now; none: all may be.
        """
        if not self._is_held:
            self.save_now(*changed)

    def save_now(self, *changed: Session) -> None:
        """Write it in any case.

        Args:
            changed: As of :meth:`save`.
        """
        self.changed.set()
        triggers = self.triggers.to_store()
        self._store.write(self._sessions.values(), triggers, changed or None)

    @contextmanager
    def saved_once(self) -> Iterator[None]:
        """Write it at the end of many changes: it is all of it each time."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            self.save()

    def forget_store(self) -> None:
        """Leave nothing to the next daemon: this one ends in order."""
        self._store.remove()


def _ignore(trigger: Trigger, why: dict[str, Any]) -> None:
    """Do nothing: nobody does the actions yet."""


@contextmanager
def as_owner(session: Session) -> Iterator[None]:
    """Touch files with the rights of a session's owner.

    Args:
        session: The session.
    """
    with owner_rights(session.uid, session.gid):
        yield


def make_output(session: Session) -> None:
    """Make the directory of a session that is started.

    Args:
        session: The session.

    Raises:
        SessionError: It cannot be made.
    """
    if session.output is None:
        return
    # What records the kernel makes its own.
    folder = "ust" if session.channels else ""
    try:
        with as_owner(session):
            Path(session.output, folder).mkdir(parents=True, exist_ok=True, mode=0o770)
    except OSError as error:
        raise refused("CREATE_DIR_FAIL", os_error_text(error)) from error


def home_of(uid: int) -> str | None:
    """Return the home of a user, for requests that come without one.

    Args:
        uid: The user.
    """
    try:
        return pwd.getpwuid(uid).pw_dir
    except KeyError:
        return os.environ.get("HOME") if uid == os.getuid() else None
