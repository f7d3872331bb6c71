"""The sessions of a relay as its viewers see them."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from struct import Struct
from weakref import WeakValueDictionary

from .._typing import TYPE_CHECKING
from ..live.answers import PacketFacts

if TYPE_CHECKING:
    from .sessions import Session, Sessions, SessionStream

__all__ = ["LiveSessions"]

_ENTRY = Struct(">7Q")


class _Reader:
    """Reads the packets of a stream.

    Args:
        stream: The stream.
    """

    def __init__(self, stream: SessionStream) -> None:
        self._follower = stream.stream.follow()
        self.read = self._follower.read
        self.pass_all = self._follower.pass_all

    def take(self) -> PacketFacts | None:
        """Return what is known of the next packet; ``None`` if there is none yet."""
        entry = self._follower.take()
        return None if entry is None else PacketFacts(*_ENTRY.unpack_from(entry))


class _Stream:
    """A stream of a session.

    Args:
        stream: The stream.
        trace_id: The number of its trace.
    """

    def __init__(self, stream: SessionStream, trace_id: int) -> None:
        self._session_stream = stream
        self._stream = stream.stream
        self.id = stream.stream.number
        self.trace_id = trace_id
        self.is_metadata = stream.is_metadata
        self.path = stream.path
        self.channel = stream.channel
        self.read_metadata = stream.stream.read_metadata

    @property
    def is_closed(self) -> bool:
        """Whether nothing more arrives."""
        *_, is_ended = self._stream.progress()
        return is_ended

    @property
    def beacon(self) -> tuple[int, int] | None:
        """Until when nothing more comes, and the ID of its class."""
        *_, until, class_id, _ = self._stream.progress()
        return None if until is None or class_id is None else (until, class_id)

    def follow(self) -> _Reader:
        """Return what reads its packets."""
        return _Reader(self._session_stream)

    @property
    def metadata_size(self) -> int:
        """Bytes of metadata that are there."""
        _, size, *_ = self._stream.progress()
        return size


class _Session:
    """A session.

    Args:
        session: The session.
        traces: Numbers for its traces.
    """

    def __init__(self, session: Session, traces: Iterator[int]) -> None:
        self._session = session
        self._numbers = traces
        self._traces: dict[str, int] = {}
        self._streams: dict[int, _Stream] = {}
        self._seen = -1
        self.id = session.number
        self.hostname = session.host
        self.name = session.name
        self.live_timer = session.live_timer

    @property
    def has_ended(self) -> bool:
        """Whether whoever has sent it has gone."""
        return self._session.is_ended

    @property
    def showings(self) -> int:
        """How often other streams were to be seen."""
        return self._session.showings

    @property
    def streams(self) -> Collection[_Stream]:
        """Its streams that viewers may know of."""
        shown = self._session.shown
        if self._seen == self.showings:
            return self._streams.values()
        self._seen = self.showings
        for number in self._streams.keys() - shown.keys():
            del self._streams[number]
        for number in shown.keys() - self._streams.keys():
            self._streams[number] = self._made(shown[number])
        return self._streams.values()

    def _made(self, stream: SessionStream) -> _Stream:
        if stream.path not in self._traces:
            self._traces[stream.path] = next(self._numbers)
        return _Stream(stream, self._traces[stream.path])


class LiveSessions:
    """All sessions, as viewers see them.

    Args:
        sessions: The sessions.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._numbers = itertools.count(1)
        self._seen: WeakValueDictionary[int, _Session] = WeakValueDictionary()
        """Those that viewers have: nobody keeps files open of one that has ended."""

    def __call__(self) -> Collection[_Session]:
        """Return those that there are."""
        found = []
        for one in self._sessions:
            seen = self._seen.get(one.number) or _Session(one, self._numbers)
            self._seen[one.number] = seen
            found.append(seen)
        return found
