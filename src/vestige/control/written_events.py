"""Counts the event records of a trace while it is written, each packet once.

Packets are counted where they are: in the files. Nothing of that is asked of programs
or of the daemon, and a look costs no more than reading so many bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..core import DataFile, DataStream, TraceClass, Verifier
from ..ctf import METADATA, find_traces, read_metadata
from ..errors import NotATraceError, TraceFormatError
from .statistics import channel_of_file

__all__ = ["OF_KERNEL", "WHOLE", "Written", "WrittenEvents"]

UUID_AT = slice(4, 20)
"""In the header of a packet, behind its magic number."""
HEAD_BYTES = 64
"""They tell packets of different streams and times apart."""
OF_KERNEL = "kernel/"
"""Before the name of a channel of the kernel: none of user space has a slash."""
MISSED_LOOKS = 3
"""After so many, a file is gone, and was not only moved as it was looked for."""
WHOLE = ""
"""In place of a channel's name where a trace has none."""
MOST_BYTES = 64 << 20
"""Of a session that are counted at a look. What is beyond that is not read."""


class Written(NamedTuple):
    """What was found in the files of a channel, up to now."""

    events: int = 0
    """Event records of the packets that were counted."""

    counted: int = 0
    """Bytes of these packets."""

    passed: int = 0
    """Bytes that were not counted, since there were too many at a time."""


class _File:
    """A data stream file, as far as it was read."""

    def __init__(self) -> None:
        self.offset = 0
        self.head = b""
        """How it begins: the inode of one that is gone is soon that of another."""
        self.last_seen = 0
        """The number of a look."""

    def follow(self, path: Path, size: int) -> None:
        """Begin anew if it is another file than before.

        Args:
            path: Where it is.
            size: Its bytes.
        """
        with path.open("rb") as data:
            head = data.read(HEAD_BYTES)
        if size < self.offset or head != self.head:
            self.offset = 0
        self.head = head


class _Pending(NamedTuple):
    """A file with packets that were not read."""

    file: _File
    path: Path
    size: int
    trace_class: TraceClass
    channel: str

    @property
    def new(self) -> int:
        """Bytes that were not read."""
        return self.size - self.file.offset


class WrittenEvents:
    """Follows the traces of a session.

    Args:
        output: The directory of the session's traces.
        most_bytes: How many bytes are counted at a look.
    """

    def __init__(self, output: str, most_bytes: int = MOST_BYTES) -> None:
        self._output = output
        self._most_bytes = most_bytes
        self._directories: list[Path] = []
        """Of the traces that the last look found."""
        self._metadata: dict[Path, tuple[tuple[int, int], TraceClass]] = {}
        self._files: dict[tuple[int, int], _File] = {}
        """By device and inode: files of a trace are moved when it is rotated."""
        self._found: dict[str, Written] = {}
        self._look = 0

    def look(self, channels: Sequence[str] | None) -> dict[str, Written]:
        """Count what was written since the last look.

        Args:
            channels: Those of the session, those of the kernel behind
                :data:`OF_KERNEL`; ``None``: of a recording that has none.

        Returns:
            All that was counted so far, by channel, or of :data:`WHOLE`; of channels
            of which there are files that can be read.
        """
        self._look += 1
        # What small ones leave is for the large ones.
        pending = sorted(self._pending(channels), key=lambda one: one.new)
        left = self._most_bytes
        for number, one in enumerate(pending):
            share = left // (len(pending) - number)
            left -= min(share, one.new)
            written = self._found.get(one.channel, Written())
            with suppress(OSError, TraceFormatError):
                more = _read(one, share)
                written = Written(*map(sum, zip(written, more, strict=True)))
            self._found[one.channel] = written
        return dict(self._found)

    def density(self, packet: bytes) -> float | None:
        """Return how many event records there are for each byte of a packet.

        Args:
            packet: One of the traces' packets that is not in a file.

        Returns:
            ``None`` if the packet, or the metadata of its trace, cannot be read.
        """
        uuid = packet[UUID_AT]
        # A trace may have no packet in its files yet: then its metadata are not known.
        # The present chunk comes after archives.
        new = [one for one in self._directories[::-1] if one not in self._metadata]
        for directory in [*self._metadata, *new]:
            with suppress(OSError, TraceFormatError):
                trace_class = self._trace_class(directory)
                if trace_class.uuid == uuid:
                    events, counted = _count_bytes(trace_class, packet)
                    return events / counted if events and counted else None
        return None

    def _pending(self, channels: Sequence[str] | None) -> Iterator[_Pending]:
        try:
            found = [one.directory for one in find_traces(self._output)]
        except (NotATraceError, OSError):
            return
        self._directories = found
        for directory in found:
            with suppress(OSError, TraceFormatError):
                for path in _data_files(directory):
                    one = self._pending_file(directory, path, channels)
                    if one is not None:
                        yield one
        # Archives may come and go for as long as somebody watches.
        first = self._look - MISSED_LOOKS
        self._files = {
            key: one for key, one in self._files.items() if one.last_seen >= first
        }
        self._metadata = {
            key: one for key, one in self._metadata.items() if key in found
        }

    def _trace_class(self, directory: Path) -> TraceClass:
        status = (directory / METADATA).stat()
        state = (status.st_size, status.st_mtime_ns)
        known = self._metadata.get(directory)
        if known is None or known[0] != state:
            known = (state, read_metadata(directory)[0])
            self._metadata[directory] = known
        return known[1]

    def _pending_file(
        self, directory: Path, path: Path, channels: Sequence[str] | None
    ) -> _Pending | None:
        status = path.stat()
        file = self._files.setdefault((status.st_dev, status.st_ino), _File())
        file.last_seen = self._look
        if status.st_size == file.offset:
            return None
        # Of archives nothing is new, as a rule: their metadata are not read.
        trace_class = self._trace_class(directory)
        channel = _channel_of(path, trace_class, channels)
        if channel is None:
            return None
        file.follow(path, status.st_size)
        if status.st_size == file.offset:
            return None
        return _Pending(file, path, status.st_size, trace_class, channel)


def _channel_of(
    path: Path, trace_class: TraceClass, channels: Sequence[str] | None
) -> str | None:
    """Return the channel of a file; ``None`` if it is that of no session's."""
    if channels is None:
        return WHOLE
    if trace_class.environment.get("domain") == "kernel":
        names = [one.removeprefix(OF_KERNEL) for one in channels if "/" in one]
        found = channel_of_file(path, names, is_own=False)
        return f"{OF_KERNEL}{found}" if found in names else None
    is_own = trace_class.environment.get("tracer_name") == "vestige"
    channel = channel_of_file(path, channels, is_own=is_own)
    return channel if channel in channels else None


def _data_files(directory: Path) -> list[Path]:
    """Return the data stream files, with those that are empty: they were not, maybe."""
    with os.scandir(directory) as entries:
        return [
            directory / one.name
            for one in entries
            if one.name != METADATA
            and not one.name.startswith(".")
            and one.is_file(follow_symlinks=False)
        ]


def _read(pending: _Pending, most_bytes: int) -> Written:
    """Count the new packets of a file, or the last of them."""
    file = pending.file
    begin = file.offset
    if pending.new > most_bytes:
        whole = DataFile.open(pending.trace_class, str(pending.path))
        least = pending.size - most_bytes
        begin = next(
            (packet[0] for packet in whole.packets if packet[0] >= least), begin
        )
        if begin == file.offset:
            return Written()
    passed = begin - file.offset
    events, counted = _count(pending, begin)
    file.offset = begin + counted
    if events is None:
        return Written(0, 0, passed + counted)
    return Written(events, counted, passed)


def _count(pending: _Pending, begin: int) -> tuple[int | None, int]:
    """Count event records of the whole packets from a place on, and their bytes.

    No number is known where a packet is damaged.
    """
    with pending.path.open("rb") as data:
        data.seek(begin)
        return _count_bytes(pending.trace_class, data.read(pending.size - begin))


def _count_bytes(trace_class: TraceClass, data: bytes) -> tuple[int | None, int]:
    copy = os.memfd_create("vestige-packets", os.MFD_CLOEXEC)
    try:
        size = os.write(copy, data)
        path = f"/proc/self/fd/{copy}"
        opened = DataFile.open(trace_class, path)
        packets = opened.packets
        end = packets[-1][0] + packets[-1][1]
        if end > size:
            # Its rest is being written.
            end = packets[-1][0]
            if end == 0:
                return 0, 0
            os.ftruncate(copy, end)
            opened = DataFile.open(trace_class, path)
        return _records(trace_class, opened), end
    finally:
        os.close(copy)


def _records(trace_class: TraceClass, file: DataFile) -> int | None:
    stream = DataStream(trace_class, [file], trace_name="", trace_index=0)
    verifier = Verifier([stream])
    while verifier.step():
        pass  # Ctrl-C is noticed between two steps.
    return verifier.records
