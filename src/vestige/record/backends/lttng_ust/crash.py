"""What is left in ring buffers of a session whose daemon is gone, as a trace.

The rings are only read: what is done to them to read them is done to copies.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ...._typing import NamedTuple
from ....errors import RecordError
from .crash_header import CRASH_HEADER_SIZE, CrashHeader, read_crash_header
from .overwriting_ring import OverwritingRing
from .ring import Ring, RingShape
from .ring_files import DESCRIPTION, STATE_FILE, check_shape

__all__ = ["Extracted", "extract"]

METADATA = "metadata"
NO_RINGS = {METADATA, STATE_FILE, DESCRIPTION, f"{DESCRIPTION}.new"}
"""Other files of a directory of rings."""


class Extracted(NamedTuple):
    """What was written, and what could not be."""

    traces: list[Path]
    """The directories of the traces."""

    damage: list[str]
    """What was left out of them and why, a sentence for each file."""


def extract(source: str, target: str) -> Extracted:
    """Write the traces of all rings below a directory.

    Args:
        source: The directory, as ``create --shm-path`` was given it.
        target: Where the traces are written, below directories as in the source.

    Returns:
        The traces. A ring that is damaged keeps no other from being read.

    Raises:
        RecordError: There are no rings, or the target has files.
        OSError: Something cannot be read or written.
    """
    found = Extracted([], [])
    if Path(target).is_dir() and any(Path(target).iterdir()):
        raise RecordError("expected a new or an empty directory", path=target)
    for folder in _folders(Path(source)):
        metadata = folder / METADATA
        if _leads_elsewhere(metadata):
            raise RecordError(
                "expected a file, not somebody's link to a file of others",
                path=str(metadata),
            )
        trace = Path(target, folder.relative_to(source))
        trace.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(metadata, trace / METADATA)
        state = folder / STATE_FILE
        if state.is_file() and not state.is_symlink():
            shutil.copyfile(state, trace / STATE_FILE)
        for file in sorted(folder.iterdir()):
            if file.name in NO_RINGS or not file.is_file():
                continue
            try:
                header = _header(file)
                damage = _extract_ring(file, header, trace / file.name)
            except ValueError as error:
                damage = f"left out: {error}"
            if damage is not None:
                found.damage.append(f"{file}: {damage}")
        found.traces.append(trace)
    return found


def _folders(source: Path) -> Iterator[Path]:
    """Yield the directories that have metadata."""
    if not source.is_dir():
        raise RecordError("expected a directory of ring buffers", path=str(source))
    for path, _, names in os.walk(source):
        if METADATA in names:
            yield Path(path)


def _leads_elsewhere(file: Path) -> bool:
    """Tell whether somebody else has made a link to a file that is not theirs.

    Root reads the rings of users, who could so read what they may not.
    """
    link = file.lstat()
    return stat.S_ISLNK(link.st_mode) and link.st_uid not in {
        os.geteuid(),
        file.stat().st_uid,
    }


def _header(file: Path) -> CrashHeader:
    """Return how a ring is laid out.

    Raises:
        ValueError: The file is none that could be read.
    """
    if _leads_elsewhere(file):
        raise ValueError("expected a file, not somebody's link to a file of others")
    with file.open("rb") as stream:
        found = read_crash_header(stream.read(CRASH_HEADER_SIZE))
    if found is None:
        size = file.stat().st_size
        raise ValueError(
            f"its {size} bytes do not begin as a ring buffer does: expected "
            f"{CRASH_HEADER_SIZE} bytes that say how it is laid out"
        )
    return found


def _extract_ring(file: Path, header: CrashHeader, target: Path) -> str | None:
    """Write what is in a ring; return what of it made no sense."""
    shape = RingShape(header.subbuf_size, header.num_subbuf, header.is_overwriting)
    check_shape(shape)
    kind = OverwritingRing if shape.is_overwriting else Ring
    with (
        tempfile.TemporaryDirectory(dir=target.parent, prefix=".ring-") as folder,
        target.open("wb", buffering=0) as output,
    ):
        copy = str(Path(folder, file.name))
        shutil.copyfile(file, copy)
        ring = kind(copy, 0, shape, None)
        # What was cut reads as zeros, and LTTng's ends within a page.
        os.truncate(copy, max(ring.memory_size, file.stat().st_size))
        try:
            if not ring.is_laid_out_as(header):
                raise ValueError("expected a ring buffer of LTTng 2.13")
            # One that a killed program has left may be before each full one.
            for _ in range(shape.num_subbuf + 1):
                _write_all(ring, output.fileno())
                stuck = ring.stuck
                if stuck is None:
                    break
                ring.end_stuck(stuck[0])
            ring.end_open()
            _write_all(ring, output.fileno())
            return _damage_of(ring, file, header)
        finally:
            ring.close()


def _damage_of(ring: Ring, file: Path, header: CrashHeader) -> str | None:
    """Say what of a ring made no sense; what was overwritten in time is no damage."""
    said = []
    size = file.stat().st_size
    if size < header.memory_size:
        said.append(f"it ends after {size} of {header.memory_size} bytes")
    if ring.damaged:
        said.append(f"packets left out that make no sense: {ring.damaged}")
    if ring.cut:
        said.append(f"packets without their last records: {ring.cut}")
    if not ring.is_drained():
        said.append("its counters make no sense, so packets may be missing")
    return "; ".join(said) or None


def _write_all(ring: Ring, file: int) -> None:
    for packet in ring.take():
        done = 0
        while done < len(packet.data):
            with packet.data[done:] as rest:
                done += os.write(file, rest)
