"""State dumps that the daemon adds to a trace: in a file of it, or kept for snapshots.

A file grows with each program that comes, and each chunk has one of its own. Of a
session that only keeps what came last, the dumps are here, and each snapshot has all
that its event records may need.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import pairwise

from ...._typing import TYPE_CHECKING
from .packet_begin import waiting_since
from .ring_files import STATE_FILE
from .state_dump import (
    LoadedObject,
    ProgramState,
    StatePacket,
    state_packet,
    state_text,
)
from .trace_files import OwnerFiles, write_all

if TYPE_CHECKING:
    from .buffers import TraceBuffers

__all__ = ["TraceDumps"]

MOST_GONE_BYTES = 4 << 20
"""Of dumps of programs that are gone; the oldest are given up first."""
MOST_DUMPS = 4
"""Of a program, with objects that contradict each other."""
MOST_COPY_BYTES = 4 << 20
"""Of the file beside the rings that the next daemon finds if this one is killed; or
twice what it needs."""
OBJECT_BYTES = 160
"""About what an object takes beside its path."""


class _Known:
    """What a program has had loaded, in the order of time."""

    def __init__(self, time: int, state: ProgramState) -> None:
        self.dumps = [(time, state)]

    def add(self, time: int, state: ProgramState) -> None:
        """Take what it has now.

        Nothing was recorded at addresses where nothing was loaded, so what is new
        belongs to the last dump, unless something else was there.
        """
        first, last = self.dumps[-1]
        known = set(last.objects)
        new = [one for one in state.objects if one not in known]
        if not new:
            return
        if not _overlap([*last.objects, *new]):
            self.dumps[-1] = first, last._replace(objects=(*last.objects, *new))
        else:
            self.dumps = [*self.dumps[1 - MOST_DUMPS :], (time, state)]

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        objects = [one for _, state in self.dumps for one in state.objects]
        return sum(OBJECT_BYTES + len(one[2]) for one in objects)


def _overlap(objects: Sequence[LoadedObject]) -> bool:
    ranges = sorted((one[0], one[0] + one[1]) for one in objects)
    return any(after[0] < before[1] for before, after in pairwise(ranges))


class TraceDumps:
    """The state dumps of a trace that the daemon makes.

    Args:
        trace: The trace.
    """

    def __init__(self, trace: TraceBuffers) -> None:
        self._trace = trace
        self._is_declared = False
        self._known: dict[int, _Known] = {}
        """Of the programs that are there."""
        self._gone: deque[tuple[int, _Known]] = deque()
        """Of others, with when they went."""
        self._gone_bytes = 0
        self._time = 0
        """Of the last dump in a file."""
        self._sequence = self._first_of_chunk = 0
        self._snapshots = 0
        self._largest_copy = MOST_COPY_BYTES
        self._wanted: AbstractSet[str] = frozenset()
        self.failure: OSError | None = None
        """Why a dump was not written."""

    def join(
        self, key: int, state: ProgramState, time: int, wanted: AbstractSet[str]
    ) -> None:
        """Describe a program whose events are recorded from now on.

        Args:
            key: The program.
            state: What it has loaded.
            time: When it was so, by the clock of programs.
            wanted: The names of the events that are recorded.
        """
        self._declare(wanted)
        time = self._since(state, time)
        self._note(key, state, time)
        self._write([state], time)

    def _since(self, state: ProgramState, time: int) -> int:
        """Return since when a program may have had what it has.

        A child goes on in the buffers of its parent until it is known. As nobody else
        has the same objects at the same places, it has them since there was a parent;
        unless its number has told something else before, as one that executes does.
        """
        there = [dump for one in self._known.values() for dump in one.dumps]
        gone = [dump for _, one in self._gone for dump in one.dumps]
        if any(one.vpid == state.vpid for _, one in [*there, *gone]):
            return time
        alike = [since for since, one in there if one.objects == state.objects]
        return min([time, *alike])

    def refresh(self, key: int, state: ProgramState, time: int) -> None:
        """Take what a program has loaded by now, for snapshots.

        Args:
            key: The program, which was described.
            state: What it has loaded.
            time: When it was so, by the clock of programs.
        """
        if key in self._known:
            self._known[key].add(time, state)

    def last(self, key: int) -> ProgramState | None:
        """Return how a program that is there was described the last time, if it was.

        Args:
            key: The program.
        """
        known = self._known.get(key)
        return None if known is None else known.dumps[-1][1]

    def begin(
        self,
        states: Mapping[int, ProgramState],
        time: int,
        wanted: AbstractSet[str],
    ) -> None:
        """Describe all programs: nothing that was recorded before is there any more.

        Args:
            states: The programs.
            time: When the rest was cut off, by the clock of programs.
            wanted: The names of the events that are recorded.
        """
        since = self._waiting_since(time)
        # Also those that went after the time, before this.
        left = [one for one in self._gone if one[0] >= since]
        self._gone, self._gone_bytes = deque(left), sum(one.size for _, one in left)
        self._known = {key: _Known(since, one) for key, one in states.items()}
        if states or left:
            self._declare(wanted)
        if self._trace.files is None:
            self._copy_again()
        elif states or left:
            gone = [one.dumps[-1][1] for _, one in left]
            self._write([*gone, *states.values()], since)

    def forget(self, key: int, time: int) -> None:
        """Note that a program is gone, whose event records may still be in buffers.

        Args:
            key: The program.
            time: When it went, by the clock of programs.
        """
        known = self._known.pop(key, None)
        if known is None:
            return
        self._gone.append((time, known))
        self._gone_bytes += known.size
        if self._gone_bytes > MOST_GONE_BYTES:
            self._drop_gone(self._waiting_since(time))
        while self._gone_bytes > MOST_GONE_BYTES:
            self._gone_bytes -= self._gone.popleft()[1].size

    def _drop_gone(self, since: int) -> None:
        """Forget programs that went before all that is in buffers."""
        while self._gone and self._gone[0][0] < since:
            self._gone_bytes -= self._gone.popleft()[1].size

    def _note(self, key: int, state: ProgramState, time: int) -> None:
        if self._trace.files is None and key in self._known:
            self._known[key].add(time, state)
        else:
            self._known[key] = _Known(time, state)

    def _waiting_since(self, time: int) -> int:
        """Return when the oldest record was made that is in buffers, or a time."""
        rings = [ring for one in self._trace.channels.values() for ring in one.rings]
        return min([time, *filter(None, map(waiting_since, rings))])

    def _declare(self, wanted: AbstractSet[str]) -> None:
        self._wanted = wanted
        if not self._is_declared:
            self._is_declared = True
            self._trace.declare(state_text(self._trace.clock))

    def begin_chunk(self) -> None:
        """Let later dumps be in a chunk of their own."""
        self._first_of_chunk = self._sequence
        # Packets of one time have no order if they are in several files.
        self._time += 1

    def clear(self) -> None:
        """Remove the file."""
        self._sequence = self._first_of_chunk
        files = self._trace.files
        if files is not None:
            try:
                files.remove(f"{self._trace.folder}/{STATE_FILE}")
            except OSError as error:
                self.failure = error

    def snapshot(self, files: OwnerFiles, folder: str) -> None:
        """Write all that a snapshot needs.

        Args:
            files: The directory of the snapshot.
            folder: That of the trace in it.

        Raises:
            OSError: It cannot be written.
        """
        # Some of it is in others, too, with other numbers: who reads several together
        # would miss packets in one data stream.
        self._snapshots += 1
        packets = self._all_packets(self._snapshots)
        if packets:
            _append(files, folder, packets)

    def _all_packets(self, instance: int = 0) -> bytes:
        """Return all that is known, in the order of time."""
        self._drop_gone(self._waiting_since(self._trace.clock.read()))
        known = [*(one for _, one in self._gone), *self._known.values()]
        dumps: dict[int, list[ProgramState]] = {}
        for time, state in (dump for one in known for dump in one.dumps):
            dumps.setdefault(time, []).append(state)
        return self._packets(sorted(dumps.items()), instance=instance)

    def _copy_again(self) -> None:
        """Write what the next daemon needs if this one is killed."""
        files = self._trace.rings.files
        size = 0
        try:
            files.remove(f"{files.folder}/{STATE_FILE}")
            packets = self._all_packets()
            if packets:
                size = _append(files, files.folder, packets)
        except OSError as error:
            self.failure = error
        self._largest_copy = max(MOST_COPY_BYTES, 2 * size)

    def _packets(
        self,
        dumps: Iterable[tuple[int, list[ProgramState]]],
        first: int = 0,
        instance: int = 0,
    ) -> bytes:
        uuid = self._trace.uuid
        return b"".join(
            state_packet(
                StatePacket(uuid, time, number, instance), states, self._wanted
            ).data
            for number, (time, states) in enumerate(dumps, first)
        )

    def _write(self, states: list[ProgramState], time: int) -> None:
        """Add a dump to the file of the present chunk, or to that beside the rings."""
        files = self._trace.files or self._trace.rings.files
        self._time = max(time, self._time)
        try:
            packet = self._packets([(self._time, states)], self._sequence)
            size = _append(files, self._trace.folder or files.folder, packet)
        except OSError as error:
            self.failure = error
            return
        self._sequence += 1
        if self._trace.files is None and size > self._largest_copy:
            self._copy_again()


def _append(files: OwnerFiles, folder: str, packets: bytes) -> int:
    """Write packets at the end of the file, all or none; return its size then."""
    file = files.open(f"{folder}/{STATE_FILE}", is_continued=True)
    try:
        before = os.lseek(file, 0, os.SEEK_END)
        try:
            write_all(file, packets)
        except OSError:
            with suppress(OSError):
                os.ftruncate(file, before)
            raise
        return before + len(packets)
    finally:
        os.close(file)
