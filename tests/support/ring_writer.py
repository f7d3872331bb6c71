"""A program of LTTng-UST that writes to a ring in discard mode."""

from __future__ import annotations

import mmap
import struct

from vestige.record.backends.lttng_ust.ring import HEADER, HEADER_SIZE, Ring

SIZE, COUNT = 4096, 4
UUID = bytes(range(16))
HOT, COLD = 640, 640 + 128 * COUNT


class Writer:
    """Writes as a program does, one record after the other."""

    def __init__(self, ring: Ring) -> None:
        self.memory = mmap.mmap(ring.file, ring.memory_size)
        self.data = ring._data
        self.now = 0
        """When sub-buffers begin."""

    def word(self, place: int) -> int:
        """Return a number of the memory."""
        found: int = struct.unpack_from("=Q", self.memory, place)[0]
        return found

    def put(self, place: int, value: int) -> None:
        """Write a number into the memory."""
        struct.pack_into("=Q", self.memory, place, value)

    def write(self, size: int, *, is_committed: bool = True) -> bool:
        """Reserve bytes, in the next sub-buffer if they do not fit; commit them."""
        offset = self.word(128)
        if offset % SIZE == 0 or offset % SIZE + size > SIZE:
            offset = self.switch(offset)
        if (offset - self.word(152)) >= SIZE * COUNT:
            self.put(392, self.word(392) + 1)
            return False
        index = offset % (SIZE * COUNT) // SIZE
        self.put(128, offset + size)
        if is_committed:
            hot = HOT + 128 * index
            self.put(hot, self.word(hot) + size)
            self.put(hot + 8, self.word(hot))
        return True

    def switch(self, offset: int, *, has_header: bool = True) -> int:
        """End a sub-buffer and begin the next, if that is free."""
        used = offset % SIZE
        if used:
            index = offset % (SIZE * COUNT) // SIZE
            begin = self.data + index * SIZE
            struct.pack_into(
                "=QQQ", self.memory, begin + 40, 1 << 62, used * 8, SIZE * 8
            )
            hot = HOT + 128 * index
            self.put(hot, self.word(hot) + SIZE - used)
            self.put(COLD + 128 * index, self.word(hot))
            offset += SIZE - used
        if offset - self.word(152) >= SIZE * COUNT:
            self.put(128, offset)
            return offset
        index = offset % (SIZE * COUNT) // SIZE
        if has_header:
            numbers = (0xC1FC1FC1, UUID, 7, 1, self.now, 0, 0, 0, offset // SIZE, 0, 1)
            HEADER.pack_into(self.memory, self.data + index * SIZE, *numbers)
            hot = HOT + 128 * index
            self.put(hot, self.word(hot) + HEADER_SIZE)
            self.put(hot + 8, self.word(hot))
        self.put(128, offset + HEADER_SIZE)
        return offset + HEADER_SIZE
