"""A recording that is read while it is made: ``source.vestige.recording``.

The collector appends whole packets to data stream files: a thread's when it is full or
a second old. So what is older than some seconds is in files, or will never be.

Of a live recording the collector writes all that there is each period, and the file
``.live`` tells until when that is all (``docs/formats/arena.md``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path
from struct import Struct

from ... import core
from ..._suppress import suppress
from ..._typing import TYPE_CHECKING
from ...ctf import METADATA, read_metadata
from ...damage import Damage
from ...errors import NotATraceError, TraceFormatError
from ...graph.growing import Arrival, Feed
from ...graph.stream import Stream, TraceInfo
from .ctf_fs import process_space
from .recording_parts import KERNEL, PROGRAMS, Parts, Place

if TYPE_CHECKING:
    from ...graph.plan import ComponentSpec

__all__ = ["RecordingSource", "make_recording"]

GRACE = 2_000_000_000
"""How long it takes until a packet is in its file, at most, nanoseconds."""
STEP = 50_000_000
"""What is certain is told so much later each time at least, nanoseconds: else there
would be news all the time."""
LIVE = ".live"
"""The file that tells until when all is in files."""
LIVE_FORM = Struct("=8sQQ")
LIVE_MAGIC = b"VESTLIV1"
ALL_BITS = (1 << 64) - 1
LIVE_PAUSE = 0.01
"""Seconds between two looks at that file."""
REGISTER = ".arena"
"""The file that is there while a recording is made."""
LONGEST_QUIET = 2.0
"""After so many seconds without anything it is seen whether the recorder is alive."""

LONGEST_MOVE = 1.0
"""Seconds after which a directory that was moved is taken for gone."""

ABANDONED = (
    "its recorder was killed: what is in memory joins the trace when it is read the "
    "next time, without --follow"
)


class _File:
    # The data stream files of a name, as far as they are read.

    def __init__(self) -> None:
        self.place = Place()
        self.stream: Stream | None = None
        """Their data stream, once there is anything of it."""
        self.last: int | None = None
        """The end of its last packet, cycles."""


class RecordingSource(Feed):
    """Reads a recording in a directory until it has ended.

    Args:
        path: The directory.
        index: Index of its trace.
        is_abandoned: Tells whether the recorder was killed.
        trace_name: What its trace is called, behind the name of the host.
        others: Of a recording that is rotated, the archives that others read; ``None``:
            those that are there.

    Raises:
        NotATraceError: It holds no trace.
        TraceFormatError: The metadata cannot be used.
    """

    def __init__(
        self,
        path: str,
        index: int = 0,
        is_abandoned: Callable[[Path], bool] = lambda _: False,
        trace_name: str | None = None,
        others: Collection[str] | None = None,
    ) -> None:
        super().__init__(path)
        self._is_abandoned = is_abandoned
        self._directory = Path.cwd() / path
        self._parts = Parts(self._directory, others)
        self._state, parsed = self._first_metadata()
        self._of_programs = _of_programs(self._directory)
        self.roots = [self._directory]
        """The directory."""
        self.directories = [self._directory]
        """The directory."""
        self._info = TraceInfo(index, "", parsed, directories=[self._directory])
        names = [parsed.environment.get("hostname"), trace_name]
        self._info.name = "/".join(str(one) for one in names if one)
        # Stands for data streams that appear later: it holds all back that is younger.
        self._gate = self._stream(0, None, "")
        self._is_begun = False
        self._files: dict[str, _File] = {}
        self._streams: dict[tuple[int, int | None, str], Stream] = {}
        self._unusable: set[str] = set()
        self._ended: set[Stream] = set()
        self._told: dict[Stream, int] = {}
        self._looked: int | None = None
        self._behind: set[Stream] = set()
        self._last_news = time.monotonic()

    def poll(self, hungry: Collection[Stream]) -> Arrival:
        """Look for more in the files.

        Args:
            hungry: The data streams of which nothing is left.

        Raises:
            TraceFormatError: The metadata cannot be used any more.
        """
        # In this order: what the recorder has written before it ended is seen.
        has_ended = not (self._of_programs / REGISTER).exists()
        shown = self._shown()
        certain = time.time_ns() - GRACE if shown is None else shown
        arrival = Arrival()
        if not self._is_begun:
            self._is_begun = True
            arrival.streams.append(self._gate)
        # Of a live recording nothing is to be found before the file says so.
        is_seen = shown is not None and shown == self._looked and not has_ended
        self._behind.clear()
        if not is_seen or any(self._told.get(one) != certain for one in hungry):
            self._learn()
            for name in self._parts.names():
                self._look_at(name, hungry, arrival, has_ended=has_ended)
        self._looked = shown
        if arrival.has_news:
            self._last_news = time.monotonic()
        if has_ended:
            growing = {stream for stream, _ in arrival.parts}
            arrival.ended += [one for one in hungry if one not in growing]
            self._ended |= {*arrival.ended}
            arrival.is_end = self._ended == {self._gate, *self.streams}
        else:
            self._see_whether_abandoned(arrival)
            step = STEP if shown is None else 1
            for stream in {*arrival.streams, *hungry} - self._behind:
                if certain - self._told.get(stream, -(1 << 63)) >= step:
                    self._told[stream] = certain
                    arrival.certain.append((stream, certain))
        return arrival

    def _shown(self) -> int | None:
        """Return until when all is in files, nanoseconds, if anybody tells."""
        try:
            data = (self._directory / LIVE).read_bytes()
        except OSError:
            return None
        if len(data) != LIVE_FORM.size:
            return self._looked
        magic, until, mirrored = LIVE_FORM.unpack(data)
        # Else it is being written.
        if magic != LIVE_MAGIC or until ^ mirrored != ALL_BITS:
            return self._looked
        self.pause = LIVE_PAUSE
        return self._gate.handle.nanoseconds(until)

    def _see_whether_abandoned(self, arrival: Arrival) -> None:
        if time.monotonic() - self._last_news < LONGEST_QUIET:
            return
        self._last_news = time.monotonic()
        if self._is_abandoned(self._of_programs):
            if self._of_programs == self._directory:
                # Of the kernel nothing is left in memory.
                arrival.damage.append(
                    Damage(self.path, None, None, "recording-damaged", ABANDONED)
                )
            arrival.is_end = True

    def _first_metadata(self) -> tuple[tuple[int, int] | None, core.TraceClass]:
        """Read the metadata, and tell which they were.

        Raises:
            NotATraceError: There are none.
            TraceFormatError: They cannot be used.
        """
        until = time.monotonic() + LONGEST_MOVE
        while True:
            state = self._metadata_state()
            try:
                if state is not None and (self._directory / METADATA).is_file():
                    return state, read_metadata(self._directory)[0]
            except TraceFormatError:
                if self._metadata_state() == state:
                    raise
            is_coming = self._parts.is_between() or self._metadata_state() != state
            if not is_coming or time.monotonic() > until:
                break
            time.sleep(LIVE_PAUSE)
        raise NotATraceError("no CTF trace: it has no metadata", path=Path(self.path))

    def _metadata_state(self) -> tuple[int, int] | None:
        with suppress(OSError):
            status = (self._directory / METADATA).stat()
            return status.st_size, status.st_mtime_ns
        return None

    def _learn(self) -> None:
        """Read the metadata again, if they have become more."""
        state = self._metadata_state()
        if state in {self._state, None}:
            return
        try:
            parsed, damage = read_metadata(self._directory)
        except TraceFormatError:
            if self._metadata_state() == state:
                raise
            return
        if damage is not None:
            # Somebody is writing them.
            return
        self._state = state
        self._info.learn(parsed)
        for stream in (self._gate, *self.streams):
            stream.handle = stream.handle.following(parsed)

    def _look_at(
        self,
        name: str,
        hungry: Collection[Stream],
        arrival: Arrival,
        *,
        has_ended: bool,
    ) -> None:
        """Take what the files of a name have behind what is read of them."""
        known = self._files.setdefault(name, _File())
        if known.stream is not None and known.stream not in hungry:
            return
        found = self._parts.next(name, known.place)
        if found is None:
            return
        try:
            opened = self._opened(
                str(found.path),
                known.place.end,
                found.size,
                has_ended=has_ended or found.is_moved,
            )
        except FileNotFoundError:
            # In overwrite mode, or where few archives are kept.
            return
        except TraceFormatError as error:
            # The first packet is not all there yet, unless it will never be.
            if has_ended and name not in self._unusable:
                self._unusable.add(name)
                arrival.damage.append(error.damage)
            return
        if opened is None or not found.is_still_there(known.place.inode):
            return
        is_new = not self._is_repeated(known, opened)
        offset, length, *_ = opened.packets[-1]
        known.place.end = offset + length
        if is_new:
            self._take(known, opened, arrival)
        if found.is_moved and known.stream is not None:
            # There may be a file of its name again, which is read next.
            self._behind.add(known.stream)

    def _is_repeated(self, known: _File, opened: core.DataFile) -> bool:
        """Tell whether a file says once more what was read before.

        Each part of a recording that is rotated begins with the state of programs, at
        the times when they told it.
        """
        if not self._parts.is_rotated or opened.end is None:
            return False
        if known.stream is not None:
            return known.last is not None and opened.end <= known.last
        end = self._gate.handle.nanoseconds(opened.end)
        return end is not None and end < self._told.get(self._gate, -(1 << 63))

    def _opened(
        self, path: str, start: int, size: int, *, has_ended: bool
    ) -> core.DataFile | None:
        """Return the whole packets of a part of a file."""
        opened = core.DataFile.open_part(self._info.parsed, path, start, size)
        offset, length, *_ = opened.packets[-1]
        if has_ended or offset + length == size:
            return opened
        # Somebody is writing the next one.
        end = offset if offset + length > size else offset + length
        if end <= start:
            return None
        return core.DataFile.open_part(self._info.parsed, path, start, end)

    def _take(self, known: _File, opened: core.DataFile, arrival: Arrival) -> None:
        if known.stream is None:
            known.stream = self._stream_of(opened, arrival)
        if opened.end is not None:
            known.last = max(known.last or 0, opened.end)
        part = known.stream.handle.following(self._info.parsed, opened)
        arrival.parts.append((known.stream, part))

    def _stream_of(self, opened: core.DataFile, arrival: Arrival) -> Stream:
        instance = opened.stream_instance
        key = (
            opened.stream_class,
            instance,
            "" if instance is not None else opened.path,
        )
        stream = self._streams.get(key)
        if stream is None:
            stream = self._stream(opened.stream_class, instance, opened.path)
            self._streams[key] = stream
            self.streams.append(stream)
            self._info.grown.append(stream)
            arrival.streams.append(stream)
        return stream

    def _stream(self, class_index: int, instance: int | None, path: str) -> Stream:
        """Return a data stream without parts."""
        info = self._info
        handle = core.DataStream(
            info.parsed,
            [],
            trace_name=info.name,
            trace_index=info.index,
            process_space=process_space(info, instance),
            class_index=class_index,
            path=path,
        )
        number = len(self.streams) if instance is None else instance
        return Stream(info, class_index, number, path, handle)


def _of_programs(directory: Path) -> Path:
    """Return the trace of programs in a recording: what says whether it goes on."""
    beside = directory.parent / PROGRAMS
    if directory.name == KERNEL and (beside / METADATA).is_file():
        return beside
    return directory


def make_recording(spec: ComponentSpec, first_index: int) -> RecordingSource:
    """Open the recording that a component is to read.

    Args:
        spec: The component.
        first_index: The number of traces of other sources before it.

    Raises:
        NotATraceError: It is no trace.
        TraceFormatError: The metadata cannot be used.
    """
    path, name = str(spec.params["path"]), spec.params.get("trace-name")
    parts = spec.params.get("read-parts")
    others = None if parts is None else str(parts).split("/")
    return RecordingSource(path, first_index, trace_name=name, others=others)
