"""Sessions of peers, and what they have."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

from .._typing import TYPE_CHECKING
from ..errors import VestigeError
from .chunks import ARCHIVES, Action, Chunk
from .commands import TRACE_CHUNKS_SINCE, AddStream, CreateSession
from .configuration import RelayOptions
from .paths import Folder, check_name, check_time, relative_path, session_date
from .peers import Shares

if TYPE_CHECKING:
    from ._relay import Relay, Stream

__all__ = ["Session", "SessionStream", "Sessions"]

METADATA = b"metadata"
"""The name of the channel."""
INDEXES_SINCE = 4
"""The minor version of the protocol from which on indexes are sent."""
MOST_ENDED = 256
"""Streams of a session that viewers may see although they have ended."""
_NEW = ".tmp_new_chunk"
_OLD = ".tmp_old_chunk"


class SessionStream:
    """A stream of a session.

    Args:
        stream: What writes it.
        channel: The name of its files.
        path: Their directory in the trace chunk, which tells the trace, too.
        chunk: That trace chunk.
    """

    def __init__(self, stream: Stream, channel: str, path: str, chunk: Chunk) -> None:
        self.stream = stream
        self.channel = channel
        self.path = path
        self.chunk: Chunk | None = chunk
        """Where it is written, once its last rotation was done."""

        self.is_metadata = channel.encode(errors="surrogateescape") == METADATA
        self.is_ended = False


class Session:
    """A session.

    Args:
        number: Which of the relay.
        asked: What its peer said of it.
        minor: The version of the protocol that its peer speaks.
        folder: Its directory.
        path: That, from the output of the relay.
    """

    def __init__(
        self, number: int, asked: CreateSession, minor: int, folder: Folder, path: str
    ) -> None:
        self.number = number
        self.peer = ""
        """The address of its peer."""

        self.name = asked.session_name.decode(errors="surrogateescape")
        self.host = asked.host_name.decode(errors="surrogateescape")
        self.live_timer = asked.live_timer
        self.is_snapshot = asked.is_snapshot
        own = number if asked.number is None else asked.number
        self.identity = (asked.daemon, own)
        """Which it is of which session daemon: two consumers share it."""

        self.minor = minor
        self.folder = folder
        self.path = path
        self.current: Chunk | None = None
        """Where new streams are written."""

        self.closing: Chunk | None = None
        """What was the current one, until it is closed."""

        self.has_rotated = False
        self.is_ended = False
        """Whether its connection has ended."""

        self.shown: dict[int, SessionStream] = {}
        """Those that viewers may see: the last of those that have ended, too."""

        self.showings = 0
        """How often these have changed."""

        self.streams: dict[int, SessionStream] = {}
        """Those that have not ended."""

        self.named: dict[tuple[str, str], SessionStream] = {}
        """The last ones of them of each path and name."""

    @property
    def has_indexes(self) -> bool:
        """Whether its peer sends what is to be known of packets."""
        return self.minor >= INDEXES_SINCE and not self.is_snapshot

    def publish(self) -> None:
        """Let viewers see all streams that there are."""
        if not self.live_timer:
            return
        self.showings += 1
        self.shown |= self.streams
        ended = [number for number, one in self.shown.items() if one.is_ended]
        for number in ended[:-MOST_ENDED]:
            del self.shown[number]

    def new_chunk_path(self) -> str | None:
        """Return where a trace chunk begins; ``None`` for a directory of its name."""
        if self.current is not None:
            return _NEW
        return None if self.has_rotated else ""

    def begin_chunk(self, chunk: Chunk) -> None:
        """Write new streams to a trace chunk from now on."""
        self.closing, self.current = self.current, chunk

    def make_room(self) -> None:
        """Move the current trace chunk out of the way of the next one.

        Raises:
            OSError: It cannot be moved.
        """
        if self.current is not None:
            self.current.move(_OLD)

    def close_chunk(self, chunk: Chunk, end: int, action: int | None) -> str:
        """Close a trace chunk; return where it will be, from the output of the relay.

        Args:
            chunk: The one that is closing, or the current one.
            end: When, seconds since 1970.
            action: What becomes of it.

        Raises:
            OSError: It cannot be moved.
        """
        current = self.current
        if current is not None and current is not chunk:
            is_clear = action == Action.DELETE and not self.has_rotated
            current.move("" if is_clear else current.name)
        if action in {None, Action.NOTHING}:
            chunk.move(chunk.name if self.has_rotated else "")
        chunk.end, chunk.action = end, action
        path = self.path
        if self.is_snapshot:
            path = f"{path}/{chunk.name}"
        elif self.has_rotated or action == Action.ARCHIVE:
            path = f"{path}/{ARCHIVES}/{chunk.name}"
        if action == Action.ARCHIVE:
            self.has_rotated = True
        if current is chunk:
            self.current = None
        self.closing = None
        chunk.leave()
        return path

    def end(self) -> None:
        """Its connection has ended: what was not closed stays where people find it."""
        self.is_ended = True
        if self.closing is not None:
            self.close_chunk(self.closing, int(time.time()), Action.ARCHIVE)
        if self.current is not None:
            if self.current.path == _NEW:
                self.current.move(self.current.name)
            self.current.leave()
            self.current = None
        self.folder.close()


class Sessions:
    """All sessions of a relay.

    Args:
        relay: What reads connections.
        options: How the relay runs.

    Raises:
        OSError: The output cannot be made.
    """

    def __init__(self, relay: Relay, options: RelayOptions) -> None:
        self._relay = relay
        self._options = options
        self._numbers = itertools.count(1)
        self._chunk_numbers = itertools.count(1)
        self._open = Shares(options.limits.directories, "directories")
        Folder.make(options.output).close()
        self._sessions: dict[int, Session] = {}
        self._chunks: dict[int, tuple[Session, Chunk]] = {}
        """By the numbers of their tokens, until nobody uses them."""

    def __iter__(self) -> Iterator[Session]:
        return iter(list(self._sessions.values()))

    def create(self, asked: CreateSession, minor: int, peer: str) -> Session:
        """Create a session of the peer at an address.

        Raises:
            VestigeError: Its names may not be those of directories, or there are too
                many.
            OSError: Its directory cannot be made.
        """
        if len(self._sessions) >= self._options.limits.sessions:
            raise VestigeError("there are as many sessions as are allowed")
        self._open.take(peer)
        try:
            session = self._begin(asked, minor, peer)
        except (VestigeError, OSError):
            self._open.give(peer)
            raise
        self._sessions[session.number] = session
        return session

    def _begin(self, asked: CreateSession, minor: int, peer: str) -> Session:
        number = next(self._numbers)
        path = self._session_path(asked, minor)
        # Somebody may have removed it since.
        with Folder.make(self._options.output) as output:
            folder = output.below(path)
        session = Session(number, asked, minor, folder, path)
        session.peer = peer
        try:
            session.current = self._first_chunk(session, asked.chunk)
        except (VestigeError, OSError):
            folder.close()
            raise
        return session

    def _first_chunk(self, session: Session, number: int | None) -> Chunk | None:
        """Return the trace chunk in which a session begins."""
        if number is not None:
            found = self.chunk(session, number)
            if found is None:
                raise VestigeError("the trace chunk of the session is not there")
            return found
        if session.minor < TRACE_CHUNKS_SINCE:
            return self._new_chunk(session, "")
        return None

    def _session_path(self, asked: CreateSession, minor: int) -> str:
        """Return the directory of a session, from the output."""
        if minor < TRACE_CHUNKS_SINCE:
            # Streams have the whole path.
            return ""
        name = check_name(asked.session_name, "session name")
        host = check_name(asked.host_name, "host name")
        base = relative_path(asked.base_path, "path of the session")
        date = session_date(check_time(asked.creation_time or 0))
        if self._options.groups_by_session:
            return "/".join(part for part in (name, f"{host}-{date}", base) if part)
        if base:
            return f"{host}/{base}"
        return f"{host}/{name}" if asked.is_dated else f"{host}/{name}-{date}"

    def get(self, number: int) -> Session | None:
        """Return a session that is there."""
        return self._sessions.get(number)

    def chunk(self, session: Session, number: int) -> Chunk | None:
        """Return a trace chunk of a session, or of another part of the same.

        One that was closed is none any more, however long its streams take.
        """
        return next(
            (one for one in self._all(session, number) if not one.is_left), None
        )

    def has_chunk(self, session: Session, number: int) -> bool:
        """Tell whether a trace chunk is there, perhaps with streams that go on."""
        return any(True for _ in self._all(session, number))

    def _all(self, session: Session, number: int) -> Iterator[Chunk]:
        """Yield the trace chunks of a number: an old one may still have streams."""
        for owner, chunk in self._chunks.values():
            if chunk.number == number and owner.identity == session.identity:
                yield chunk

    def _new_chunk(
        self, session: Session, path: str | None, number: int = 0, begin: int = 0
    ) -> Chunk:
        of_session = [one for one, _ in self._chunks.values() if one is session]
        if len(of_session) >= self._options.limits.chunks:
            raise VestigeError("there are as many trace chunks as are allowed")
        token = next(self._chunk_numbers)
        self._open.take(session.peer)
        try:
            folder = session.folder.below("")
        except OSError:
            self._open.give(session.peer)
            raise
        share = self._open.of(session.peer)
        chunk = Chunk(folder, self._relay.new_chunk(token), path or "", share)
        chunk.number, chunk.begin = number, begin
        if path is None:
            chunk.path = chunk.name
        self._chunks[token] = session, chunk
        return chunk

    def create_chunk(
        self, session: Session, number: int, begin: int, name: bytes | None
    ) -> None:
        """Begin a trace chunk of a session.

        Raises:
            VestigeError: The one before it is not closed, or there are too many.
            OSError: Directories cannot be moved.
        """
        if session.closing is not None:
            raise VestigeError("the trace chunk before is not closed")
        check_time(begin)
        named = None if name is None else check_name(name, "name of a trace chunk")
        session.make_room()
        chunk = self.chunk(session, number)
        if chunk is None:
            path = session.new_chunk_path()
            chunk = self._new_chunk(session, path, number, begin)
            if named is not None:
                chunk.path, chunk.is_named = named, True
            with chunk.folder.below(chunk.path):
                pass
        session.begin_chunk(chunk)

    def add_stream(self, session: Session, asked: AddStream) -> SessionStream:
        """Begin a stream of a session.

        Raises:
            VestigeError: Its names may not be those of files, there are too many, or
                the session has no trace chunk.
            OSError: Its file cannot be made.
        """
        limits = self._options.limits
        if session.current is None:
            raise VestigeError("a stream begins without a trace chunk")
        if len(session.streams) >= limits.streams:
            raise VestigeError("there are as many streams as are allowed")
        channel = check_name(asked.channel, "name of a stream")
        path = relative_path(asked.path, "path of a stream")
        before = session.named.get((path, channel))
        if before and not before.is_ended and before.chunk is session.current:
            raise VestigeError(f"{path}/{channel}: another stream is written there")
        directory = session.current.directory(path)
        is_metadata = asked.channel == METADATA
        has_index = session.has_indexes and not is_metadata
        try:
            stream = self._relay.add_stream(
                session.number,
                directory,
                asked.channel,
                is_metadata=is_metadata,
                index_minor=session.minor if has_index else None,
                file_bytes=0 if is_metadata else asked.file_bytes,
                file_count=asked.file_count,
                most_metadata=limits.metadata_bytes,
            )
        except OSError:
            session.current.release(path)
            raise
        session.current.note_file(path, channel)
        added = SessionStream(stream, channel, path, session.current)
        session.streams[stream.number] = added
        session.named[path, channel] = added
        return added

    def name_of(self, number: int) -> str:
        """Return where a stream is, from the output."""
        for session in self:
            stream = session.streams.get(number)
            if stream is not None:
                return f"{session.path}/{stream.path}/{stream.channel}"
        return f"stream {number}"

    def end_stream(self, number: int) -> SessionStream | None:
        """A stream has all that it will have; return it."""
        for session in self:
            stream = session.streams.pop(number, None)
            if stream is not None:
                stream.is_ended = True
                if stream.chunk is not None:
                    stream.chunk.release(stream.path)
                name = stream.path, stream.channel
                if session.named.get(name) is stream:
                    del session.named[name]
                self._forget(session)
                return stream
        return None

    def end(self, session: Session) -> None:
        """The connection of a session has ended.

        Raises:
            OSError: Directories cannot be moved.
        """
        try:
            session.end()
        finally:
            self._open.give(session.peer)
            self._forget(session)

    def _forget(self, session: Session) -> None:
        if session.is_ended and not session.streams:
            self._sessions.pop(session.number, None)

    def leave_chunk(self, token: int) -> None:
        """Nobody uses a trace chunk any more: do what is to become of it.

        Raises:
            OSError: It cannot be done.
        """
        found = self._chunks.pop(token, None)
        if found is not None:
            found[1].finish()
