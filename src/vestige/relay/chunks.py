"""Trace chunks: where the files of a session are between two rotations.

The names of directories are LTTng's. A session that has not been rotated has its files
in its own directory; while a rotation goes on, the chunk that ends is in
``.tmp_old_chunk`` and the next one in ``.tmp_new_chunk``. What becomes of a chunk that
was closed is done once nobody writes to it or reads it any more.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from typing import Final

from .._typing import TYPE_CHECKING
from ..errors import VestigeError
from .paths import Folder, chunk_date

if TYPE_CHECKING:
    from ._relay import Chunk as Token
    from ._relay import Directory
    from .peers import Share

__all__ = ["ARCHIVES", "Action", "Chunk"]

ARCHIVES = "archives"
OLD: Final = ".tmp_old_chunk"
NEW: Final = ".tmp_new_chunk"
INDEX = "index"


class Action:
    """What becomes of a trace chunk that was closed, as peers number it."""

    ARCHIVE = 0
    NOTHING = 1
    DELETE = 2


class Chunk:
    """A trace chunk.

    Args:
        folder: The directory of its session; it is closed with the chunk.
        token: What tells that nobody uses it any more.
        path: Where it is from there; empty for the directory itself.
        share: What its peer may have open; that of the folder is taken.
    """

    def __init__(
        self,
        folder: Folder,
        token: Token,
        path: str,
        share: Share,
    ) -> None:
        self.folder = folder
        self._share = share
        self.path = path
        self.number = 0
        """As its session counts."""

        self.begin = 0
        """When it began, seconds since 1970."""

        self.is_named = False
        """Whether the session has named it; then it is not moved."""

        self.action: int | None = None
        self.end: int | None = None
        self._token: Token | None = token
        self._directories: dict[str, Directory] = {}
        self._users: Counter[str] = Counter()
        """How many streams a directory was returned for."""

        self._files: set[tuple[str, str]] = set()

    @property
    def name(self) -> str:
        """The name of its directory, once it has one of its own."""
        if self.is_named:
            return self.path
        end = "" if self.end is None else f"-{chunk_date(self.end)}"
        return f"{chunk_date(self.begin)}{end}-{self.number}"

    @property
    def is_none(self) -> bool:
        """Whether there is nothing of it: so senders say that others were archived."""
        return self.begin == 0 and not self._files

    def directory(self, path: str) -> Directory:
        """Return a directory of it, which is made.

        Args:
            path: From the chunk.

        Raises:
            OSError: It cannot be made.
            VestigeError: The chunk was closed, or too many are open.
        """
        found = self._directories.get(path)
        if found is None:
            if self._token is None:
                raise VestigeError("the trace chunk was closed")
            self._share.take()
            try:
                whole = "/".join(part for part in (self.path, path) if part)
                with self.folder.below(whole) as opened:
                    found = self._token.directory(opened.descriptor)
            except OSError:
                self._share.give()
                raise
            self._directories[path] = found
        self._users[path] += 1
        return found

    def release(self, path: str) -> None:
        """Let go of a directory for one of the streams that it was returned for.

        Programs that come and go have a directory each.
        """
        self._users[path] -= 1
        if self._users[path] <= 0:
            del self._users[path]
            if self._directories.pop(path, None) is not None:
                self._share.give()

    @property
    def is_left(self) -> bool:
        """Whether nothing more is added to it."""
        return self._token is None

    def note_file(self, path: str, channel: str) -> None:
        """Note the files of a stream, which go if the chunk is deleted."""
        self._files.add((path, channel))

    def leave(self) -> None:
        """Add nothing more to it; it may be left by others at once."""
        self._share.give(len(self._directories))
        self._directories.clear()
        self._token = None

    def move(self, path: str) -> None:
        """Move all of it.

        Args:
            path: Where to, from the directory of the session; empty for that itself.

        Raises:
            OSError: It cannot be moved.
        """
        if path == self.path or self.is_named:
            return
        session = self.folder.descriptor
        if self.path and path:
            os.rename(self.path, path, src_dir_fd=session, dst_dir_fd=session)
        else:
            tops = {directory.split("/")[0] for directory, _ in self._files} - {""}
            with self.folder.below(self.path) as here, self.folder.below(path) as there:
                for top in sorted(tops):
                    with suppress(FileNotFoundError):
                        os.rename(
                            top,
                            top,
                            src_dir_fd=here.descriptor,
                            dst_dir_fd=there.descriptor,
                        )
            if self.path:
                with suppress(OSError):
                    os.rmdir(self.path, dir_fd=session)
        self.path = path

    def finish(self) -> None:
        """Do what is to become of it; nobody uses it any more.

        Raises:
            OSError: It cannot be done.
        """
        try:
            if self.action == Action.ARCHIVE and not self.is_named and not self.is_none:
                self.move(OLD)
                with self.folder.below(ARCHIVES):
                    pass
                self.move(f"{ARCHIVES}/{self.name}")
            elif self.action == Action.DELETE:
                self._remove()
        finally:
            self.folder.close()
            self._share.give()

    def _remove(self) -> None:
        """Remove its files, and the directories that are empty then."""
        with self.folder.below(self.path) as chunk:
            for path, channel in sorted(self._files):
                with chunk.below(path) as folder:
                    _remove_files(folder, channel)
                _remove_empty(chunk, path)
        if self.path:
            with suppress(OSError):
                os.rmdir(self.path, dir_fd=self.folder.descriptor)


def _names(folder: Folder) -> list[str]:
    # pathlib does not know directories that are open.
    return os.listdir(folder.descriptor)  # noqa: PTH208 - see above


def _remove_empty(chunk: Folder, path: str) -> None:
    """Remove a directory and those that it is in, as far as they are empty."""
    while path:
        with suppress(OSError):
            os.rmdir(path, dir_fd=chunk.descriptor)
        path = path.rpartition("/")[0]


def _remove_files(folder: Folder, channel: str) -> None:
    """Remove the data files and the index files of a stream."""

    def is_of_channel(name: str) -> bool:
        stem, mark, number = name.removesuffix(".idx").rpartition("_")
        is_numbered = bool(mark) and stem == channel and number.isdecimal()
        return is_numbered or name.removesuffix(".idx") == channel

    for name in filter(is_of_channel, _names(folder)):
        os.unlink(name, dir_fd=folder.descriptor)
    if INDEX not in _names(folder):
        return
    with folder.below(INDEX) as index:
        for name in filter(is_of_channel, _names(index)):
            os.unlink(name, dir_fd=index.descriptor)
    with suppress(OSError):
        os.rmdir(INDEX, dir_fd=folder.descriptor)
