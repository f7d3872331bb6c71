"""Where the ring buffers of a trace lie, and what is left there by a killed daemon.

A description beside the rings says how they are laid out and which trace they belong
to. So what programs had committed is read after any end of the daemon.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from ...._typing import NamedTuple
from ....errors import RecordError
from ....owner_rights import owner_rights
from .ring import Ring
from .trace_files import DataStreamFile, OwnerFiles

__all__ = ["LeftRings", "RingFolder", "left_rings", "make_private", "remove_folder"]

DESCRIPTION = "vestige-rings.json"
VERSION = 1


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
        self.path = Path(root, *parts)
        # What a daemon before this one has left was read before.
        self._facts: dict[str, Any] = {"version": VERSION, "channels": {}, **facts}
        with self.rights():
            shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir(mode=0o700, parents=True)

    def rights(self) -> AbstractContextManager[None]:
        """Return a context with the rights of the owner of the session."""
        # Rings that are not where the owner wants them are the daemon's own.
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
            self._remove()

    def _remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        for folder in (self.path, *self.path.parents):
            if folder == self._root.parent:
                return
            with suppress(OSError):
                folder.rmdir()


class LeftRings(NamedTuple):
    """Rings that a daemon has left."""

    folder: Path
    facts: dict[str, Any]

    def rings(self) -> Iterator[tuple[str, Ring, dict[str, int]]]:
        """Yield each ring with its channel and the facts of that."""
        for channel, facts in self.facts["channels"].items():
            geometry = (facts["subbuf_size"], facts["num_subbuf"])
            for cpu in range(facts["cpus"]):
                path = str(self.folder / f"{channel}_{cpu}")
                with suppress(OSError):
                    yield channel, Ring(path, cpu, geometry, None), facts

    def save(self, output: str, uid: int, gid: int) -> int:
        """Append what programs had committed to the data stream files of a trace.

        Args:
            output: The directory of the trace.
            uid: Whose it is.
            gid: As above.

        Returns:
            How many packets that were.

        Raises:
            OSError: They cannot be written.
        """
        count = 0
        files = OwnerFiles(output, uid, gid)
        for channel, ring, facts in self.rings():
            file = DataStreamFile(
                files,
                output,
                f"{channel}_{ring.cpu}",
                (facts["tracefile_size"], facts["tracefile_count"]),
                is_continued=True,
            )
            try:
                for is_open_ended in (False, True):
                    if is_open_ended:
                        ring.end_open()
                    for packet in ring.take():
                        file.write(packet)
                        count += 1
            finally:
                file.close()
                ring.close()
        return count


def left_rings(root: str) -> Iterator[LeftRings]:
    """Yield the rings that lie below a directory.

    Args:
        root: The directory; rings of other users there are none.
    """
    for path in sorted(Path(root).rglob(DESCRIPTION)):
        with suppress(OSError, ValueError, KeyError, TypeError):
            if path.lstat().st_uid == os.geteuid():
                facts = json.loads(path.read_text())
                if facts["version"] == VERSION:
                    yield LeftRings(path.parent, facts)
