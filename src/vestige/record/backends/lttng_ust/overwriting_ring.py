"""Ring buffers whose oldest sub-buffers make room for new ones.

There is one sub-buffer more than the ring has, for the reader. A word for each part of
the ring says which sub-buffer lies there, whether a writer has it, and how often the
ring had gone round when it was full. The reader puts its own there instead by an atomic
operation, which only succeeds if no writer came meanwhile: so what it has, nobody
overwrites.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ..._collector import exchange
from .ring import (
    ALL_BITS,
    CONSUMED,
    HEADER,
    HEADER_SIZE,
    PACKET_MAGIC,
    Ring,
    RingIdentity,
    RingShape,
)

__all__ = ["OverwritingRing"]

_HELD_BY_READER = 192
"""Where a ring says which sub-buffer the reader has."""
_INDEX = (1 << 32) - 1
_FREE = 1 << 32
"""Set if no writer has it."""
_LAPS_AT = 33
_LAPS = ALL_BITS >> _LAPS_AT


class OverwritingRing(Ring):
    """The ring of one CPU of a channel that overwrites.

    Args:
        path: The file.
        cpu: Its number.
        shape: Its sub-buffers.
        identity: What a new ring belongs to; ``None`` for one that is there, of
            programs that may be gone.

    Raises:
        OSError: The file cannot be made or opened.
    """

    spare = 1

    def __init__(
        self,
        path: str,
        cpu: int,
        shape: RingShape,
        identity: RingIdentity | None,
    ) -> None:
        super().__init__(path, cpu, shape, identity)
        self._next = self.taken
        self._mine = self._spare()
        self.set(_HELD_BY_READER, _FREE | self._mine)

    def _spare(self) -> int:
        """Return the sub-buffer that lies in no part of the ring."""
        used = {self._use(index) & _INDEX for index in range(self._count)}
        spares = (one for one in range(self._count + 1) if one not in used)
        return next(spares, self._count)

    def _use(self, index: int) -> int:
        return self.word(self._writers + 8 * index)

    def resume(self, sequence: int) -> None:
        """Go on where a daemon that was killed has stopped.

        Args:
            sequence: The number of the last packet that was written.
        """
        self._next = (sequence + 1) * self._size

    def first_use(self, index: int) -> int:
        """Return what says of a part of the ring which sub-buffer it has.

        Args:
            index: Its place in the ring, in sub-buffers.
        """
        # Into the first one is written from the start.
        return index | (_FREE if index else 0)

    def _laps(self, position: int) -> int:
        return (position // self._whole & _LAPS) << _LAPS_AT

    def hold(self, consumed: int) -> int | None:
        """Take a full sub-buffer out of the ring, for the one of the reader.

        Args:
            consumed: What was consumed before it.

        Returns:
            Its place in the file; ``None`` if a writer has it.
        """
        if self._has_taken(consumed):
            return self._data + self._mine * self._size
        index = consumed % self._whole // self._size
        found = self._use(index)
        full = _FREE | self._laps(consumed)
        theirs = found & _INDEX
        # What a program has scribbled names no sub-buffer, or none that it has.
        if found & ~_INDEX != full or theirs > self._count or theirs == self._mine:
            return None
        place = self._writers + 8 * index
        with suppress(OSError):
            if exchange(self.file, place, found, full | self._mine) == found:
                self._mine = theirs
                self.set(_HELD_BY_READER, theirs)
                self.overwritten += max(0, consumed - self._next) // self._size
                self._next = consumed + self._size
                return self._data + theirs * self._size
        return None

    def put_back(self, position: int) -> None:
        """Leave a sub-buffer where it was, unless writers came meanwhile.

        Args:
            position: What was reserved before a place in it.
        """
        index = position % self._whole // self._size
        full = _FREE | self._laps(position)
        found = self._use(index)
        given = found & _INDEX
        if found & ~_INDEX != full or given > self._count or given == self._mine:
            return
        with suppress(OSError):
            place = self._writers + 8 * index
            if exchange(self.file, place, found, full | self._mine) == found:
                self._mine = given
                self.set(_HELD_BY_READER, _FREE | given)

    def _has_taken(self, consumed: int) -> bool:
        """Tell whether the reader has it: one was killed before it gave it back."""
        begin = self._data + self._mine * self._size
        header = os.pread(self.file, HEADER_SIZE, begin)
        if len(header) < HEADER_SIZE:
            return False
        magic, *_, sequence, _, _ = HEADER.unpack(header)
        is_packet: bool = magic == PACKET_MAGIC
        return is_packet and sequence == consumed // self._size

    def give_back(self, consumed: int) -> None:
        """Go on to the next sub-buffer, unless writers are further already.

        Args:
            consumed: What was consumed before it.
        """
        self.set(_HELD_BY_READER, _FREE | self._mine)
        after = (consumed + self._size) & ALL_BITS
        with suppress(OSError):
            exchange(self.file, CONSUMED, consumed, after)

    def open_index(self, offset: int) -> int:
        """Return the number of a sub-buffer that writers have.

        Args:
            offset: What was reserved before a place in it.
        """
        index = offset % self._whole // self._size
        return min(self._use(index) & _INDEX, self._count)

    def ended(self, offset: int) -> None:
        """Say of a sub-buffer that no writer has it any more.

        Args:
            offset: What was reserved before a place in it.
        """
        index = offset % self._whole // self._size
        use = self.open_index(offset) | _FREE | self._laps(offset)
        self.set(self._writers + 8 * index, use)
