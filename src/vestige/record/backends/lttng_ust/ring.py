"""Ring buffers as programs of LTTng-UST write them, one for each CPU of a channel.

Many programs share a ring. They reserve and commit with atomic operations; here, in
discard mode, only how much was consumed is written while they run. A sub-buffer that is
not full is ended when the session is stopped, after they have all acknowledged that.
Rings that overwrite are in :mod:`.overwriting_ring`.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from ...._typing import NamedTuple
from .clock import Clock
from .crash_header import CRASH_HEADER_SIZE, CrashHeader

__all__ = [
    "HEADER_SIZE",
    "Packet",
    "Ring",
    "RingIdentity",
    "RingShape",
]

PAGE = 4096
POPULATE_READ = 22
"""Advice to map all pages: MADV_POPULATE_READ of madvise(2)."""
HEADER = struct.Struct("=I16sIQQQQQQQI")
"""Packet header and context: magic, UUID, stream, instance, begin, end, content,
packet, sequence number, discarded events, CPU."""
HEADER_SIZE = HEADER.size
PACKET_MAGIC = 0xC1FC1FC1
ENDING = struct.Struct("=QQQ")
"""End, content and packet, of the above."""
_OFFSET, CONSUMED, _READERS = 128, 152, 384
"""Places in a ring: where writers reserve, what was consumed, who is to be woken."""
_LAST_EVENT = 168
_LOST = (392, 400, 408)
"""Where it counts the records without room: the ring was full, a sub-buffer was not
ended, a sub-buffer is too small."""
_END_AT, _DISCARDED_AT, _BEGIN_AT = 40, 72, 32
"""Places in a packet."""
_WORD = struct.Struct("=Q")
ALL_BITS = (1 << 64) - 1
MOST_LAPS = 50
"""How often a small ring is looked at for a snapshot if writers are faster."""
LARGEST_COPY = 1 << 20
"""Bytes of a sub-buffer that is copied so that writers cannot come round to it; they do
not in the time in which a larger one is written, unless the disk is busy."""


class RingShape(NamedTuple):
    """What all rings of a channel have in common."""

    subbuf_size: int
    """Bytes of a sub-buffer, a power of two."""

    num_subbuf: int
    """How many there are, a power of two."""

    is_overwriting: bool = False
    """Whether the oldest sub-buffers make room for new ones."""

    is_polled: bool = False
    """Whether nobody is woken by a full sub-buffer."""

    blocking_timeout: int = 0
    """Microseconds that programs wait for room, if they may; -1: for ever."""


class RingIdentity(NamedTuple):
    """What a new ring belongs to."""

    stream_id: int
    """The data stream class that packet headers name."""

    uuid: bytes
    """The trace that they name."""

    clock: Clock
    """What programs read times from."""


def _always() -> bool:
    return True


class Packet(NamedTuple):
    """A sub-buffer that is full, or what of one is committed."""

    header: bytes
    """Its header and its context, as they were when they were checked."""

    data: memoryview
    """All of it, only for system calls: a program can take it away. What comes before
    the end of the header is not what counts."""

    is_whole: Callable[[], bool] = _always
    """Whether writers have left it alone until now."""


class Ring:
    """The ring of one CPU, in a file that programs map.

    A program can make the file shorter, which would end us if we touched what is
    mapped. So numbers are read and written at places of the file; packets are mapped,
    and only the kernel reads them, when they are written.

    Args:
        path: The file.
        cpu: Its number.
        shape: Its sub-buffers.
        identity: What a new ring belongs to; ``None`` for one that is there, of
            programs that may be gone.

    Raises:
        OSError: The file cannot be made or opened.
    """

    spare = 0
    """Sub-buffers that only the reader has."""

    OFFSET = _OFFSET
    """Where it says how much is reserved."""

    def __init__(
        self,
        path: str,
        cpu: int,
        shape: RingShape,
        identity: RingIdentity | None,
    ) -> None:
        self.cpu = cpu
        self.path = path
        self._clock = None if identity is None else identity.clock
        self._size, self._count = shape.subbuf_size, shape.num_subbuf
        allocated = self._count + self.spare
        self._whole = self._size * self._count
        self._hot = 640
        self._cold = self._hot + 128 * self._count
        self._end = self._cold + 128 * self._count
        self._array = self._end + 8 * self._count
        self._data = (self._array + 16 * allocated + PAGE - 1) & -PAGE
        self._pages = self._data + allocated * self._size
        self._writers = self._pages + 64 * allocated
        self._counts = self._writers + 8 * self._count
        self.memory_size = (self._counts + 8 * self._count + PAGE - 1) & -PAGE
        self._lost_before = 0
        self.damaged = 0
        """How many packets made no sense, and were left out."""
        self.cut = 0
        """How many packets lack records, since a program was killed in one."""
        self.overwritten = 0
        """How many packets made room for new ones before they were taken."""
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        if identity is None:
            self.file = os.open(path, flags)
        else:
            self.file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                # A page that cannot be made kills the program that touches it.
                os.posix_fallocate(self.file, 0, self.memory_size)
                self._set_up(identity)
            except BaseException:
                os.close(self.file)
                Path(path).unlink()
                raise
        self._map: mmap.mmap | None = None
        self._is_populated = False

    def _set_up(self, identity: RingIdentity) -> None:
        memory = bytearray(self._data)
        memory[:CRASH_HEADER_SIZE] = self._crash_header.pack()
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
        for index in range(self._count + self.spare):
            page = self._pages + 64 * index
            struct.pack_into("=qq", memory, self._array + 16 * index, reference, page)
            part = bytearray(64)
            _WORD.pack_into(part, 0, index * self._size)
            struct.pack_into(
                "=qq", part, 32, reference, self._data + index * self._size
            )
            os.pwrite(self.file, part, page)
        for index in range(self._count):
            self.set(self._writers + 8 * index, self.first_use(index))
        struct.pack_into("=qq", memory, self._hot, HEADER_SIZE, HEADER_SIZE)
        os.pwrite(self.file, memory, 0)
        ids = (PACKET_MAGIC, identity.uuid, identity.stream_id, self.cpu)
        now = identity.clock.read()
        header = HEADER.pack(*ids, now, 0, ALL_BITS, ALL_BITS, 0, 0, self.cpu)
        os.pwrite(self.file, header, self._data)

    @property
    def _crash_header(self) -> CrashHeader:
        return CrashHeader(
            self.memory_size,
            self._writers,
            self._array,
            self._size,
            self._count,
            is_overwriting=bool(self.spare),
        )

    def is_laid_out_as(self, header: CrashHeader) -> bool:
        """Tell whether what a ring says of itself is so here.

        Args:
            header: What it says.
        """
        # LTTng's rings end where the last part does, ours with a page.
        own = self._crash_header
        return header._replace(memory_size=own.memory_size) == own

    @property
    def layout(self) -> tuple[int, int, int, int, int, int]:
        """What :class:`FullPackets` needs to know of it."""
        return (
            *(self.file, self.memory_size, self._size, self._count),
            *(self._cold, self._data),
        )

    def first_use(self, index: int) -> int:
        """Return what says of a part of the ring which sub-buffer it has.

        Args:
            index: Its place in the ring, in sub-buffers.
        """
        return index

    def close(self) -> None:
        """Let the memory go; programs may still have it."""
        if self._map is not None:
            self._map.close()
        os.close(self.file)

    @property
    def lost(self) -> int:
        """How many event records found no room so far."""
        return sum(map(self.word, _LOST)) & ALL_BITS

    def word(self, place: int) -> int:
        """Return a number of the ring.

        Args:
            place: Where it is.
        """
        raw = os.pread(self.file, _WORD.size, place)
        # Of a file that a program has made shorter, all that lacks is 0.
        return int.from_bytes(raw, "little")

    def set(self, place: int, number: int) -> None:
        """Write a number into the ring.

        Args:
            place: Where it is.
            number: The number.
        """
        # It goes round, as in the programs; and they may have written anything there.
        os.pwrite(self.file, _WORD.pack(number & ALL_BITS), place)

    @property
    def last_event(self) -> int:
        """When something was recorded last, by the clock of programs; 0 for never."""
        return self.word(_LAST_EVENT)

    def resume(self, sequence: int) -> None:
        """Go on where a daemon that was killed has stopped.

        Args:
            sequence: The number of the last packet that was written.
        """

    @property
    def used(self) -> int:
        """Bytes that were reserved and not consumed."""
        used = (self.word(_OFFSET) - self.word(CONSUMED)) & ALL_BITS
        return min(used, self._whole)

    @property
    def filled(self) -> int:
        """Of the bytes that were reserved and not consumed: 0 where no record is."""
        used = self.used
        return 0 if used == HEADER_SIZE else used

    @property
    def taken(self) -> int:
        """Bytes that were consumed so far."""
        return self.word(CONSUMED)

    @property
    def reserved(self) -> int:
        """Bytes that programs have reserved so far."""
        return self.word(_OFFSET)

    @property
    def subbuf_size(self) -> int:
        """Bytes of a sub-buffer."""
        return self._size

    def has_new_losses(self) -> bool:
        """Tell whether event records were lost that no packet tells."""
        return self.lost != self._lost_before

    def commit_place(self, offset: int) -> int:
        """Return where it says how much of a sub-buffer is committed.

        Args:
            offset: What was reserved before a place in it.
        """
        return self._hot + 128 * (offset % self._whole // self._size)

    def full_commit(self, offset: int) -> int:
        """Return what it says there once all of it is.

        Args:
            offset: As above.
        """
        return ((offset & -self._whole) // self._count + self._size) & ALL_BITS

    def note_end(self, offset: int, content: int, end: int) -> None:
        """Note what whoever commits last has to write into the packet.

        Args:
            offset: As above.
            content: Bytes of the packet that are in use.
            end: When it ends.
        """
        index = offset % self._whole // self._size
        self.set(self._pages + 64 * self.open_index(offset) + 24, content)
        self.set(self._end + 8 * index, end)

    def begin_at(self, offset: int, time: int) -> None:
        """Let a packet begin later.

        Args:
            offset: As above; nobody else writes the packet.
            time: When it begins.
        """
        self.set(self.open_place(offset) + _BEGIN_AT, time)

    def delivery_place(self, offset: int) -> int:
        """Return where it says which sub-buffers the reader may have.

        Args:
            offset: As above.
        """
        return self._cold + 128 * (offset % self._whole // self._size)

    def deliver(self, offset: int, content: int, end: int) -> None:
        """Let the reader have a sub-buffer of which all is committed.

        Args:
            offset: As above.
            content: As above.
            end: As above.
        """
        self._lost_before = self.lost
        self._end_subbuffer(offset - offset % self._size, content, end)

    def has_taken_up_to(self, position: int) -> bool:
        """Tell whether all sub-buffers were taken that were left before a place.

        Args:
            position: What was reserved before it.
        """
        ahead = (position - self.word(CONSUMED)) & ALL_BITS
        return ahead < self._size or ahead > ALL_BITS >> 1

    def take(self) -> Iterator[Packet]:
        """Yield full sub-buffers as packets, and give them back.

        A packet is there until the next one is asked for.
        """
        # However a program moves the numbers, there are no more of them.
        for _ in range(self._count):
            consumed = self.word(CONSUMED)
            if not self._is_full(consumed):
                return
            begin = self.hold(consumed)
            packet = None if begin is None else self._packet(begin)
            if packet is not None:
                with packet.data:
                    yield packet
            if begin is not None:
                self.give_back(consumed)

    def _is_full(self, consumed: int) -> bool:
        index = consumed % self._whole // self._size
        committed = self.word(self._cold + 128 * index)
        mask = ALL_BITS >> (self._count.bit_length() - 1)
        full = (consumed & -self._whole) // self._count
        return (
            self.word(_OFFSET) // self._size != consumed // self._size
            and (committed - self._size) & mask == full & mask
        )

    def hold(self, consumed: int) -> int | None:
        """Keep writers from a full sub-buffer; return where it is.

        Args:
            consumed: What was consumed before it.

        Returns:
            Its place in the file; ``None`` if a writer has it.
        """
        return self._data + consumed % self._whole

    def give_back(self, consumed: int) -> None:
        """Let writers have a sub-buffer again.

        Args:
            consumed: What was consumed before it.
        """
        self.set(CONSUMED, consumed + self._size)

    def open_place(self, offset: int) -> int:
        """Return where a sub-buffer is that writers have.

        Args:
            offset: What was reserved before a place in it.
        """
        return self._data + self.open_index(offset) * self._size

    def open_index(self, offset: int) -> int:
        """Return the number of a sub-buffer that writers have.

        Args:
            offset: What was reserved before a place in it.
        """
        return offset % self._whole // self._size

    def ended(self, offset: int) -> None:
        """Do what remains when a sub-buffer is ended that writers had.

        Args:
            offset: What was reserved before a place in it.
        """

    def _packet(self, begin: int) -> Packet | None:
        header = os.pread(self.file, HEADER_SIZE, begin)
        if len(header) < HEADER_SIZE:
            self.damaged += 1
            return None
        _, content, packet = ENDING.unpack_from(header, _END_AT)
        if content == packet == 0:
            # It was ended without a header, and is counted.
            return None
        if not HEADER_SIZE * 8 <= content <= packet <= self._size * 8 or packet % 8:
            self.damaged += 1
            return None
        data = self._mapped(begin, packet // 8)
        if data is None:
            self.damaged += 1
            return None
        return Packet(header, data)

    def _mapped(self, begin: int, size: int) -> memoryview | None:
        """Return a part of the ring for system calls; ``None`` if it is not there."""
        if self._map is None:
            try:
                self._map = mmap.mmap(self.file, self.memory_size)
            except (OSError, ValueError):
                return None
        if not self._is_populated:
            # Kernels copy several times as slowly from pages that they have to map on
            # the way. Older ones do not know the advice, and some pages may have been
            # taken.
            with suppress(OSError):
                self._map.madvise(POPULATE_READ, begin, size)
        with memoryview(self._map) as whole:
            return whole[begin : begin + size]

    def _copied(self, begin: int, size: int) -> memoryview | None:
        """Return a copy of a part of the ring; ``None`` if it is not there."""
        raw = memoryview(bytearray(size))
        return raw if os.preadv(self.file, [raw], begin) == size else None

    def populate(self) -> None:
        """Map all sub-buffers now rather than when each is first read."""
        data = self._mapped(self._data, self._pages - self._data)
        if data is not None:
            data.release()
            self._is_populated = True

    @property
    def laps(self) -> int:
        """How often writers have gone round."""
        return self.word(_OFFSET) // self._whole

    @property
    def is_unused(self) -> bool:
        """Whether nothing was ever recorded."""
        return self.word(_OFFSET) <= HEADER_SIZE

    def is_settled(self) -> bool:
        """Tell whether all is committed but in the sub-buffer that writers have."""
        end = self.word(_OFFSET)
        return all(self._is_full(one) for one in self._positions(end, None))

    def _positions(self, end: int, most: int | None) -> range:
        """Return where the sub-buffers begin that are there before the last one.

        Args:
            end: How many bytes are reserved.
            most: How many sub-buffers, with the last one; ``None`` for all.
        """
        last = end - end % self._size
        first = self.word(CONSUMED) // self._size * self._size
        count = self._count if most is None else min(most, self._count)
        # However a program moves the numbers, there are no more of them.
        before = count - (1 if end > last else 0)
        first = max(first, last - before * self._size, 0)
        return range(min(first, last), last, self._size)

    def snapshot(self, most: int | None) -> Iterator[Packet]:
        """Yield what is there as packets, the oldest first; it stays.

        A packet is there until the next one is asked for.

        Args:
            most: How many packets, the newest; ``None`` for all.
        """
        for _ in range(MOST_LAPS):
            is_there, end = False, self.word(_OFFSET)
            for packet in self._there(end, most):
                is_there = True
                yield packet
            if is_there or self.word(_OFFSET) == end:
                return
            # Writers have come round to all of it: what is full last is there longest.
            most = 2

    def _there(self, end: int, most: int | None) -> Iterator[Packet]:
        """Yield what is there up to a place; see :meth:`snapshot`."""
        for position in self._positions(end, most):
            if self._is_full(position):
                begin = self.hold(position)
                packet = None if begin is None else self._packet(begin)
                if packet is not None:
                    with packet.data:
                        yield packet
                if begin is not None:
                    self.put_back(position)
            else:
                yield from self._committed(position, self._size)
        if end % self._size > HEADER_SIZE:
            yield from self._committed(end - end % self._size, end % self._size)

    def put_back(self, position: int) -> None:
        """Leave a sub-buffer as it was before it was held.

        Args:
            position: What was reserved before a place in it.
        """

    def _committed(self, position: int, used: int) -> Iterator[Packet]:
        """Yield what of a sub-buffer is committed up to its first gap.

        Args:
            position: What was reserved before it.
            used: How many bytes of it are reserved.
        """
        content, found = self._committed_size(position, used), self._header(position)
        if content == 0 or found is None:
            return
        header, size = bytearray(found), (content + 7) & -8
        end = max(self._end_of(position), _WORD.unpack_from(header, _BEGIN_AT)[0])
        ENDING.pack_into(header, _END_AT, end & ALL_BITS, content * 8, size * 8)
        _WORD.pack_into(header, _DISCARDED_AT, self._lost_until(position))

        def is_whole() -> bool:
            is_there = (self.word(_OFFSET) - position) & ALL_BITS <= self._whole
            return is_there and self._has_header(position)

        place = self.open_place(position)
        is_small = size <= LARGEST_COPY
        data = self._copied(place, size) if is_small else self._mapped(place, size)
        # A copy stays as it is, whatever writers do until it is written.
        if data is not None and (not is_small or is_whole()):
            with data:
                yield Packet(bytes(header), data, _always if is_small else is_whole)

    def _committed_size(self, position: int, used: int) -> int:
        """Return how much of a sub-buffer is committed; 0 if there are no records."""
        hot = self._hot + 128 * (position % self._whole // self._size)
        before = (position & -self._whole) // self._count
        # All up to there is committed, and nobody changes it: see `_contiguous`.
        content = (self.word(hot + 8) - before) & ALL_BITS
        if (self.word(hot) - before) & ALL_BITS == used:
            # It stays behind where records were committed in another order.
            is_all = self.word(_OFFSET) == position + used
            content = used if is_all else content
        # Writers may have committed more since it was looked at, also all of it.
        content = min(content, used) if content <= self._size else 0
        return content if content > HEADER_SIZE else 0

    def is_drained(self) -> bool:
        """Tell whether all sub-buffers were taken that writers had left."""
        return (self.word(_OFFSET) - self.word(CONSUMED)) & ALL_BITS < self._size

    def is_quiet(self) -> bool:
        """Tell whether all that was reserved in the open sub-buffer is committed."""
        hot, expected, _ = self._open()
        return self.word(hot) == expected

    def _open(self) -> tuple[int, int, int]:
        """Return of the open sub-buffer: its counters, their aim, its use."""
        offset = self.word(_OFFSET)
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
        offset = self.word(_OFFSET)
        content = used
        if self.word(hot) != expected:
            content = self._contiguous(offset, expected - used, used)
        self._lost_before = self.lost
        self._end_subbuffer(offset, content, self.now())
        self.set(_OFFSET, offset - used + self._size)

    @property
    def stuck(self) -> tuple[int, int] | None:
        """The sub-buffer that is never committed, if a killed program has left one.

        That is the oldest one if writers are further, and something in it was reserved
        and not committed: what was consumed before it, and what of it is committed. It
        is no other's that writes just now if it is the same after a while.
        """
        consumed = self.word(CONSUMED)
        ahead = (self.word(_OFFSET) - consumed) & ALL_BITS
        if ahead < self._size or ahead > self._whole or self._is_full(consumed):
            return None
        index = consumed % self._whole // self._size
        return consumed, self.word(self._hot + 128 * index)

    def end_stuck(self, consumed: int) -> None:
        """End a sub-buffer that a killed program has left.

        Args:
            consumed: What was consumed before it.
        """
        before = (consumed & -self._whole) // self._count
        content = self._contiguous(consumed, before, self._size)
        if content == self._size:
            # All is committed, but nobody has told: the rest of it may be padding.
            page = self._pages + 64 * self.open_index(consumed)
            content = min(max(HEADER_SIZE, self.word(page + 24)), self._size)
        self._end_subbuffer(consumed, content, self._end_of(consumed))

    def _end_of(self, position: int) -> int:
        """Return when a sub-buffer ended that writers have left.

        That is when the next one began. Packets of a data stream may not overlap:
        readers refuse those that end after the next one has begun.

        Args:
            position: What was reserved before a place in it.
        """
        ahead = min((self.word(_OFFSET) - position) & ALL_BITS, self._whole)
        for further in range(self._size, ahead, self._size):
            later = (position + further) & ALL_BITS
            if self._has_header(later):
                return self.word(self.open_place(later) + _BEGIN_AT)
        return self.now()

    def now(self) -> int:
        """Return the present, by the clock of programs."""
        # Nobody knows the clock of programs that are gone, perhaps with their machine.
        return self.last_event if self._clock is None else self._clock.read()

    def _lost_until(self, position: int) -> int:
        """Return how many records were lost until a sub-buffer ended.

        Later ones have ended already where it is one that a program has left: their
        counts must not be lower.

        Args:
            position: What was reserved before a place in it.
        """
        later = (position - position % self._size + self._size) & ALL_BITS
        if later < self.word(_OFFSET) and self._is_full(later):
            return min(self.lost, self.word(self.open_place(later) + _DISCARDED_AT))
        return self.lost

    def _has_header(self, position: int) -> bool:
        """Tell whether the header of a sub-buffer is there; see :meth:`_header`."""
        return self._header(position) is not None

    def _header(self, position: int) -> bytes | None:
        """Return the header of a sub-buffer; ``None`` if it is not there.

        Whoever began it may have been killed before it wrote that; others have gone on
        behind it.

        Args:
            position: What was reserved before a place in it.
        """
        header = os.pread(self.file, HEADER_SIZE, self.open_place(position))
        if len(header) < HEADER_SIZE:
            return None
        magic, *_, sequence, _, _ = HEADER.unpack(header)
        is_its = magic == PACKET_MAGIC and sequence == position // self._size
        return header if is_its else None

    def _contiguous(self, position: int, before: int, used: int) -> int:
        """Return up to where all of a sub-buffer is committed; count what is not taken.

        Args:
            position: What was reserved before a place in it.
            before: Its counters when it was empty.
            used: How many bytes were reserved.

        Returns:
            Bytes; 0 if it has no header, and is no packet.
        """
        if not self._has_header(position):
            self.cut += 1
            return 0
        hot = self._hot + 128 * (position % self._whole // self._size)
        committed = (self.word(hot) - before) & ALL_BITS
        # The second counter stops where something was not committed.
        content = (self.word(hot + 8) - before) & ALL_BITS
        if not HEADER_SIZE <= content <= used:
            content = HEADER_SIZE
        if content < committed <= used:
            self.cut += 1
        return content

    def _end_subbuffer(self, position: int, content: int, end: int) -> None:
        index = position % self._whole // self._size
        begin = self.open_place(position)
        end = max(end, self.word(begin + _BEGIN_AT))
        packet = min((content + PAGE - 1) & -PAGE, self._size)
        ending = ENDING.pack(end & ALL_BITS, content * 8, packet * 8)
        os.pwrite(self.file, ending, begin + _END_AT)
        self.set(begin + _DISCARDED_AT, self._lost_until(position))
        self.set(self._end + 8 * index, end)
        done = (position & -self._whole) // self._count + self._size
        hot = self._hot + 128 * index
        self.set(hot, done)
        self.set(hot + 8, done)
        count = self._counts + 8 * index
        self.set(count, self.word(count) + 1)
        self.ended(position)
        self.set(self._cold + 128 * index, done)
