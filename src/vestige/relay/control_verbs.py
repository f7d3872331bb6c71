"""What is done for each command that needs a decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._typing import TYPE_CHECKING
from ..errors import VestigeError
from .chunks import Action
from .commands import (
    AddStream,
    ChunkExists,
    CloseChunk,
    Code,
    Configuration,
    CreateChunk,
    CreateSession,
    RotateStreams,
    chunk_closed,
    chunk_exists,
    configuration,
    session_created,
    status,
    stream_added,
)
from .paths import check_time

if TYPE_CHECKING:
    from .sessions import Session, Sessions

__all__ = ["Verbs"]

NO_STREAM = (1 << 64) - 1


class Verbs:
    """Answers commands of sessions.

    Args:
        sessions: All of them.
        allows_clear: Whether peers may delete what they have sent.
        warn: Told why something was refused.
    """

    def __init__(
        self, sessions: Sessions, *, allows_clear: bool, warn: Callable[[str], None]
    ) -> None:
        self._sessions = sessions
        self._allows_clear = allows_clear
        self._warn = warn
        self._handlers: dict[str, tuple[Any, Callable[[Session, Any], bytes]]] = {
            "add-stream": (AddStream, self._add_stream),
            "rotate-streams": (RotateStreams, self._rotate_streams),
            "create-chunk": (CreateChunk, self._create_chunk),
            "close-chunk": (CloseChunk, self._close_chunk),
            "chunk-exists": (ChunkExists, self._chunk_exists),
        }

    def create_session(
        self, asked: CreateSession, minor: int, peer: str
    ) -> tuple[Session | None, bytes]:
        """Create a session; return it, if it could be, and the reply."""
        try:
            session = self._sessions.create(asked, minor, peer)
        except (VestigeError, OSError) as error:
            self._warn(str(error))
            return None, session_created(minor, Code.FATAL, 0, "")
        reply = session_created(minor, Code.OK, session.number, session.path)
        return session, reply

    def configuration(self, asked: Configuration) -> bytes:
        """Return what the relay allows."""
        code = Code.INVALID_PROTOCOL if asked.flags else Code.OK
        return configuration(code, allows_clear=self._allows_clear)

    def answer(self, session: Session, name: str, members: tuple[Any, ...]) -> bytes:
        """Do what a command of a session says; return the reply."""
        if name == "streams-sent":
            session.publish()
            return status(Code.OK)
        kind, handler = self._handlers[name]
        return handler(session, kind(*members))

    def _add_stream(self, session: Session, asked: AddStream) -> bytes:
        try:
            added = self._sessions.add_stream(session, asked)
        except (VestigeError, OSError) as error:
            self._warn(str(error))
            return stream_added(Code.UNKNOWN, NO_STREAM)
        return stream_added(Code.OK, added.stream.number)

    def _rotate_streams(self, session: Session, asked: RotateStreams) -> bytes:
        chunk = None
        if asked.chunk is not None:
            chunk = self._sessions.chunk(session, asked.chunk)
            if chunk is None:
                self._warn("streams are to go on in a trace chunk that is not there")
                return status(Code.INVALID_PROTOCOL)
        for number, at in asked.streams:
            stream = session.streams.get(number)
            if stream is None:
                return status(Code.INVALID)
            try:
                directory = None if chunk is None else chunk.directory(stream.path)
                stream.stream.rotate(at, directory)
            except (VestigeError, OSError) as error:
                self._warn(f"{stream.path}/{stream.channel}: {error}")
                return status(Code.FILE_CREATION)
            stream.chunk = chunk
            if chunk is not None:
                chunk.note_file(stream.path, stream.channel)
        return status(Code.OK)

    def _create_chunk(self, session: Session, asked: CreateChunk) -> bytes:
        try:
            self._sessions.create_chunk(session, asked.chunk, asked.time, asked.name)
        except (VestigeError, OSError) as error:
            self._warn(str(error))
            return status(Code.INVALID_PROTOCOL)
        return status(Code.OK)

    def _close_chunk(self, session: Session, asked: CloseChunk) -> bytes:
        # Another part of the session may have closed it before.
        used = [one for one in (session.closing, session.current) if one is not None]
        chunk = next((one for one in used if one.number == asked.chunk), None)
        is_refused = asked.action == Action.DELETE and not self._allows_clear
        if chunk is None:
            self._warn("a trace chunk is to be closed that is not in use")
            return chunk_closed(Code.INVALID_PROTOCOL, "")
        if is_refused or (session.closing is not None and chunk is session.current):
            return chunk_closed(Code.INVALID_PROTOCOL, "")
        try:
            end = check_time(asked.time)
            path = session.close_chunk(chunk, end, asked.action)
        except (VestigeError, OSError) as error:
            self._warn(str(error))
            return chunk_closed(Code.UNKNOWN, "")
        return chunk_closed(Code.OK, path)

    def _chunk_exists(self, session: Session, asked: ChunkExists) -> bytes:
        is_there = self._sessions.has_chunk(session, asked.chunk)
        return chunk_exists(is_there=is_there)
