"""Where the data files of a recording are that is rotated while it is read.

The recorder moves what it has written to ``archives/BEGIN-END-NUMBER`` and goes on in
new files of the same names, see :mod:`vestige.record.backends.in_process.chunks`. Who
reads on takes the parts in their order, however many there are by then.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..._suppress import suppress
from ..._typing import TYPE_CHECKING, NamedTuple
from ...ctf import data_file_names
from ...errors import NotATraceError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = [
    "ARCHIVES",
    "KERNEL",
    "PROGRAMS",
    "FoundPart",
    "Parts",
    "Place",
    "others_of",
]

ARCHIVES = "archives"
"""Beside a recording that is rotated: what was recorded before."""
PROGRAMS, KERNEL = "ust", "kernel"
"""The directories of both domains in a recording that has both."""


def archive_of(directory: str | os.PathLike[str]) -> tuple[str, str] | None:
    """Tell which archive a trace is.

    Args:
        directory: That of the trace.

    Returns:
        The name of the archive, and that of the trace in it, which may be empty;
        ``None`` if it is none.
    """
    path = Path(directory)
    inner = path.name if path.name in {PROGRAMS, KERNEL} else ""
    archive = path.parent if inner else path
    return (archive.name, inner) if archive.parent.name == ARCHIVES else None


def others_of(
    directory: str | os.PathLike[str], found: Iterable[str | os.PathLike[str]]
) -> list[str]:
    """Return the archives of a trace that are read as traces of their own.

    Args:
        directory: That of the trace.
        found: The directories of all traces that are read.
    """
    name = Path(directory).name
    own = name if name in {PROGRAMS, KERNEL} else ""
    archives = map(archive_of, found)
    return [one[0] for one in archives if one is not None and one[1] == own]


class FoundPart(NamedTuple):
    """A file of which something was not read yet."""

    path: Path
    size: int
    is_moved: bool
    """Whether it is in an archive: nobody writes to it any more."""

    def is_still_there(self, inode: int) -> bool:
        """Tell whether its path has not led elsewhere meanwhile.

        Args:
            inode: That of the file.
        """
        with suppress(OSError):
            return self.path.stat().st_ino == inode
        return False


class Place:
    """How far the files of a name are read."""

    def __init__(self) -> None:
        self.inode = 0
        """That of the file that is read now; 0: none was yet."""
        self.end = 0
        """The bytes of it that were read."""
        self.part = 0
        """How many archives have nothing more, or nothing at all."""


class Parts:
    """The archives of a recording, and its present part.

    Args:
        directory: The trace in the present part.
        others: The archives that somebody else reads; ``None``: those that are there.
    """

    def __init__(self, directory: Path, others: Collection[str] | None = None) -> None:
        self._directory = directory
        # With the kernel, each part has a directory for each domain.
        is_of_both = directory.name in {PROGRAMS, KERNEL}
        above = directory.parent
        self._archives = (above.parent if is_of_both else above) / ARCHIVES
        self._inner = directory.name if is_of_both else ""
        self._seen = set(self._listed() if others is None else others)
        self._parts: list[Path] = []
        self._names: dict[str, None] = {}

    def _listed(self) -> list[str]:
        with suppress(OSError):
            return [one.name for one in self._archives.iterdir()]
        return []

    @property
    def is_rotated(self) -> bool:
        """Whether the recording has had more than one part."""
        return bool(self._parts)

    def is_between(self) -> bool:
        """Tell whether the present part was moved, and the next one is to come."""
        return not self._directory.exists() and self._archives.is_dir()

    def look(self) -> None:
        """See which parts have ended."""
        new = [one for one in self._listed() if one not in self._seen]
        for name in sorted(new, key=_number):
            place = self._archives / name / self._inner
            if not place.is_dir():
                # That of the other domain comes first.
                continue
            self._seen.add(name)
            self._parts.append(place)
            # It may have been removed.
            with suppress(NotATraceError):
                self._names.update(dict.fromkeys(data_file_names(place)))

    def names(self) -> list[str]:
        """Return the names of all data files.

        Raises:
            NotATraceError: The directory cannot be listed.
        """
        there: list[str] = []
        try:
            there = [*data_file_names(self._directory)]
        except NotATraceError:
            # The whole directory was moved, and there will be another one.
            if not self.is_between():
                # It has just come, or never will.
                there = [*data_file_names(self._directory)]
        self.look()
        return [*dict.fromkeys((*self._names, *there))]

    def next(self, name: str, place: Place) -> FoundPart | None:
        """Find what comes next of the files of a name.

        Args:
            name: The name.
            place: How far they are read; it is moved on to the file that is found.

        Returns:
            The file; ``None`` if there is nothing more now.
        """
        present = self._present(name)
        if present is None or present.st_ino != place.inode:
            # It was moved, perhaps a moment ago.
            self.look()
            if (moved := self._moved(name, place)) is not None:
                return moved
        if present is None:
            return None
        if present.st_ino != place.inode:
            place.inode, place.end = present.st_ino, 0
        if present.st_size <= place.end:
            return None
        return FoundPart(self._directory / name, present.st_size, is_moved=False)

    def _moved(self, name: str, place: Place) -> FoundPart | None:
        """Find what comes next in the archives."""
        for number in range(place.part, len(self._parts)):
            path = self._parts[number] / name
            try:
                status = path.stat()
            except OSError:
                continue
            place.part = number
            if status.st_ino != place.inode:
                place.inode, place.end = status.st_ino, 0
            if status.st_size > place.end:
                return FoundPart(path, status.st_size, is_moved=True)
            place.part = number + 1
        # To the newest one, files may be moved at this moment.
        place.part = max(place.part, len(self._parts) - 1)
        return None

    def _present(self, name: str) -> os.stat_result | None:
        with suppress(OSError):
            return (self._directory / name).stat()
        return None


def _number(archive: str) -> int:
    """Return the number of an archive, with which its name ends."""
    number = archive.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0
