"""The connection of a sender, and what the relay daemon was told on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from . import messages
from .chunk import Chunk
from .connection import RelayConnection, has_session
from .messages import SessionFacts
from .plan import SenderPlan
from .resuming import Left, read_left

__all__ = ["RelayLink"]

NUMBERS_OF_NONE = 1 << 62
"""From here on, chunks have numbers that no session comes to."""
GONE_SECONDS = 10.0
"""How long what an earlier connection has begun may still be there."""


class RelayLink:
    """The connection to a relay daemon, which may be lost and made anew.

    Args:
        plan: What is sent.
        idle: Called now and then while the relay daemon takes nothing.
        is_resumed: Whether another sender had begun: the first connection goes on, too.
    """

    def __init__(
        self, plan: SenderPlan, idle: Callable[[], None], *, is_resumed: bool
    ) -> None:
        self._plan, self._idle = plan, idle
        self._is_resumed = is_resumed
        self._left: Left | None = read_left(plan.spool) if is_resumed else None
        self.current: RelayConnection | None = None
        """``None``: there is none now."""
        self._opened: Chunk | None = None
        """The chunk that the relay daemon has now."""
        self._connected = 0
        """How often a connection was made."""
        self.session = plan.session
        """What the relay daemon was told of it last."""
        self.is_moved = False
        """Whether the chunk is just moved there."""
        self.has_moved = False
        """Whether one was archived on this connection."""
        self._lost_since: float | None = None
        self.path = ""
        """Where the session is on the relay daemon."""
        self.may_clear = True
        """Whether it may remove chunks, as far as that is known."""

    @property
    def connection(self) -> RelayConnection:
        """The connection, while something is sent."""
        assert self.current is not None  # noqa: S101 - for the types
        return self.current

    def begin(self, chunk: Chunk) -> None:
        """Go on with what another sender has left of the first chunk, if it has.

        Args:
            chunk: The chunk.
        """
        if self._left is not None and self._left.chunk == chunk.number:
            self.session, chunk.left = self._left.session, self._left.files
            chunk.follows_archives = self._left.follows_archives
        else:
            self._left = None

    def connect(self, chunks: Sequence[Chunk]) -> bool:
        """Make a connection.

        Args:
            chunks: What is to be sent on it.

        Returns:
            Whether what comes is another trace than before.

        Raises:
            OSError: The relay daemon is not there, or has the lost connection.
            RelayRefusedError: It does not take the session.
        """
        is_again = self._connected > 0 or self._left is not None
        is_same = is_again and self._may_resume(chunks)
        if is_again and not is_same:
            is_first = self._connected == 0
            self.session = self._plan.session if is_first else self._other_session()
        self.current = RelayConnection(self._plan.address, self.session, self._idle)
        self.path = self.current.path
        self.may_clear = self.current.may_clear
        for chunk in chunks:
            chunk.resume(is_same=is_same)
        if not is_same and chunks:
            chunks[0].follows_archives = False
        is_other = not is_same and (self._connected > 0 or self._is_resumed)
        self._is_resumed, self._left = False, None
        self._connected += 1
        self.is_moved = self.has_moved = False
        return is_other

    def _may_resume(self, chunks: Sequence[Chunk]) -> bool:
        """Tell whether this connection goes on where the one before has ended.

        Then files that have not come as a whole are sent again, and take the place of
        those that are there. Nobody may write these any more: a relay daemon that lives
        still has what it had got, and writes that first.

        Raises:
            ConnectionError: It does so now.
        """
        if not self._plan.is_kept or self.is_moved:
            return False
        if not chunks or not chunks[0].may_resume:
            return False
        now = time.monotonic()
        if self._lost_since is None:
            self._lost_since = now
        if has_session(self._plan.address, self.session, chunks[0].number):
            if now < self._lost_since + GONE_SECONDS:
                raise ConnectionError("the relay daemon still has the lost connection")
            return False
        return True

    def _other_session(self) -> SessionFacts:
        """Return what is told of another trace: what is there stays as it is."""
        session = self._plan.session
        created = max(int(time.time()), self.session.created + 1)
        base = session.base_path
        if base:
            base += time.strftime("-%Y%m%d-%H%M%S", time.localtime(created))
        return session._replace(
            created=created,
            base_path=base,
            has_time=False,
            number=session.number + (self._connected << 32),
        )

    def note_found(self) -> None:
        """Note that the relay daemon is not lost."""
        self._lost_since = None

    def disconnect(self) -> None:
        """Close the connection, if there is one."""
        if self.current is not None:
            self.current.close()
        self.current = self._opened = None

    def open_chunk(self, chunk: Chunk) -> None:
        """Let the relay daemon have a chunk.

        Args:
            chunk: The chunk.
        """
        if self._opened is not chunk:
            if chunk.follows_archives and not self.has_moved:
                self._pretend_archive(chunk)
            self.connection.create_chunk(chunk.number, chunk.begin, chunk.name)
            self._opened = chunk

    def _pretend_archive(self, chunk: Chunk) -> None:
        """Let a relay daemon know that chunks were archived on an earlier connection.

        Else it would write to another directory than before. One without streams does
        it, of a time at which there was no other.
        """
        number = chunk.number + NUMBERS_OF_NONE
        self.connection.create_chunk(number, 0)
        self.connection.close_chunk(number, int(time.time()), messages.MOVE)
        self.has_moved = True
