"""The metadata file of a recording: its beginning is written again as clocks are known.

The collector appends the classes of tracepoints to the same file, so the beginning is
written in place and is as long each time.
"""

from __future__ import annotations

import os
import time

from ...._suppress import suppress
from ...._typing import TYPE_CHECKING
from ..._agreement import METADATA_FILE
from ...rules.options import RecordingOptions
from ...trace_directory import KERNEL, PROGRAMS
from .clock import ClockRate, RecordingClock
from .metadata import DAMAGED_LINE, UNDAMAGED_LINE, metadata_head, metadata_rest
from .own_files import open_directory, open_regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["MetadataFile", "mark_damaged", "patch_clock", "settle_clock"]

METADATA = METADATA_FILE
_CLOCK = rb"freq = (\d+ *);\s+offset = (-?\d+ *);"
_UNDAMAGED = f"{UNDAMAGED_LINE}}};\n".encode()
"""The last line of the environment, and its end."""
_BEGINNING = 8192
"""Bytes in which the clock is described."""


BEGUN = ".metadata.new"
"""The file until all of it is there."""


class MetadataFile:
    """The metadata of a recording that runs.

    Args:
        directory: The trace, which is there.
        uuid: Its UUID.
        options: What is recorded.
        clock: The clock of the recording.
        is_counter: Whether it is the time-stamp counter.
        has_cpu_rings: Whether the threads on a CPU share a ring.
        kernel: The trace of the kernel that has the same clock, if there will be one.
    """

    def __init__(  # noqa: PLR0913 - facts of a recording, by name
        self,
        directory: str,
        uuid: str,
        options: RecordingOptions,
        clock: RecordingClock,
        *,
        is_counter: bool,
        has_cpu_rings: bool = False,
        kernel: str | None = None,
    ) -> None:
        self._kernel = kernel
        self._name = os.path.basename(directory)
        # Once: programs of the recording may put another directory in its place.
        self._directory = open_directory(directory)
        self._uuid = uuid
        self._options = options
        self._clock = clock
        self._is_counter = is_counter
        self._has_cpu_rings = has_cpu_rings
        self._created = time.time()
        # Once, too: what is written again must be as long as before.
        self._host = os.uname().nodename
        self.is_damaged = False
        """Whether programs have damaged the memory of the recording."""

    def close(self) -> None:
        """Give the directory back."""
        os.close(self._directory)

    def is_there(self) -> bool:
        """Tell whether the file is there, wherever its directory is by now."""
        with suppress(OSError):
            os.stat(METADATA, dir_fd=self._directory, follow_symlinks=False)
            return True
        return False

    def move(self, directory: str) -> None:
        """Go on with the metadata in another directory.

        Args:
            directory: The trace, which is there.

        Raises:
            OSError: It cannot be opened.
        """
        opened = open_directory(directory)
        os.close(self._directory)
        self._directory = opened

    def write(self, cost: int | None = None, rate: ClockRate | None = None) -> None:
        """Write the file.

        Args:
            cost: What a recorded call costs, nanoseconds, if that was measured.
            rate: That of the clock; ``None``: as it is known now.

        Raises:
            OSError: It cannot be written.
        """
        head = self._head(cost, rate)
        rest = metadata_rest(
            self._options,
            is_counter=self._is_counter,
            has_cpu_rings=self._has_cpu_rings,
        )
        parts = [(0, head + rest.encode())]
        if self.is_there():
            self._put(parts, os.O_WRONLY | os.O_CREAT)
            return
        # There as a whole or not at all, if this process is killed meanwhile.
        here = self._directory
        try:
            self._put(parts, os.O_WRONLY | os.O_CREAT, BEGUN)
            os.rename(BEGUN, METADATA, src_dir_fd=here, dst_dir_fd=here)
        except OSError:
            with suppress(OSError):
                os.unlink(BEGUN, dir_fd=here)
            raise

    def refine(self, cost: int | None = None, rate: ClockRate | None = None) -> None:
        """Write its beginning again; where that fails, what is there will do.

        Args:
            cost: As :meth:`write` has it.
            rate: As there.
        """
        rate = rate or self._clock.rate()
        head = self._head(cost, rate)
        parts = [(0, head)]
        if not self.is_damaged:
            # Another process that collects may have told of damage, which stays told.
            place = head.index(b"\n" + _UNDAMAGED) + 1
            after = place + len(UNDAMAGED_LINE)
            parts = [(0, head[:place]), (after, head[after:])]
        with suppress(OSError):
            try:
                self._put(parts, os.O_WRONLY)
            except FileNotFoundError:
                # Somebody has removed it.
                self.write(cost, rate)
        # Both domains of a recording have one clock.
        if self._kernel is not None:
            with suppress(OSError):
                patch_clock(self._kernel, rate)

    def _head(self, cost: int | None, rate: ClockRate | None) -> bytes:
        return metadata_head(
            self._uuid,
            rate or self._clock.rate(),
            self._options,
            self._name,
            is_counter=self._is_counter,
            call_cost=cost,
            created=self._created,
            host=self._host,
            is_damaged=self.is_damaged,
        ).encode()

    def _put(
        self, parts: Sequence[tuple[int, bytes]], flags: int, name: str = METADATA
    ) -> None:
        """Write some parts of a file, by their places."""
        file = open_regular(self._directory, name, flags)
        try:
            for place, part in parts:
                os.pwrite(file, part, place)
        finally:
            os.close(file)


def patch_clock(directory: str, rate: ClockRate) -> None:
    """Write the rate of a clock over the one that is in the metadata.

    Args:
        directory: The trace.
        rate: The rate.

    Raises:
        OSError: The file cannot be read or written.
    """
    # Recordings of programs alone do this in parts and in the background only.
    import re  # noqa: PLC0415 - see above

    file = _open_written(directory)
    try:
        found = re.search(_CLOCK, os.pread(file, _BEGINNING, 0))
        if found is None:
            return
        for group, number in ((1, rate.frequency), (2, rate.offset)):
            text = str(number).encode().ljust(len(found[group]))
            os.pwrite(file, text, found.start(group))
    finally:
        os.close(file)


def settle_clock(clock: RecordingClock, parts: Iterable[str]) -> None:
    """Let the rate of a clock change no more, and write it into parts that have ended.

    Args:
        clock: The clock.
        parts: Their directories; with the kernel, there is one for each domain in each.
    """
    rate = clock.settle()
    for part in parts:
        for name in ("", PROGRAMS, KERNEL):
            # Somebody may have moved it.
            with suppress(OSError):
                patch_clock(os.path.join(part, name), rate)


def mark_damaged(directory: str | os.PathLike[str]) -> None:
    """Write into the metadata that programs have damaged the memory of the recording.

    Args:
        directory: The trace; older ones have no room for that.

    Raises:
        OSError: The file cannot be read or written.
    """
    file = _open_written(directory)
    try:
        place = os.pread(file, _BEGINNING, 0).find(b"\n" + _UNDAMAGED)
        if place >= 0:
            os.pwrite(file, DAMAGED_LINE.encode(), place + 1)
    finally:
        os.close(file)


def _open_written(directory: str | os.PathLike[str]) -> int:
    opened = open_directory(directory)
    try:
        return open_regular(opened, METADATA, os.O_RDWR)
    finally:
        os.close(opened)
