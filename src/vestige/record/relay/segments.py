"""A data stream, and how far it was sent: in segments, each a file there.

A relay daemon that has lost its connection may have more than it has confirmed, and
does not tell. But it begins files anew that it is sent again. So packets are kept here
until all of their file has come, and are sent again with the rest of it.
"""

from __future__ import annotations

from collections import deque

from ..._typing import NamedTuple
from .spool import Packet, SpooledStream, give_back

__all__ = ["Files", "Place", "Segment", "SentStream"]


class Place(NamedTuple):
    """A place in a stream: the packets before it, and where the last of these ends."""

    packets: int
    end: int


Files = tuple[int, list[Place]]
"""The number of the first file that has not come as a whole; where it begins, and where
it and those end that follow, but for the last one."""


class Segment(NamedTuple):
    """A file of a stream that was sent."""

    number: int
    begin: Place
    end: Place
    handle: int
    """What the relay daemon calls it; it is closed when all of it has come."""

    @property
    def packets(self) -> int:
        """How many there are in it."""
        return self.end.packets - self.begin.packets


class SentStream:
    """A data stream, and how far it was sent.

    Args:
        spooled: Its files.
        left: How far another sender has sent it, if that is known.
    """

    def __init__(self, spooled: SpooledStream, left: Files | None = None) -> None:
        self.spooled = spooled
        self.name = spooled.name
        if left is None:
            spooled.skip_given_back()
        else:
            spooled.go_back(*left[1][0])
        self.is_whole = False
        """Whether it is one file there: the relay daemon divides it itself, viewers
        have it, or there are many. It is kept from its begin while there is room."""
        self.is_given_back = False
        """Whether it is, and what has come of it is not kept any more."""
        self.handle = -1
        self.sent = 0
        """Packets of the file that is sent now."""
        self.number = 0 if left is None else left[0]
        """Of that file."""
        self.begin = self.confirmed = self._last = self._place
        """Where that file begins, and up to where packets have come, or were sent."""
        self.added: set[int] = set()
        """The files that were begun on this connection."""
        self._freed = 0
        """Bytes whose memory was given back."""
        self.sent_files: deque[Segment] = deque()
        """Files that were sent, but have not come as a whole."""
        self._planned: deque[Place] = deque([] if left is None else left[1][1:])
        """Where files end that are sent again: others that follow are there."""
        self.is_asked = False
        self.end = 0
        """When its last packet ends, or it was said that none has come."""
        self.class_number = 0
        self.next_number = 0
        """Of the next packet, as indexes have it."""

    @property
    def file(self) -> str:
        """The name of the file that is sent now."""
        return self._file(self.number)

    def _file(self, number: int) -> str:
        return f"{self.name}.{number}" if number else self.name

    @property
    def older_files(self) -> list[str]:
        """The names of files that were begun on earlier connections alone."""
        last = self.number + len(self._planned)
        return [self._file(one) for one in range(last + 1) if one not in self.added]

    @property
    def has_begun(self) -> bool:
        """Whether some of it may be on the relay daemon, in files that are kept."""
        is_there = self.handle >= 0 or self.number > 0 or self.begin.packets > 0
        return is_there and not self.is_given_back

    @property
    def files(self) -> Files:
        """The files that have not come as a whole."""
        ends = [*(one.end for one in self.sent_files), *self._planned]
        if self.sent_files:
            return self.sent_files[0].number, [self.sent_files[0].begin, *ends]
        return self.number, [self.begin, *ends]

    @property
    def is_confirmed(self) -> bool:
        """Whether all that was sent has come."""
        return self.confirmed.packets == self.spooled.taken

    @property
    def bytes(self) -> int:
        """What is in memory of it that has not come."""
        return self.spooled.waiting + self.spooled.taken_end - self.confirmed.end

    @property
    def kept(self) -> int:
        """Bytes of one file that have come and are kept, for a loss of connection."""
        if not self.is_whole or self.is_given_back:
            return 0
        return self.confirmed.end - self.begin.end

    @property
    def _place(self) -> Place:
        return Place(self.spooled.taken, self.spooled.taken_end)

    def is_full(self, largest: int) -> bool:
        """Tell whether the next packet is in the next file.

        Args:
            largest: Bytes after which a file is full.
        """
        if not self.sent:
            return False
        if self._planned:
            return self._planned[0] == self._place
        return not self.is_whole and self.spooled.taken_end - self.begin.end >= largest

    def end_file(self) -> None:
        """Begin the next file."""
        here = self._place
        if self._planned and self._planned[0] == here:
            self._planned.popleft()
        self.sent_files.append(Segment(self.number, self.begin, here, self.handle))
        self.number, self.begin = self.number + 1, here
        self.handle, self.sent = -1, 0

    def note(self, packet: Packet) -> None:
        """Note that a packet was sent."""
        self.spooled.take(packet)
        self.sent += 1
        self._last = self._place
        self.end = max(self.end, packet.facts.end)
        self.class_number = packet.facts.stream_class
        self.next_number = packet.facts.number + 1

    def go_on(self, before: SentStream) -> None:
        """Go on with a stream of the chunk before."""
        self.is_whole = True
        self.handle, self.sent, self.end = before.handle, before.sent, before.end
        self.class_number, self.next_number = before.class_number, before.next_number

    def ask(self) -> tuple[int, int, Place]:
        """Return a handle, the number of a packet, and what has come when that has."""
        self.is_asked = True
        for one in self.sent_files:
            if self.confirmed.packets < one.end.packets:
                return one.handle, one.packets - 1, one.end
        return self.handle, self.sent - 1, self._place

    def confirm(self, place: Place) -> list[Segment]:
        """Note what has come; return files that are whole there.

        Args:
            place: Up to where all has come.
        """
        self.confirmed, ended = place, []
        while self.sent_files and self.sent_files[0].end.packets <= place.packets:
            ended.append(self.sent_files.popleft())
        if self.is_given_back:
            self._free(place)
        return ended

    def give_back(self) -> None:
        """Keep nothing any more that has come of one file."""
        self.is_given_back = True
        self._free(self.confirmed)

    def free(self) -> None:
        """Give the memory back of files that are whole there."""
        self._free(self.sent_files[0].begin if self.sent_files else self.begin)

    def _free(self, place: Place) -> None:
        give_back(self.spooled.data, self._freed, place.end)
        self._freed = max(self._freed, place.end)

    def go_back(self) -> None:
        """Send once more what has not come, on another connection."""
        self.spooled.go_back(*self.confirmed)
        self.is_asked = False

    def begin_anew(self) -> None:
        """Begin with what has not come, in another directory."""
        self._begin_at(0, self.confirmed)
        self._planned.clear()
        self.sent_files.clear()
        self.is_given_back = False

    def resume(self) -> None:
        """Begin anew the first file that has not come as a whole."""
        last = Segment(self.number, self.begin, self._last, self.handle)
        rest = [
            one
            for one in (*self.sent_files, last)
            if self.confirmed.packets < one.end.packets
        ]
        if self.is_whole and not rest:
            rest = [last]
        if rest:
            ends = [one.end for one in rest if one is not last]
            self._planned.extendleft(reversed(ends))
            self._begin_at(rest[0].number, rest[0].begin)
        else:
            # That one is whole: what comes is in the next one.
            has_begun = self.begin.packets < self.confirmed.packets
            self._begin_at(self.number + has_begun, self.confirmed)
        self.sent_files.clear()

    def _begin_at(self, number: int, place: Place) -> None:
        self._free(place)
        self.number, self.begin, self.confirmed = number, place, place
        self.handle, self.sent = -1, 0
        self.added.clear()
        self.spooled.go_back(*place)
        self._last = place
