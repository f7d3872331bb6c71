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

from ....errors import RecordError
from .crash_header import CRASH_HEADER_SIZE, CrashHeader, read_crash_header
from .overwriting_ring import OverwritingRing
from .ring import Ring, RingShape
from .ring_files import check_shape

__all__ = ["extract"]

METADATA = "metadata"


def extract(source: str, target: str) -> list[Path]:
    """Write the traces of all rings below a directory.

    Args:
        source: The directory, as ``create --shm-path`` was given it.
        target: Where the traces are written, below directories as in the source.

    Returns:
        The directories of the traces.

    Raises:
        RecordError: A ring has a layout that is not known, or the target has files.
        OSError: Something cannot be read or written.
    """
    made = []
    failure: RecordError | None = None
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
        for file in sorted(folder.iterdir()):
            try:
                header = _header(file)
                if header is not None:
                    _extract_ring(file, header, trace / file.name)
            except ValueError as error:
                # The others are read all the same.
                failure = RecordError(str(error), path=str(file))
        made.append(trace)
    if failure is not None:
        raise failure
    return made


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


def _header(file: Path) -> CrashHeader | None:
    """Return how a ring is laid out; ``None`` for other files."""
    if file.name == METADATA or not file.is_file() or _leads_elsewhere(file):
        return None
    with file.open("rb") as stream:
        return read_crash_header(stream.read(CRASH_HEADER_SIZE))


def _extract_ring(file: Path, header: CrashHeader, target: Path) -> None:
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
        finally:
            ring.close()


def _write_all(ring: Ring, file: int) -> None:
    for packet in ring.take():
        done = 0
        while done < len(packet.data):
            with packet.data[done:] as rest:
                done += os.write(file, rest)
