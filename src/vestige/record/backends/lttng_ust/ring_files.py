"""Where the ring buffers of a trace lie, and what is left there by a killed daemon.

A description beside the rings says how they are laid out and which trace they belong
to. So what programs had committed is read after any end of the daemon.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from ...._typing import NamedTuple
from ....errors import RecordError
from ....owner_rights import owner_rights
from .overwriting_ring import OverwritingRing
from .ring import Ring, RingShape
from .trace_files import DataStreamFile, OwnerFiles, write_all

__all__ = [
    "STATE_FILE",
    "Left",
    "LeftRings",
    "RingFolder",
    "RingOwner",
    "left_rings",
    "make_private",
    "remove_folder",
    "remove_rings",
]

DESCRIPTION = "vestige-rings.json"
STATE_FILE = "vestige-state"
"""State dumps that the daemon makes. What channels write ends with a number."""
BESIDE_RINGS = ("metadata", STATE_FILE)
"""What else a snapshot of the rings needs."""
VERSION = 1
MOST_CPUS = 1 << 13
MOST_NAMESAKES = 1000
SMALLEST, LARGEST = 4096, 1 << 40
"""Bytes of a sub-buffer, and of a ring."""


def make_private(path: str) -> None:
    """Make a directory that nobody else can touch.

    Args:
        path: The directory; it may be there.

    Raises:
        RecordError: It is somebody else's.
        OSError: It cannot be made.
    """
    Path(path).mkdir(mode=0o700, exist_ok=True)
    facts = Path(path).lstat()
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
        raise RecordError("expected a directory of this user", path=path)
    Path(path).chmod(0o700)


def remove_folder(path: str) -> None:
    """Remove a directory of rings with all that is in it.

    Args:
        path: The directory, which :func:`make_private` has made.
    """
    shutil.rmtree(path, ignore_errors=True)


class RingFolder:
    """The rings of a trace.

    Args:
        root: The directory of all rings of a session.
        parts: The directory below it, as that of the trace below the output.
        facts: What a description says of the trace.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(
        self, root: str, parts: tuple[str, ...], facts: dict[str, Any]
    ) -> None:
        self._root = Path(root)
        self._facts: dict[str, Any] = {
            "version": VERSION,
            "made": time.time(),
            "channels": {},
            "parts": parts,
            **facts,
        }
        with self.rights():
            self.path = _new_folder(Path(root, *parts))

    @property
    def files(self) -> OwnerFiles:
        """The directory, for files beside the rings."""
        # Rings that are not where the owner wants them are the daemon's own.
        uid = self._facts["uid"] if self._facts["is_owners"] else os.geteuid()
        return OwnerFiles(str(self.path), uid, self._facts["gid"])

    def rights(self) -> AbstractContextManager[None]:
        """Return a context with the rights of the owner of the session."""
        uid = self._facts["uid"] if self._facts["is_owners"] else os.geteuid()
        return owner_rights(uid, self._facts["gid"])

    def describe(self, channel: str, facts: dict[str, int]) -> None:
        """Write what is to be known of the rings of a channel.

        Args:
            channel: Its name.
            facts: Its geometry and its limits.
        """
        self._facts["channels"][channel] = facts
        with self.rights():
            new = self.path / f"{DESCRIPTION}.new"
            new.write_text(json.dumps(self._facts))
            new.replace(self.path / DESCRIPTION)

    def remove(self) -> None:
        """Remove the rings, and the directories above that have no others."""
        with self.rights():
            remove_rings(self.path, self._root)


def remove_rings(path: Path, root: Path) -> None:
    """Remove the rings of a trace, and the directories above that have no others.

    Args:
        path: The directory of the rings.
        root: The last one above that may go.
    """
    shutil.rmtree(path, ignore_errors=True)
    for folder in (path, *path.parents):
        if folder == root.parent:
            return
        with suppress(OSError):
            folder.rmdir()


def _new_folder(wanted: Path) -> Path:
    """Make a directory of its own: programs elsewhere may have the same name and ID."""
    wanted.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in range(1, MOST_NAMESAKES):
        path = wanted if number == 1 else wanted.with_name(f"{wanted.name}-{number}")
        with suppress(FileExistsError):
            path.mkdir(mode=0o700)
            return path
    raise FileExistsError(17, "too many rings of this name", str(wanted))


class Left(NamedTuple):
    """What a daemon that was killed had not written of a session."""

    session: str
    lost: dict[str, tuple[int, int]]
    """Event records without room, and packets that are lost, by channel."""

    last_event: int
    """When something was recorded last, by the clock of programs; 0 for never."""

    made: float
    """Since when programs had these rings, in seconds since 1970."""


class RingOwner(NamedTuple):
    """Whose rings are read, and whose trace they are written to."""

    uid: int
    gid: int


class LeftRings(NamedTuple):
    """Rings that a daemon has left."""

    folder: Path
    facts: dict[str, Any]
    owner: RingOwner

    def rings(self) -> Iterator[tuple[str, Ring, dict[str, int]]]:
        """Yield each ring with its channel and the facts of that."""
        for channel, facts in self.facts["channels"].items():
            is_overwriting = bool(facts.get("is_overwriting", False))
            shape = RingShape(facts["subbuf_size"], facts["num_subbuf"], is_overwriting)
            check_shape(shape)
            kind = OverwritingRing if is_overwriting else Ring
            for cpu in range(min(facts["cpus"], MOST_CPUS)):
                path = str(self.folder / f"{channel}_{cpu}")
                ring = None
                with suppress(OSError), owner_rights(*self.owner):
                    ring = kind(path, cpu, shape, None)
                if ring is not None:
                    yield channel, ring, facts

    def save(self, uid: int, gid: int, snapshot: OwnerFiles | None = None) -> Left:
        """Append what programs had committed to the data stream files of the trace.

        Args:
            uid: Whose that is.
            gid: As above.
            snapshot: Where it is written to if there is no trace but snapshots.

        Returns:
            What was lost.

        Raises:
            OSError: They cannot be written.
        """
        lost: dict[str, tuple[int, int]] = {}
        last_event = 0
        output, files = self.facts["output"], OwnerFiles("", uid, gid)
        if not output and snapshot is not None:
            output, files = self._begin_snapshot(snapshot), snapshot
        for channel, ring, facts in self.rings():
            last_event = max(last_event, ring.last_event)
            try:
                if output:
                    _save(ring, output, channel, facts, files)
                events, packets = lost.get(channel, (0, 0))
                packets += ring.damaged + ring.overwritten + ring.cut
                lost[channel] = (events + ring.lost, packets)
            finally:
                ring.close()
        session = str(self.facts.get("session", ""))
        return Left(session, lost, last_event, self._made())

    def _begin_snapshot(self, snapshot: OwnerFiles) -> str:
        """Copy what is beside the rings to a snapshot; return its directory there."""
        parts = self.facts["parts"]
        if any(not one or one in {".", ".."} or "/" in one for one in parts):
            raise ValueError("expected names of directories")
        folder = snapshot.make_folder(*parts)
        for name in BESIDE_RINGS:
            with suppress(FileNotFoundError):
                with owner_rights(*self.owner):
                    raw = (self.folder / name).read_bytes()
                file = snapshot.open(f"{folder}/{name}")
                try:
                    write_all(file, raw)
                finally:
                    os.close(file)
        return folder

    def _made(self) -> float:
        """Return when the rings were made, whatever a user has written there."""
        made, now = self.facts.get("made"), time.time()
        return made if isinstance(made, float) and 0 < made <= now else now


def check_shape(shape: RingShape) -> None:
    """Refuse rings that nobody has made.

    Args:
        shape: The sub-buffers.

    Raises:
        ValueError: Their size or their number is none.
    """
    for value in (shape.subbuf_size, shape.num_subbuf):
        if not isinstance(value, int) or value < 1 or value & (value - 1):
            raise ValueError("expected a power of two")
    if shape.subbuf_size < SMALLEST or shape.subbuf_size * shape.num_subbuf > LARGEST:
        raise ValueError("expected the size of a ring")


def _save(
    ring: Ring, output: str, channel: str, facts: dict[str, int], files: OwnerFiles
) -> None:
    limits = (facts["tracefile_size"], facts["tracefile_count"])
    name = f"{channel}_{ring.cpu}"
    # Snapshots have no indexes, and are new.
    is_trace = not files.folder
    file = DataStreamFile(
        files, output, name, limits, is_continued=is_trace, has_index=is_trace
    )
    try:
        if is_trace and (Path(output, name).exists() or limits[0]):
            file.resume()
            ring.resume(file.last)
        # One that a killed program has left may be before each full one.
        for _ in range(facts["num_subbuf"] + 1):
            _write_all(ring, file)
            stuck = ring.stuck
            if stuck is None:
                break
            ring.end_stuck(stuck[0])
        ring.end_open()
        _write_all(ring, file)
    finally:
        file.close()


def _write_all(ring: Ring, file: DataStreamFile) -> None:
    for packet in ring.take():
        file.write(packet)


def left_rings(root: str, owner: RingOwner) -> Iterator[LeftRings]:
    """Yield the rings that lie below a directory.

    Args:
        root: The directory.
        owner: Whose rings these are; those of others are left alone.
    """
    found = []
    with owner_rights(*owner):
        for path in sorted(Path(root).rglob(DESCRIPTION)):
            with suppress(OSError, ValueError, KeyError, TypeError):
                if path.lstat().st_uid == owner.uid:
                    facts = json.loads(path.read_text())
                    if facts["version"] == VERSION:
                        found.append(LeftRings(path.parent, facts, owner))
    yield from found
