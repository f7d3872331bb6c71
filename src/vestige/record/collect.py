"""Closing a trace: the last packet of each thread joins its data stream.

While a thread runs, its present packet is in a file of its own, ``NAME.open``, which
is a valid data stream file by itself: a reader finds all committed records at any time.
When its process has ended, the packet is appended to a data file of its data stream.

A process may die at any moment, also after it appended a packet and before it began the
next one. The number of the packet shows which.

A data file that was not closed ends with an empty packet that covers bytes to come; it
is cut off. Files of processes that go on are left as they are: they are valid, too.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from .._typing import NamedTuple
from ._agreement import PACKET_OFFSETS, RING_PREFIX
from .appending import append_whole
from .background import inner_id, is_running
from .class_list import CLASS_LIST
from .control import CONTROL, overwritten_bytes
from .packets import MAGIC, OPEN_SUFFIX, ORDER, PACKET, is_stream_file
from .refusals import REFUSALS
from .rules_file import RULES

__all__ = ["Collected", "collect"]

SIZES_OFFSET = PACKET_OFFSETS["content_size"]
"""Of the content size, followed by packet size, sequence number and lost records."""
SIZES = struct.Struct(f"{ORDER}QQQQ")
TIME_BEGIN, TIME_END = (
    slice(PACKET_OFFSETS[name], PACKET_OFFSETS[name] + 8)
    for name in ("timestamp_begin", "timestamp_end")
)
HEADER_SIZE = PACKET.size
PARTIAL = re.compile(rf"\.({RING_PREFIX}\d+|\d+-\d+\S*)")
"""Names of files that a process was making when it died: nothing is in them."""


class Collected:
    """What the files of a recording hold.

    Args:
        streams: Data streams.
        packets: Packets joined to their files.
        lost: Event records that the tracer counted as lost.
        overwritten: Bytes that made room for newer ones.
        running: IDs of processes that go on recording.
        problems: What could not be joined, for people; the data are left where they
            are.
    """

    def __init__(  # noqa: PLR0913 - counts of one thing
        self,
        streams: int = 0,
        packets: int = 0,
        lost: int = 0,
        *,
        overwritten: int = 0,
        running: Iterable[int] = (),
        problems: Iterable[str] = (),
    ) -> None:
        self.streams = streams
        self.packets = packets
        self.lost = lost
        self.overwritten = overwritten
        self.running = frozenset(running)
        self.problems = list(problems)


class _Packet(NamedTuple):
    stream: int
    end: int
    content: int
    size: int
    number: int
    lost: int
    process: int


class _Stream(NamedTuple):
    """What is known of a data stream from its data files."""

    last: _Packet
    path: Path


class _Running:
    """The processes that go on recording.

    Packets have IDs as the process sees them, in its own namespace. To cut a file off
    that a process has mapped would end it.
    """

    def __init__(self, background: Iterable[int]) -> None:
        self.processes = set(background)
        self._by_inner_id = {inner_id(process): process for process in self.processes}

    def has(self, process: int) -> bool:
        """Tell whether a process goes on, by its ID in a packet."""
        if process in self._by_inner_id:
            return True
        if is_running(process):
            self.processes.add(process)
            return True
        return False


def collect(directory: Path, background: Iterable[int] = ()) -> Collected:
    """Join the last packets of all threads to their data streams.

    Args:
        directory: The trace.
        background: IDs of processes that go on recording, with files or without.

    Returns:
        What was found.
    """
    found = Collected(overwritten=overwritten_bytes(directory))
    streams: dict[int, _Stream] = {}
    running = _Running(background)
    opened = []
    partial = []
    for path in sorted(directory.iterdir()):
        if PARTIAL.fullmatch(path.name):
            partial.append(path)
        elif not is_stream_file(path):
            continue
        elif path.name.endswith(OPEN_SUFFIX):
            opened.append(path)
        else:
            with _noted(found, path):
                _close_data_file(path, streams, running)
    for path in opened:
        with _noted(found, path):
            found.packets += _join(path, streams, running)
    if not running.processes:
        shared = (directory / name for name in (CONTROL, RULES, CLASS_LIST, REFUSALS))
        for path in [*partial, *shared]:
            with _noted(found, path):
                path.unlink(missing_ok=True)
    found.streams = len(streams)
    found.lost = sum(stream.last.lost for stream in streams.values())
    found.running = frozenset(running.processes)
    return found


@contextlib.contextmanager
def _noted(found: Collected, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        found.problems.append(f"{path}: {error.strerror or error}")


def _close_data_file(
    path: Path, streams: dict[int, _Stream], running: _Running
) -> None:
    """Cut what follows the last whole packet, and note that one."""
    length, end, packets = _walk(path)
    if not packets or not running.has(packets[0].process):
        if not end:
            path.unlink()
        elif end < length:
            os.truncate(path, end)
    if end:
        last = packets[-1]
        known = streams.get(last.stream)
        if known is None or known.last.number < last.number:
            streams[last.stream] = _Stream(last, path)


def _walk(path: Path) -> tuple[int, int, list[_Packet]]:
    """Return the length, where whole packets end, and the first and the last packet.

    A file of which nothing is used shows at least whose it is.
    """
    end = 0
    found: list[_Packet] = []
    with path.open("rb") as file:
        length = os.fstat(file.fileno()).st_size
        while end < length:
            header = os.pread(file.fileno(), HEADER_SIZE, end)
            packet = _read_packet(header, length - end)
            if packet is None:
                break
            if _is_cover(packet, length - end):
                found = found or [packet]
                break
            found = [*found[:1], packet]
            end += packet.size
    return length, end, found


def _is_cover(packet: _Packet, rest: int) -> bool:
    """Tell whether an empty packet is there for what was to come."""
    return packet.content == HEADER_SIZE < packet.size == rest


def _join(opened: Path, streams: dict[int, _Stream], running: _Running) -> bool:
    """Append the packet unless it is there; whether it was."""
    with opened.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        packet = _read_packet(os.pread(file.fileno(), HEADER_SIZE, 0), size)
        content = packet.content if packet else 0
        data = bytearray(os.pread(file.fileno(), -(-content // 8) * 8, 0))
    known = streams.get(packet.stream) if packet else None
    if packet is not None and running.has(packet.process):
        streams.setdefault(packet.stream, _Stream(packet, opened))
        return False
    if (
        packet is None
        or (known is not None and known.last.number >= packet.number)
        or (packet.content == HEADER_SIZE and _lost_before(known) == packet.lost)
    ):
        opened.unlink()
        return False
    final = opened.with_name(opened.name.removesuffix(OPEN_SUFFIX))
    number = packet.number
    origin = bytearray()
    if packet.lost and known is None:
        origin = _origin(data)
        number = max(number, 1)
    size = len(data) * 8
    SIZES.pack_into(data, SIZES_OFFSET, content * 8, size, number, packet.lost)
    path = known.path if known else final
    try:
        append_whole(path, origin + data)
    except OSError:
        # A full disk, most often. It takes no room to shorten the file where it is.
        path = final.with_name(f"{final.name}@last")
        _shorten(opened, path, origin, data)
    else:
        opened.unlink()
    last = packet._replace(number=number, size=len(data))
    streams[packet.stream] = _Stream(last, path)
    return True


def _write(file: int, data: bytearray, offset: int) -> None:
    if os.pwrite(file, data, offset) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _shorten(opened: Path, final: Path, origin: bytearray, packet: bytearray) -> None:
    """Make a data stream file of the packet where it is, with the origin if it fits."""
    with opened.open("r+b", buffering=0) as file:
        try:
            data = origin + packet
            _write(file.fileno(), data, 0)
        except OSError:
            data = packet
            _write(file.fileno(), data, 0)
        os.ftruncate(file.fileno(), len(data))
    opened.rename(final)


def _lost_before(known: _Stream | None) -> int:
    return known.last.lost if known else 0


def _origin(packet: bytearray) -> bytearray:
    """Return an empty packet, from which on the first one may tell lost records.

    Readers compare the count with that of the packet before.
    """
    origin = packet[:HEADER_SIZE]
    SIZES.pack_into(origin, SIZES_OFFSET, HEADER_SIZE * 8, HEADER_SIZE * 8, 0, 0)
    origin[TIME_END] = origin[TIME_BEGIN]
    return origin


def _read_packet(header: bytes, available: int) -> _Packet | None:
    if len(header) < HEADER_SIZE:
        return None
    magic, _, _, stream, _, end, content, size, number, lost, process, _, _ = (
        PACKET.unpack(header)
    )
    if magic != MAGIC or not HEADER_SIZE * 8 <= content <= size <= available * 8:
        return None
    return _Packet(stream, end, content // 8, size // 8, number, lost, process)
