"""What is in a spool: traces whose data streams and metadata grow.

Only what an index lists is complete: the packet comes first, then its entry. Of data
files without an index, all is complete when the chunk has ended.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from ..._typing import NamedTuple
from .._agreement import PACKET_MAGIC
from ..backends.lttng_ust.trace_files import (
    INDEX_ENTRY,
    INDEX_FOLDER,
    INDEX_HEADER,
    PACKET_CONTEXT,
)
from .messages import PacketFacts

__all__ = ["Packet", "SpooledStream", "SpooledTrace", "give_back", "traces_below"]

METADATA = "metadata"
SUFFIX = ".idx"
CONTEXT_AT = 20
"""Where packets of both kinds of programs have their contexts."""
MAGIC = PACKET_MAGIC.to_bytes(4, sys.byteorder)
MOST_ENTRIES = 256
"""Packets of a stream that are looked at in a row."""
PAGE = 4096
KEEP_SIZE_AND_PUNCH_HOLE = 3
MOST_DEPTH = 12


class Packet(NamedTuple):
    """A packet in a file."""

    at: int
    facts: PacketFacts

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.at + self.facts.size // 8


class SpooledStream:
    """The data file of a stream, and its index.

    Args:
        folder: The directory of the trace.
        name: The file.

    Raises:
        OSError: It cannot be opened.
    """

    def __init__(self, folder: str, name: str) -> None:
        self.name = name
        self.data = _open(f"{folder}/{name}")
        self._index = -1
        try:
            with _missing_is_none():
                self._index = _open(f"{folder}/{INDEX_FOLDER}/{name}{SUFFIX}")
        except OSError:
            os.close(self.data)
            raise
        self._taken = 0
        """Packets that were taken to be sent."""

    def skip_given_back(self) -> None:
        """Take what was given back by a sender before this one: it was confirmed."""
        first = _first_kept(self.data)
        while first and (packets := self.packets(is_ended=False)):
            for packet in packets:
                # Pages are given back as a whole: what begins in them is confirmed.
                if packet.at >= first:
                    return
                self.take(packet)

    @property
    def has_index(self) -> bool:
        """Whether there is an index; one is removed that cannot be written."""
        return self._index >= 0 and os.fstat(self._index).st_nlink > 0

    def packets(self, *, is_ended: bool) -> list[Packet]:
        """Return packets that are complete and were not taken yet.

        Args:
            is_ended: Whether nothing more comes.
        """
        listed = [] if self._index < 0 else self._listed()
        if listed or not is_ended or self.has_index:
            return listed
        return [*islice(self._found(), MOST_ENTRIES)]

    def _found(self) -> Iterator[Packet]:
        """Yield the packets after those that were taken, by what these say."""
        at = self.taken_end
        size = CONTEXT_AT + PACKET_CONTEXT.size
        while len(raw := os.pread(self.data, size, at)) == size:
            stream, instance, begin, end, content, bits, number, lost = (
                PACKET_CONTEXT.unpack_from(raw, CONTEXT_AT)
            )
            if raw[: len(MAGIC)] != MAGIC or bits // 8 < size:
                return
            facts = (bits, content, begin, end, lost, stream, instance, number)
            yield Packet(at, PacketFacts(*facts))
            at += bits // 8

    def _listed(self) -> list[Packet]:
        place = INDEX_HEADER.size + self._taken * INDEX_ENTRY.size
        raw = os.pread(self._index, MOST_ENTRIES * INDEX_ENTRY.size, place)
        raw = raw[: len(raw) - len(raw) % INDEX_ENTRY.size]
        return [
            Packet(at, PacketFacts(*facts))
            for at, *facts in INDEX_ENTRY.iter_unpack(raw)
        ]

    @property
    def waiting(self) -> int:
        """How many bytes were not taken yet, about."""
        return max(0, os.fstat(self.data).st_size - self.taken_end)

    taken_end = 0
    """Where the packets end that were taken."""

    @property
    def taken(self) -> int:
        """How many packets were taken."""
        return self._taken

    def take(self, packet: Packet) -> None:
        """Note that the next packet was taken."""
        self._taken += 1
        self.taken_end = packet.end

    def go_back(self, taken: int, end: int) -> None:
        """Take packets once more.

        Args:
            taken: How many were.
            end: Where they end.
        """
        self._taken, self.taken_end = taken, end

    def close(self) -> None:
        """Close the files."""
        os.close(self.data)
        if self._index >= 0:
            os.close(self._index)


class SpooledTrace:
    """A directory with metadata, where data files come.

    Args:
        folder: Its path.
        path: What relay daemons are told of it.
    """

    def __init__(self, folder: str, path: str) -> None:
        self.folder, self.path = folder, path
        self.streams: dict[str, SpooledStream] = {}
        self._listed_at = -1

    def look(self, *, is_ended: bool) -> list[SpooledStream]:
        """Return the streams that have come.

        Args:
            is_ended: Whether nothing more comes: then those without an index are there.
        """
        return [*self._with_index(), *(self._others() if is_ended else [])]

    def _others(self) -> list[SpooledStream]:
        try:
            names = os.listdir(self.folder)
        except OSError as error:
            _check(error)
            return []
        found = []
        for name in names:
            if name == METADATA or name[0] == "." or name in self.streams:
                continue
            with _missing_is_none():
                stream = SpooledStream(self.folder, name)
                if stream.packets(is_ended=True):
                    self.streams[name] = stream
                    found.append(stream)
                else:
                    stream.close()
        return found

    def _with_index(self) -> list[SpooledStream]:
        found = []
        place = f"{self.folder}/{INDEX_FOLDER}"
        try:
            now = os.stat(place).st_mtime_ns
            if now == self._listed_at:
                return []
            names = os.listdir(place)
        except OSError as error:
            _check(error)
            return []
        # One that comes in the same tick of the clock changes nothing of it.
        is_old = _seconds_now() * 10**9 - now > 10**9
        self._listed_at = -1
        for one in names:
            name = one.removesuffix(SUFFIX)
            if name == one or name in self.streams:
                continue
            with _missing_is_none():
                stream = self.streams[name] = SpooledStream(self.folder, name)
                found.append(stream)
            # An index may come before its data file.
            is_old = is_old and name in self.streams
        self._listed_at = now if is_old else -1
        return found

    def metadata(self) -> bytes | None:
        """Return the metadata, as far as they are written; ``None``: not now."""
        try:
            file = _open(f"{self.folder}/{METADATA}")
        except OSError as error:
            _check(error)
            return None
        with open(file, "rb") as stream:
            return stream.read()

    def close(self) -> None:
        """Close all files."""
        for one in self.streams.values():
            one.close()
        self.streams.clear()


@contextmanager
def _missing_is_none() -> Iterator[None]:
    """Pass over a file that is none, or is gone; but not over a lack of descriptors."""
    try:
        yield
    except OSError as error:
        _check(error)


def _check(error: OSError) -> None:
    """Raise an error if what it is about may be there all the same."""
    if error.errno in {errno.EMFILE, errno.ENFILE, errno.ENOMEM}:
        raise error


def _seconds_now() -> int:
    import time  # noqa: PLC0415 - for one number

    return int(time.time())


def _open(path: str) -> int:
    """Open a file that is one, for others may write to its directory."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    file = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise FileNotFoundError(path)
    return file


def traces_below(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the traces of a chunk, each with its path in that.

    Args:
        folder: The directory of the chunk.
    """
    for here, folders, files in os.walk(folder, onerror=_check):
        inside = os.path.relpath(here, folder)
        if METADATA in files:
            yield here, inside
        folders[:] = [
            one
            for one in folders
            if one not in {INDEX_FOLDER, "archives"} and one[0] != "."
        ]
        if inside.count("/") > MOST_DEPTH:
            folders.clear()


def give_back(file: int, begin: int, end: int) -> None:
    """Give the memory of a part of a file back.

    The first page stays: who goes on with a file looks there whose it is.

    Args:
        file: The file.
        begin: Where the part begins.
        end: Where it ends.
    """
    begin, end = max(begin // PAGE, 1) * PAGE, end // PAGE * PAGE
    if begin < end:
        libc = ctypes.CDLL(None, use_errno=True)
        size = ctypes.c_longlong
        # A file system that cannot do it keeps it until the file goes.
        libc.fallocate(file, KEEP_SIZE_AND_PUNCH_HOLE, size(begin), size(end - begin))


def _first_kept(file: int) -> int:
    """Return where what was not given back begins; 0 if nothing was."""
    size = os.fstat(file).st_size
    try:
        hole = os.lseek(file, 0, os.SEEK_HOLE)
        return os.lseek(file, hole, os.SEEK_DATA) if hole < size else 0
    except OSError:
        # There is nothing else in it, or nothing at all.
        return size
