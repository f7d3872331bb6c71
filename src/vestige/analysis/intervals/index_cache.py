"""Where indexes of intervals are kept: in the cache, or beside a trace.

A file holds a line, the key that it was made for, a checksum, and the index. The key
has all that the index depends on: the version, the files of the trace with their sizes
and times, and how names were looked up. So one that is stale, damaged or of another
version is as good as none, and is made again. Nothing is read from a directory, or a
file, that others can write to; and all of it may be deleted at any time.
"""

from __future__ import annotations

import os
import stat
import sys
import zlib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from ... import core
from ..._typing import Protocol
from ..._version import __version__
from ...cache_folder import CACHE_SIZE_VARIABLE, cache_directory, write_whole
from ...debuginfo import DebugInfoOptions, parse_size
from ...graph import Stream

__all__ = ["BESIDE", "IndexFile", "index_key"]

BESIDE = ".vestige-intervals"
"""The file beside a trace: readers of CTF leave out names that begin with a dot."""

DEFAULT_LIMIT = 1 << 30
"""How large the cache may become, in bytes, unless the environment says otherwise."""

_FOLDER = "intervals-2"
_HEAD = b"vestige index 1\n"
_CHECKSUM = 4
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class _Traces(Protocol):
    @property
    def streams(self) -> Sequence[Stream]:
        """The data streams."""

    @property
    def directories(self) -> Sequence[Path]:
        """The directories of the traces."""


def index_key(
    traces: _Traces, options: DebugInfoOptions, opening: Mapping[str, object]
) -> bytes:
    """Return all that an index of some traces depends on.

    Args:
        traces: The traces.
        options: How names are looked up.
        opening: How the traces were opened, where that is not as usual.
    """
    files = {path for stream in traces.streams for path in stream.handle.paths}
    files |= {f"{folder}/metadata" for folder in traces.directories}
    paths = sorted(map(os.path.abspath, files))
    described = [(path, *_identity(path)) for path in paths]
    core_file = sys.modules[core.CallFold.__module__].__file__ or ""
    # What prints is another object in each process, and no name depends on it.
    names = repr(options._replace(notice=None))
    opened = sorted(opening.items())
    parts = (__version__, _identity(core_file), names, opened, described)
    return sha256(repr(parts).encode("utf-8", "surrogateescape")).digest()


def _identity(path: str) -> tuple[int, ...]:
    try:
        status = os.stat(path)  # noqa: PTH116 - the path is text
    except OSError:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


class IndexFile:
    """The place of an index.

    Args:
        folder: The directory.
        name: The name of the file in it.
        key: What the index depends on.
        limit: How large all indexes in the directory may become, in bytes; any size by
            default.
    """

    def __init__(
        self, folder: str, name: str, key: bytes, limit: int | None = None
    ) -> None:
        self.path = os.path.join(folder, name)  # noqa: PTH118 - the path is text
        self._folder = folder
        self._name = name
        self._key = key
        self._limit = limit

    @classmethod
    def in_cache(cls, key: bytes) -> IndexFile | None:
        """Return the place in the cache; ``None`` without a cache.

        Args:
            key: What the index depends on.
        """
        limit = parse_size(os.environ.get(CACHE_SIZE_VARIABLE, ""))
        directory = cache_directory(os.environ)
        if directory is None or limit == 0:
            return None
        folder = os.path.join(directory, _FOLDER)  # noqa: PTH118 - as above
        limit = DEFAULT_LIMIT if limit is None else limit
        return cls(folder, f"{key.hex()[:32]}.index", key, limit)

    def read(self) -> core.IntervalIndex | None:
        """Return the index; ``None`` if there is none that can be used."""
        try:
            return self._read()
        except OSError:
            return None

    def _read(self) -> core.IntervalIndex | None:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
        folder = os.open(self._folder, flags | os.O_DIRECTORY)
        try:
            if not _is_own(os.fstat(folder)):
                return None
            handle = os.open(self._name, flags | os.O_NONBLOCK, dir_fd=folder)
        finally:
            os.close(folder)
        # With a buffer, all of it would be in memory twice for a moment.
        with open(handle, "rb", buffering=0) as file:  # noqa: PTH123 - it is open already
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or not _is_own(status):
                return None
            head = _HEAD + self._key
            before, body = file.read(len(head) + _CHECKSUM), file.readall()
            if before != head + zlib.crc32(body).to_bytes(_CHECKSUM, "little"):
                return None
            os.utime(self.path)
            # The same file, whatever there is by now under its name.
            return core.IntervalIndex.from_bytes(body, f"/proc/self/fd/{handle}")

    def write(self, index: core.IntervalIndex) -> str | None:
        """Keep an index.

        Args:
            index: The index.

        Returns:
            Why it cannot be kept; ``None`` if it was.
        """
        body = index.to_bytes()
        if self._limit is not None and len(body) > self._limit:
            return "the index is larger than the cache may become"
        checksum = zlib.crc32(body).to_bytes(_CHECKSUM, "little")
        try:
            if self._limit is not None:
                os.makedirs(self._folder, mode=0o700, exist_ok=True)  # noqa: PTH103
            data = b"".join((_HEAD, self._key, checksum, body))
            write_whole(self._folder, self._name, data)
        except OSError as error:
            return f"{self._folder}: {error.strerror or error}"
        if self._limit is not None:
            self._shrink(self._limit)
        return None

    def _shrink(self, limit: int) -> None:
        """Delete the indexes used longest ago until all are small enough."""
        found = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                found.append((status.st_mtime, status.st_size, entry.path))
        size = sum(one[1] for one in found)
        for _, own, path in sorted(found):
            if size <= limit or path == self.path:
                break
            try:
                os.unlink(path)  # noqa: PTH108 - the path is text
            except OSError:
                continue
            size -= own


def _is_own(status: os.stat_result) -> bool:
    """Tell whether only this user can have written something."""
    return status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_WRITE
