"""Ring buffers as programs of LTTng-UST write them, one for each CPU of a channel.

Many programs share a ring. They reserve and commit with atomic operations; here, in
discard mode, only how much was consumed is written while they run. A sub-buffer that is
not full is ended when the session is stopped, after they have all acknowledged that.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from collections.abc import Iterator

from ...._typing import NamedTuple

__all__ = ["HEADER_SIZE", "Packet", "Ring", "channel_memory", "possible_cpus"]

PAGE = 4096
HEADER = struct.Struct("=I16sIQQQQQQQI")
"""Packet header and context: magic, UUID, stream, instance, begin, end, content,
packet, sequence number, discarded events, CPU."""
HEADER_SIZE = HEADER.size
PACKET_MAGIC = 0xC1FC1FC1
ENDING = struct.Struct("=QQQ")
"""End, content and packet, of the above."""
_OFFSET, _CONSUMED, _READERS, _LOST = 128, 152, 384, 392
"""Places in a ring: where writers reserve, what was consumed, who is to be woken,
records without room."""
_END_AT, _DISCARDED_AT, _BEGIN_AT = 40, 72, 32
"""Places in a packet."""
_POSSIBLE = "/sys/devices/system/cpu/possible"
_WORD = struct.Struct("=Q")
ALL_BITS = (1 << 64) - 1


def possible_cpus() -> int:
    """Return how many CPUs there may ever be."""
    with open(_POSSIBLE) as file:
        last = file.read().strip().replace(",", "-").split("-")[-1]
    return int(last) + 1


def channel_memory(
    subbuf_size: int, num_subbuf: int, cpus: int, stream_id: int, uuid: bytes
) -> bytes:
    """Return the description of a channel that programs keep a copy of.

    Args:
        subbuf_size: Bytes of a sub-buffer, a power of two.
        num_subbuf: How many there are, a power of two.
        cpus: How many rings there are.
        stream_id: The data stream class that packet headers name.
        uuid: The trace that they name.
    """
    size = 768 + 16 * cpus
    memory = bytearray(size + 120)
    order = num_subbuf.bit_length() - 1
    whole = subbuf_size * num_subbuf
    struct.pack_into("=Q", memory, 8, ALL_BITS >> order)
    struct.pack_into("=QI", memory, 64, size, cpus)
    struct.pack_into(
        "=QQIIII",
        memory,
        120,
        *(whole, subbuf_size, subbuf_size.bit_length() - 1, order),
        *(whole.bit_length() - 1, 0),
    )
    struct.pack_into("=QQ", memory, 152, num_subbuf, time.monotonic_ns())
    # For each CPU, discard, mapped; woken by writers.
    struct.pack_into("=IIII", memory, 184, 0, 1, 1, 1)
    struct.pack_into("=I", memory, 184 + 28, 1)
    memory[344:351] = b"channel"
    for index in range(cpus):
        struct.pack_into("=qq", memory, 664 + 16 * index, index + 1, 0)
    struct.pack_into("=I", memory, size + 92, stream_id)
    memory[size + 100 : size + 116] = uuid
    return bytes(memory)


class Packet(NamedTuple):
    """A sub-buffer that is full."""

    header: bytes
    """Its header and its context."""

    data: memoryview
    """All of it, only for system calls: a program can take it away."""


class Ring:
    """The ring of one CPU, in a file that programs map.

    A program can make the file shorter, which would end us if we touched what is
    mapped. So numbers are read and written at places of the file; packets are mapped,
    and only the kernel reads them, when they are written.

    Args:
        path: The file.
        cpu: Its number.
        geometry: Bytes of a sub-buffer, and how many there are.
        identity: The data stream class and the trace, for a new ring; ``None`` for one
            that is there.

    Raises:
        OSError: The file cannot be made or opened.
    """

    def __init__(
        self,
        path: str,
        cpu: int,
        geometry: tuple[int, int],
        identity: tuple[int, bytes] | None,
    ) -> None:
        self.cpu = cpu
        self.path = path
        self._size, self._count = geometry
        self._whole = self._size * self._count
        self._hot = 640
        self._cold = self._hot + 128 * self._count
        self._end = self._cold + 128 * self._count
        self._array = self._end + 8 * self._count
        self._data = (self._array + 16 * self._count + PAGE - 1) & -PAGE
        self._pages = self._data + self._whole
        self._writers = self._pages + 64 * self._count
        self._counts = self._writers + 8 * self._count
        self.memory_size = (self._counts + 8 * self._count + PAGE - 1) & -PAGE
        self._lost_before = 0
        self.damaged = 0
        """How many packets made no sense, and were left out."""
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        if identity is None:
            self.file = os.open(path, flags)
        else:
            self.file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
            os.ftruncate(self.file, self.memory_size)
            self._set_up(*identity)
        self._map: mmap.mmap | None = None

    def _set_up(self, stream_id: int, uuid: bytes) -> None:
        memory = bytearray(self._data)
        reference = self.cpu + 1
        _WORD.pack_into(memory, _OFFSET, HEADER_SIZE)
        for place, target in (
            *((136, self._hot), (352, self._cold), (368, self._end)),
            *((176, self._writers), (200, self._counts)),
            *((216, self._array), (232, self._data)),
        ):
            struct.pack_into("=qq", memory, place, reference, target)
        struct.pack_into("=qq", memory, 248, 0, 0)
        struct.pack_into("=qq", memory, 472, reference, 0)
        struct.pack_into("=i", memory, 264, self.cpu)
        memory[280] = 1
        _WORD.pack_into(memory, _READERS, 1)
        for index in range(self._count):
            page = self._pages + 64 * index
            struct.pack_into("=qq", memory, self._array + 16 * index, reference, page)
            part = bytearray(64)
            _WORD.pack_into(part, 0, index * self._size)
            struct.pack_into(
                "=qq", part, 32, reference, self._data + index * self._size
            )
            os.pwrite(self.file, part, page)
            os.pwrite(self.file, _WORD.pack(index), self._writers + 8 * index)
        struct.pack_into("=qq", memory, self._hot, HEADER_SIZE, HEADER_SIZE)
        os.pwrite(self.file, memory, 0)
        ids = (PACKET_MAGIC, uuid, stream_id, self.cpu, time.monotonic_ns(), 0)
        header = HEADER.pack(*ids, ALL_BITS, ALL_BITS, 0, 0, self.cpu)
        os.pwrite(self.file, header, self._data)

    def close(self) -> None:
        """Let the memory go; programs may still have it."""
        if self._map is not None:
            self._map.close()
        os.close(self.file)

    @property
    def lost(self) -> int:
        """How many event records found no room so far."""
        return self._word(_LOST)

    def _word(self, place: int) -> int:
        raw = os.pread(self.file, _WORD.size, place)
        # Of a file that a program has made shorter, all that lacks is 0.
        return int.from_bytes(raw, "little")

    def _set(self, place: int, number: int) -> None:
        # It goes round, as in the programs; and they may have written anything there.
        os.pwrite(self.file, _WORD.pack(number & ALL_BITS), place)

    def take(self) -> Iterator[Packet]:
        """Yield full sub-buffers as packets, and give them back.

        A packet is there until the next one is asked for.
        """
        # However a program moves the numbers, there are no more of them.
        for _ in range(self._count):
            consumed = self._word(_CONSUMED)
            index = consumed % self._whole // self._size
            committed = self._word(self._cold + 128 * index)
            mask = ALL_BITS >> (self._count.bit_length() - 1)
            full = (consumed & -self._whole) // self._count
            if (
                self._word(_OFFSET) // self._size == consumed // self._size
                or (committed - self._size) & mask != full & mask
            ):
                return
            packet = self._packet(index)
            if packet is not None:
                with packet.data:
                    yield packet
            self._set(_CONSUMED, consumed + self._size)

    def _packet(self, index: int) -> Packet | None:
        begin = self._data + index * self._size
        header = os.pread(self.file, HEADER_SIZE, begin)
        if len(header) < HEADER_SIZE:
            self.damaged += 1
            return None
        _, content, packet = ENDING.unpack_from(header, _END_AT)
        if not HEADER_SIZE * 8 <= content <= packet <= self._size * 8 or packet % 8:
            self.damaged += 1
            return None
        if self._map is None:
            try:
                self._map = mmap.mmap(self.file, self.memory_size)
            except (OSError, ValueError):
                self.damaged += 1
                return None
        with memoryview(self._map) as whole:
            return Packet(header, whole[begin : begin + packet // 8])

    def is_quiet(self) -> bool:
        """Tell whether all that was reserved in the open sub-buffer is committed."""
        hot, expected, _ = self._open()
        return self._word(hot) == expected

    def _open(self) -> tuple[int, int, int]:
        """Return of the open sub-buffer: its counters, their aim, its use."""
        offset = self._word(_OFFSET)
        used = offset % self._size
        index = offset % self._whole // self._size
        expected = offset // self._whole * self._size + used
        return self._hot + 128 * index, expected, used

    def end_open(self) -> None:
        """End the sub-buffer that is not full, if there is anything in it.

        No program may be writing any more. What one that was killed has reserved and
        not committed is left out, with what came after it.
        """
        hot, expected, used = self._open()
        if used == 0 or (used == HEADER_SIZE and self.lost == self._lost_before):
            return
        content = used
        if self._word(hot) != expected:
            # The second counter says up to where all is committed.
            content = max(HEADER_SIZE, min(used, self._word(hot + 8) % self._size))
        self._lost_before = self.lost
        index = (hot - self._hot) // 128
        begin = self._data + index * self._size
        now = max(time.monotonic_ns(), self._word(begin + _BEGIN_AT))
        packet = min((content + PAGE - 1) & -PAGE, self._size)
        ending = ENDING.pack(now & ALL_BITS, content * 8, packet * 8)
        os.pwrite(self.file, ending, begin + _END_AT)
        self._set(begin + _DISCARDED_AT, self.lost)
        self._set(self._end + 8 * index, now)
        done = expected - used + self._size
        self._set(hot, done)
        self._set(hot + 8, done)
        count = self._counts + 8 * index
        self._set(count, self._word(count) + 1)
        self._set(self._cold + 128 * index, done)
        self._set(_OFFSET, self._word(_OFFSET) - used + self._size)
