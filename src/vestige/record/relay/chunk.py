"""A chunk of a spool, and how far it was sent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress

from ..backends.lttng_ust.trace_files import LIVE_FILE, live_time
from .segments import Files, SentStream
from .spool import SpooledTrace, traces_below

__all__ = ["Chunk", "SentTrace"]


class SentTrace:
    """A trace, and how far it was sent.

    Args:
        path: Where it is in its chunk.
        left: How far another sender has sent its streams, as far as that is known.
    """

    def __init__(self, path: str, left: Mapping[str, Files] | None = None) -> None:
        self.path = path
        self._left = left or {}
        self.streams: dict[str, SentStream] = {}
        self.before: dict[str, SentStream] = {}
        """Streams of the chunk before that go on in this one, once a packet comes."""
        self.handle = -1
        """Of the metadata."""
        self.sent = self.resets = 0
        """Bytes of metadata; how often they began anew."""
        self._hash = hash(b"")
        self._seen = (-1, -1, -1)
        self._spooled = SpooledTrace("", path)

    def look(self, folder: str, *, is_ended: bool) -> None:
        """Find streams that have come.

        Args:
            folder: The directory of the chunk.
            is_ended: Whether nothing more comes.
        """
        self._spooled.folder = os.path.join(folder, self.path)
        self._spooled.look(is_ended=is_ended)
        for name, one in self._spooled.streams.items():
            if name not in self.streams:
                self.streams[name] = made = SentStream(one, self._left.get(name))
                if name in self.before:
                    made.go_on(self.before.pop(name))

    def opened(self) -> list[SentStream]:
        """Return the data streams that the relay daemon has."""
        there = [*self.streams.values(), *self.before.values()]
        return [one for one in there if one.handle >= 0]

    def go_on(self, before: SentTrace) -> None:
        """Go on with the trace of the chunk before, and with all its streams."""
        self.handle, self.resets = before.handle, before.resets
        self.before = {one.name: one for one in before.opened()}
        for name in self.streams.keys() & self.before.keys():
            self.streams[name].go_on(self.before.pop(name))

    def metadata(self, folder: str) -> bytes | None:
        """Return the metadata, if they are others than before.

        Args:
            folder: The directory of the chunk.
        """
        try:
            now = os.stat(os.path.join(folder, self.path, "metadata"))
        except OSError:
            return None
        seen = (now.st_mtime_ns, now.st_size, now.st_ino)
        if seen == self._seen:
            return None
        raw = self._spooled.metadata()
        if raw is not None:
            self._seen = seen
        return raw

    def live_time(self, folder: str) -> int | None:
        """Return up to when all is in the files, if that is known.

        Args:
            folder: The directory of the chunk.
        """
        with suppress(OSError), open(f"{folder}/{self.path}/{LIVE_FILE}", "rb") as file:
            return live_time(file.read())
        return None

    def goes_on_with(self, raw: bytes) -> bool:
        """Tell whether metadata go on after what was sent.

        The same once more is what somebody wants to have written anew.
        """
        is_more = len(raw) > self.sent or not self.sent
        return is_more and hash(raw[: self.sent]) == self._hash

    def note(self, raw: bytes) -> None:
        """Note that metadata were sent."""
        self.sent, self._hash = len(raw), hash(raw)

    def go_back(self) -> None:
        """Send all of it once more, on another connection."""
        self.handle, self.sent, self.resets = -1, 0, 0
        self._hash, self._seen = hash(b""), (-1, -1, -1)
        self.before.clear()
        for one in self.streams.values():
            one.go_back()

    def close(self) -> None:
        """Close all files."""
        self._spooled.close()
        self.streams.clear()
        self.before.clear()


class Chunk:
    """A chunk of a recording.

    Args:
        number: Its number.
        begin: Seconds since 1970.
        folder: Where it is now.
        name: What its directory is called on the relay daemon; ``None``: as LTTng calls
            chunks.
    """

    def __init__(
        self, number: int, begin: int, folder: str, name: str | None = None
    ) -> None:
        self.number, self.begin, self.folder = number, begin, folder
        self.name = name
        self.end: int | None = None
        self.what = 0
        """What becomes of it on the relay daemon."""
        self.traces: dict[str, SentTrace] = {}
        self.follows_archives = False
        """Whether one before it was archived there: its directory has a name then."""
        self.left: Mapping[str, Mapping[str, Files]] = {}
        """How far another sender has sent its streams, by traces and names."""
        self.path = ""
        """Where it is on the relay daemon, once it has ended there."""
        self.is_done = self.is_dropped = False
        self.is_resumed = False
        """Whether the relay daemon has files of it from an earlier connection."""

    def finish(self, end: int, what: int) -> None:
        """Note that nothing more comes.

        Args:
            end: Seconds since 1970.
            what: What becomes of it.
        """
        self.end, self.what = end, what

    def drop(self) -> None:
        """Send nothing more of it."""
        self.is_dropped = True

    def streams(self) -> Iterator[SentStream]:
        """Yield all data streams that are to be sent."""
        if not self.is_dropped:
            yield from self._all()

    def _all(self) -> Iterator[SentStream]:
        for trace in [*self.traces.values()]:
            yield from [*trace.streams.values()]

    @property
    def kept(self) -> int:
        """Bytes that are kept of streams that are one file each."""
        return sum(one.kept for one in self.streams())

    @property
    def is_confirmed(self) -> bool:
        """Whether all that was sent has come."""
        return all(one.is_confirmed for one in self._all())

    @property
    def bytes(self) -> int:
        """What is in memory of it."""
        return sum(one.bytes for one in self.streams())

    def is_written(self, path: str) -> bool:
        """Tell whether there is a directory for a trace.

        Args:
            path: Where it is in this chunk.
        """
        return os.path.isdir(os.path.join(self.folder, path))

    def look(self) -> None:
        """Find traces that have come."""
        for _, path in traces_below(self.folder):
            self.trace(path)

    def trace(self, path: str) -> SentTrace:
        """Return a trace, which may be new.

        Args:
            path: Where it is in this chunk.
        """
        if path not in self.traces:
            self.traces[path] = SentTrace(path, self.left.get(path))
        return self.traces[path]

    def go_back(self) -> None:
        """Send once more what has not come, on another connection."""
        for one in self.traces.values():
            one.go_back()

    @property
    def may_resume(self) -> bool:
        """Whether it can go on where it is on the relay daemon."""
        return not (self.is_dropped or any(one.is_given_back for one in self._all()))

    def resume(self, *, is_same: bool) -> None:
        """Begin files anew after a connection was lost.

        Args:
            is_same: Whether the directory there is the same.
        """
        self.is_resumed = is_same
        for one in self._all():
            if is_same:
                one.resume()
            else:
                one.begin_anew()

    def close(self) -> None:
        """Close all files."""
        for one in self.traces.values():
            one.close()
        self.traces.clear()
