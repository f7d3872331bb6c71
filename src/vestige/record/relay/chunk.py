"""A chunk of a spool, and how far it was sent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from ..backends.lttng_ust.trace_files import LIVE_FILE, live_time
from .spool import Packet, SpooledStream, SpooledTrace, traces_below

__all__ = ["Chunk", "SentStream", "SentTrace"]


class SentStream:
    """A data stream, and how far it was sent.

    Args:
        spooled: Its files.
    """

    def __init__(self, spooled: SpooledStream) -> None:
        self.spooled = spooled
        self.name = spooled.name
        spooled.skip_given_back()
        self.handle = -1
        self.sent = 0
        """Packets on this connection."""
        self.confirmed = (spooled.taken, spooled.taken_end)
        """Packets that have come, and where these end."""
        self.is_asked = False
        self.end = 0
        """When its last packet ends, or it was said that none has come."""
        self.class_number = 0
        self.next_number = 0
        """Of the next packet, as indexes have it."""

    @property
    def is_confirmed(self) -> bool:
        """Whether all that was sent has come."""
        return self.confirmed[0] == self.spooled.taken

    @property
    def bytes(self) -> int:
        """What is in memory of it."""
        return self.spooled.waiting + self.spooled.taken_end - self.confirmed[1]

    def note(self, packet: Packet) -> None:
        """Note that a packet was sent."""
        self.spooled.take(packet)
        self.sent += 1
        self.end = max(self.end, packet.facts.end)
        self.class_number = packet.facts.stream_class
        self.next_number = packet.facts.number + 1

    def go_on(self, before: SentStream) -> None:
        """Go on with a stream of the chunk before."""
        self.handle, self.sent, self.end = before.handle, before.sent, before.end
        self.class_number, self.next_number = before.class_number, before.next_number

    def ask(self) -> tuple[int, tuple[int, int]]:
        """Return the number of the last packet, and what has come when it has."""
        self.is_asked = True
        return self.sent - 1, (self.spooled.taken, self.spooled.taken_end)

    def go_back(self) -> None:
        """Send once more what has not come, on another connection."""
        self.spooled.go_back(*self.confirmed)
        self.handle, self.sent, self.is_asked = -1, 0, False


class SentTrace:
    """A trace, and how far it was sent.

    Args:
        path: Where it is in its chunk.
    """

    def __init__(self, path: str) -> None:
        self.path = path
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
                self.streams[name] = made = SentStream(one)
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
        self.path = ""
        """Where it is on the relay daemon, once it has ended there."""
        self.is_done = self.is_dropped = False

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
            self.traces[path] = SentTrace(path)
        return self.traces[path]

    def go_back(self) -> None:
        """Send once more what has not come, on another connection."""
        for one in self.traces.values():
            one.go_back()

    def close(self) -> None:
        """Close all files."""
        for one in self.traces.values():
            one.close()
        self.traces.clear()
