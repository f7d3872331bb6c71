"""The files of a trace as LTTng lays them out: data streams, indexes, metadata."""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from glob import escape
from pathlib import Path

from ...._typing import TYPE_CHECKING, NamedTuple
from ....owner_rights import owner_rights
from ..live_file import LIVE, LIVE_FILE, LIVE_MAGIC, live_words
from .ring import Packet

if TYPE_CHECKING:
    from typing import Literal

    Older = Literal["replaced", "continued", "kept"]

__all__ = [
    "INDEX_FOLDER",
    "LIVE_FILE",
    "DataStreamFile",
    "MetadataFile",
    "OwnerFiles",
    "TraceFolder",
    "live_time",
    "packet_bytes",
    "tell_live",
    "write_all",
]

MOST_NAMESAKES = 1000
PIECE = 256 << 10
"""Bytes that are written at once. Kernels with large folios take memory for a file in
blocks of up to this size: large ones are found last, and in a virtual machine they may
have to be had from the host first, which takes ten times as long as to copy them."""
MOST_BYTES = (1 << 63) - 1
"""Of a file."""

INDEX_FOLDER = "index"
"""Of a trace, with the indexes of its data streams."""
NANOSECOND = 8
"""Ticks of a clock that are no less than one, whatever its frequency is."""
LARGEST_TIME = (1 << 64) - 1
INDEX_MAGIC = 0xC1F1DCC1
INDEX_HEADER = struct.Struct(">IIII")
INDEX_ENTRY = struct.Struct(">9Q")
METADATA_MAGIC = 0x75D11D57
METADATA_HEADER = struct.Struct("=I16sIIIBBBBB")
"""Magic, UUID, checksum, content and packet in bits, schemes, version."""
PACKET_CONTEXT = struct.Struct("=IQQQQQQQ")
_CONTEXT_AT = 20
"""Where a packet has its stream ID, with the rest of the context after it."""
_SEQUENCE = 6
"""Which of these numbers is that of the packet."""


class OwnerFiles(NamedTuple):
    """A directory of files that belong to the owner of a session."""

    folder: str
    uid: int
    gid: int

    def make_folder(self, *parts: str) -> str:
        """Make a directory in it, and return its path.

        Args:
            parts: Its name, from the outermost directory on.

        Raises:
            OSError: It cannot be made.
        """
        path = Path(self.folder, *parts)
        with owner_rights(self.uid, self.gid):
            path.mkdir(mode=0o770, parents=True, exist_ok=True)
        return str(path)

    def open(self, path: str, *, is_continued: bool = False) -> int:
        """Open a file to write to.

        Args:
            path: Its absolute path.
            is_continued: Whether what is there stays.

        Raises:
            OSError: It cannot be made.
        """
        flags = os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        flags |= os.O_RDWR | (0 if is_continued else os.O_TRUNC)
        with owner_rights(self.uid, self.gid):
            return os.open(path, flags, 0o660)

    def remove(self, path: str) -> None:
        """Remove a file, if it is there.

        Args:
            path: Its absolute path.

        Raises:
            OSError: It cannot be removed.
        """
        with owner_rights(self.uid, self.gid):
            Path(path).unlink(missing_ok=True)


_IN_USE: set[str] = set()
"""Directories that traces of this process are written to."""


class TraceFolder:
    """The directory of a trace that is written, for as long as it is.

    Args:
        files: Whose it is.
        parts: Its name, from the outermost directory on.
        older: What is done with a trace that is there: it is replaced, as LTTng does,
            it is continued, or it stays and the new one gets another name. One that
            this process writes stays in any case.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(
        self,
        files: OwnerFiles,
        parts: tuple[str, ...],
        older: Older,
    ) -> None:
        *outer, last = parts
        for number in range(1, MOST_NAMESAKES):
            name = last if number == 1 else f"{last}-{number}"
            path = files.make_folder(*outer, name)
            if path in _IN_USE:
                continue
            self.has_trace = Path(path, "metadata").exists()
            if self.has_trace and older == "replaced":
                with owner_rights(files.uid, files.gid):
                    _clear(path)
                self.has_trace = False
            if not self.has_trace or older == "continued":
                self.path = path
                _IN_USE.add(path)
                return
        raise FileExistsError(17, "too many traces", files.make_folder(*parts))

    def release(self) -> None:
        """Let others write there."""
        _IN_USE.discard(self.path)


def _clear(path: str) -> None:
    """Remove the files of a trace."""
    for folder in (Path(path), Path(path, INDEX_FOLDER)):
        if folder.is_dir() and not folder.is_symlink():
            for one in folder.iterdir():
                if one.is_symlink() or not one.is_dir():
                    one.unlink()


class DataStreamFile:
    """The files of one ring: packets, and an index of them.

    Args:
        files: Whose they are.
        folder: The directory of the trace.
        name: The channel and the CPU.
        limits: Bytes of a file before the next one begins, and how many files are
            kept; 0 for no limit.
        is_continued: Whether what is there is continued.
        has_index: Whether an index is written; readers make their own.
    """

    def __init__(  # noqa: PLR0913 - by name
        self,
        files: OwnerFiles,
        folder: str,
        name: str,
        limits: tuple[int, int],
        *,
        is_continued: bool = False,
        has_index: bool = True,
    ) -> None:
        self._files = files
        self._folder, self._name = folder, name
        self._largest, self._most = limits
        self._is_continued = is_continued
        self._has_index = has_index
        self._number = 0
        self._written = 0
        self._data = self._index = -1
        self.last = -1
        """The number of the last packet of a file that is continued."""
        self._before: tuple[int, int, int] | None = None
        """The number of the last packet before this chunk, how many records were lost
        up to its end, and when that is."""
        self.chunk_size = 0
        """Bytes of packets that were written since a chunk was ended."""

    def resume(self) -> None:
        """Open the files that are continued, and cut what was written of a packet.

        Raises:
            OSError: They cannot be opened.
        """
        if self._data < 0:
            self._open()

    def write(self, packet: Packet) -> None:
        """Write a packet.

        Of a file that is continued, what it has already is not written again.

        Args:
            packet: All of it.

        Raises:
            OSError: The disk is full, or the like. Nothing of the packet is there.
        """
        if self._data < 0:
            self._open()
        elif self._largest and self._written + len(packet.data) > self._largest:
            self.close()
            self._number += 1
            if self._most:
                self._number %= self._most
            self._open()
        sequence = PACKET_CONTEXT.unpack_from(packet.header, _CONTEXT_AT)[_SEQUENCE]
        if sequence <= self.last:
            return
        if self._before is not None:
            self._write_losses_before(packet)
            self._before = None
        self._append(packet)

    def _append(self, packet: Packet) -> None:
        stream, instance, begin, end, content, size, sequence, lost = (
            PACKET_CONTEXT.unpack_from(packet.header, _CONTEXT_AT)
        )
        facts = (self._written, size, content, begin, end, lost)
        entry = INDEX_ENTRY.pack(*facts, stream, instance, sequence)
        indexed = os.fstat(self._index).st_size if self._has_index else 0
        try:
            _write_packet(self._data, packet)
            if self._has_index:
                write_all(self._index, entry)
        except OSError:
            if self._has_index:
                _cut(self._index, indexed)
            _cut(self._data, self._written)
            raise
        self._written += len(packet.data)
        self.chunk_size += len(packet.data)

    def _write_losses_before(self, packet: Packet) -> None:
        """Write an empty packet that says what other chunks tell of losses.

        Readers compare counts of a packet with those of the one before.

        Args:
            packet: The first one of this chunk.
        """
        assert self._before is not None  # noqa: S101 - for the types
        sequence, lost, last = self._before
        stream, instance, begin, *_, number, _ = PACKET_CONTEXT.unpack_from(
            packet.header, _CONTEXT_AT
        )
        bits = len(packet.header) * 8
        raw = bytearray(packet.header)
        raw += bytes(-len(raw) % 8)
        is_needed = lost or number != sequence + 1
        if not is_needed or 0 < self._largest < len(raw) + len(packet.data):
            return
        # Babeltrace 2 turns packets of chunks around that begin in the same nanosecond.
        time = max(min(last, begin), begin - NANOSECOND)
        facts = (stream, instance, time, time, bits, len(raw) * 8, sequence, lost)
        PACKET_CONTEXT.pack_into(raw, _CONTEXT_AT, *facts)
        self._append(Packet(bytes(raw), memoryview(raw)))

    def take_back(self, packet: Packet) -> None:
        """Remove the packet that was written last, of a file without an index.

        Args:
            packet: The packet.
        """
        self._written -= len(packet.data)
        self.chunk_size -= len(packet.data)
        _cut(self._data, self._written)

    @property
    def place(self) -> tuple[int, int, int, int, int]:
        """What :class:`FullPackets` needs to know of it."""
        room = self._largest - self._written if self._largest else MOST_BYTES
        return self._data, self._index, self._written, max(room, 0), self.last

    def add(self, count: int) -> None:
        """Note that others have written packets.

        Args:
            count: Bytes of them.
        """
        self._written += count
        self.chunk_size += count

    def _open(self) -> None:
        if self._is_continued and self._largest:
            self._number = self._last_number()
        name = f"{self._name}_{self._number}" if self._largest else self._name
        try:
            self._open_files(name)
        except OSError:
            self.close()
            raise

    def _open_files(self, name: str) -> None:
        is_continued = self._is_continued
        if self._has_index:
            # First: of a file that is replaced, readers are to miss nothing.
            index = self._files.make_folder(self._folder, INDEX_FOLDER)
            self._index = self._files.open(
                f"{index}/{name}.idx", is_continued=is_continued
            )
        self._data = self._files.open(
            f"{self._folder}/{name}", is_continued=is_continued
        )
        if not self._has_index:
            self._written = 0
            return
        if is_continued:
            self._cut_to_index()
        self._written = os.fstat(self._data).st_size
        if os.fstat(self._index).st_size == 0:
            header = INDEX_HEADER.pack(INDEX_MAGIC, 1, 1, INDEX_ENTRY.size)
            write_all(self._index, header)
        self._is_continued = False

    def _cut_to_index(self) -> None:
        """Leave whole packets: an entry is written after its packet."""
        indexed = os.fstat(self._index).st_size - INDEX_HEADER.size
        entries = max(0, indexed // INDEX_ENTRY.size)
        end = 0
        if entries:
            place = INDEX_HEADER.size + (entries - 1) * INDEX_ENTRY.size
            raw = os.pread(self._index, INDEX_ENTRY.size, place)
            start, bits, *_, self.last = INDEX_ENTRY.unpack(raw)
            end = start + bits // 8
            _cut(self._index, place + INDEX_ENTRY.size)
        else:
            _cut(self._index, 0)
        size = os.fstat(self._data).st_size
        _cut(self._data, min(size, end))

    def _last_number(self) -> int:
        """Return the number of the file that was written last."""
        files = Path(self._folder).glob(f"{escape(self._name)}_*")
        newest = max(files, key=lambda one: one.stat().st_mtime_ns, default=None)
        number = "" if newest is None else newest.name.rpartition("_")[2]
        return int(number) if number.isdecimal() else 0

    @property
    def is_removed(self) -> bool:
        """Whether somebody has removed one of the files that are written."""
        return _is_removed(self._data) or _is_removed(self._index)

    def cut(self) -> None:
        """Let later packets begin new files, in the directory that is there then."""
        if self._index >= 0:
            place = os.fstat(self._index).st_size - INDEX_ENTRY.size
            if place >= INDEX_HEADER.size:
                raw = os.pread(self._index, INDEX_ENTRY.size, place)
                *_, end, lost, _, _, sequence = INDEX_ENTRY.unpack(raw)
                self._before = (sequence, lost, end)
        self.close()
        self._number = self.chunk_size = 0

    def clear(self, last: Packet | None = None) -> None:
        """Remove the files.

        Args:
            last: The last packet that is thrown away and was not written.

        Raises:
            OSError: They cannot be removed.
        """
        self.cut()
        if last is not None:
            _, _, _, end, _, _, sequence, lost = PACKET_CONTEXT.unpack_from(
                last.header, _CONTEXT_AT
            )
            self._before = (sequence, lost, end)
        folder, name = Path(self._folder), escape(self._name)
        names = f"{name}_*" if self._largest else name
        with owner_rights(self._files.uid, self._files.gid):
            # An index without its data file tells of a loss.
            for one in [*folder.glob(f"index/{names}.idx"), *folder.glob(names)]:
                one.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the files; later packets would begin them anew."""
        for file in (self._data, self._index):
            if file >= 0:
                os.close(file)
        self._data = self._index = -1


class MetadataFile:
    """The metadata of a trace, which grows with its event classes.

    It is in packets, CTF 1.8.3, section 7.1: some tools read no other.

    Args:
        files: Whose it is; ``None``: it is kept for snapshots, and in no file.
        folder: The directory of the trace.
        uuid: The trace.
    """

    def __init__(self, files: OwnerFiles | None, folder: str, uuid: bytes) -> None:
        self._files, self._folder = files, folder
        self._file = -1 if files is None else files.open(f"{folder}/metadata")
        self._uuid = uuid
        self._packets: list[bytes] = []
        self._done = self._written = 0
        """Packets that are in the file, and their bytes."""
        self.failure: OSError | None = None
        """Why the rest of them are not."""

    def add(self, text: str) -> None:
        """Add a declaration.

        Args:
            text: In TSDL.
        """
        self._packets.append(self._packet(text))
        self.write()

    def _packet(self, text: str) -> bytes:
        raw = text.encode()
        bits = (METADATA_HEADER.size + len(raw)) * 8
        sizes = (0, bits, bits)
        head = METADATA_HEADER.pack(METADATA_MAGIC, self._uuid, *sizes, 0, 0, 0, 1, 8)
        return head + raw

    def write(self) -> None:
        """Write what is not in the file: there was no room, and may be some now."""
        if self._files is None:
            return
        try:
            if self._file < 0:
                self._files.make_folder(self._folder)
                self._file = self._files.open(f"{self._folder}/metadata")
            for packet in self._packets[self._done :]:
                write_all(self._file, packet)
                self._done += 1
                self._written += len(packet)
        except OSError as error:
            if self._file >= 0:
                _cut(self._file, self._written)
            path = f"{self._folder}/metadata"
            self.failure = OSError(error.errno, error.strerror, path)
        else:
            self.failure = None

    @property
    def is_removed(self) -> bool:
        """Whether somebody has removed the file."""
        return _is_removed(self._file)

    def cut(self) -> None:
        """Write all of it once more, in the directory that is there now."""
        self.close()
        self._done = self._written = 0
        self.write()

    def rewrite(self, first: str) -> None:
        """Write all of it once more.

        Args:
            first: What its first declaration is from now on.
        """
        self._packets[0] = self._packet(first)
        self._done = self._written = 0
        if self._file >= 0:
            _cut(self._file, 0)
        self.write()

    def copy(self, other: MetadataFile) -> None:
        """Write what another one has.

        Args:
            other: The other one, of the same trace.

        Raises:
            OSError: It cannot be written.
        """
        self._packets = [*other._packets]
        self.write()
        if self.failure is not None:
            raise self.failure

    def close(self) -> None:
        """Close the file."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


def _is_removed(file: int) -> bool:
    return file >= 0 and os.fstat(file).st_nlink == 0


def _cut(file: int, size: int) -> None:
    """Take away what was written in part; what comes next is written there."""
    with suppress(OSError):
        os.ftruncate(file, size)
    os.lseek(file, size, os.SEEK_SET)


def _write_packet(file: int, packet: Packet) -> None:
    """Write a packet with the header that was checked, whatever is there now."""
    with memoryview(packet.header) as header, memoryview(packet.data) as data:
        size = len(header)
        done = os.writev(file, [header, data[size:PIECE]])
        while done < len(data):
            rest = header if done < size else data
            done += os.write(file, rest[done : done + PIECE])


def packet_bytes(packet: Packet) -> bytes | None:
    """Return a packet as it would be in a file.

    Nothing is read where it is: a program may take it away meanwhile.

    Args:
        packet: The packet.

    Returns:
        ``None`` if it is not there any more.
    """
    copy = os.memfd_create("vestige-packet", os.MFD_CLOEXEC)
    try:
        _write_packet(copy, packet)
        return os.pread(copy, len(packet.data), 0) if packet.is_whole() else None
    except OSError:
        return None
    finally:
        os.close(copy)


def tell_live(files: OwnerFiles, folder: str, time: int) -> None:
    """Say up to when all of a trace is in its files; readers of live sessions ask.

    Args:
        files: Whose they are.
        folder: The directory of the trace.
        time: By the clock of the trace.

    Raises:
        OSError: It cannot be written.
    """
    file = files.open(f"{folder}/{LIVE_FILE}", is_continued=True)
    try:
        os.pwrite(file, live_words(time), 0)
    finally:
        os.close(file)


def live_time(raw: bytes) -> int | None:
    """Read what :func:`tell_live` or a collector has written.

    Args:
        raw: The file, which may be written meanwhile.

    Returns:
        The time; ``None``: it tells none.
    """
    if len(raw) != LIVE.size:
        return None
    magic, time, other = LIVE.unpack(raw)
    is_whole = magic == LIVE_MAGIC and time ^ other == LARGEST_TIME
    return int(time) if is_whole else None


def write_all(file: int, raw: bytes | memoryview) -> None:
    """Write all of some bytes.

    Args:
        file: Where to.
        raw: The bytes.

    Raises:
        OSError: They cannot all be written.
    """
    done = os.write(file, raw)
    while done < len(raw):
        with memoryview(raw) as whole:
            done += os.write(file, whole[done:])
