"""Where indexes of debug information are kept between runs.

The cache is a directory of *entries*, one for each debug file, named after a digest of
its key. An entry holds *parts*, files that are written once, under a temporary name,
and renamed: a reader sees whole parts or none, and writers do not meet. Nothing in the
cache is missed when it is gone, so any of it may be deleted at any time.

What cannot be written is no error. :attr:`SymbolCache.problem` has the reason.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from ...cache_folder import (
    ABANDONED_AFTER,
    CACHE_SIZE_VARIABLE,
    TEMPORARY,
    cache_directory,
    write_whole,
)

__all__ = [
    "CacheEntry",
    "SymbolCache",
]

DEFAULT_LIMIT = 1 << 30
"""How large the cache may become, in bytes, unless the environment says otherwise."""

_FOLDER = "symbols-1"
_PART = ".part"
_SIZE = re.compile(r"\s*(\d{1,15})\s*([KMGT]?)i?B?\s*", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


class SymbolCache:
    """Index files in a directory of bounded size.

    Args:
        directory: Where it is; need not exist. ``None``: there is no cache.
        limit: How large it may become, in bytes; 0: there is no cache.
    """

    def __init__(self, directory: Path | None, limit: int = DEFAULT_LIMIT) -> None:
        self.directory = None if directory is None or not limit else directory / _FOLDER
        self.limit = limit
        self.problem: str | None = None
        """Why the last index could not be kept."""

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] = os.environ
    ) -> SymbolCache:
        """Take directory and limit from the environment.

        Args:
            environment: The variables.

        Returns:
            The cache.
        """
        limit = parse_size(environment.get(CACHE_SIZE_VARIABLE, ""))
        found = cache_directory(environment)
        directory = None if found is None else Path(found)
        cache = cls(directory, DEFAULT_LIMIT if limit is None else limit)
        if limit is None and environment.get(CACHE_SIZE_VARIABLE, "").strip():
            cache.problem = f"{CACHE_SIZE_VARIABLE} is no size such as 500M or 2G"
        return cache

    def entry(self, key: bytes) -> CacheEntry | None:
        """Return the place of one index.

        Args:
            key: What the index is made of.

        Returns:
            Its place, or ``None`` when there is no cache.
        """
        if self.directory is None:
            return None
        return CacheEntry(self, self.directory / digest(key), key)

    def shrink(self) -> None:
        """Delete the entries used longest ago until the cache is small enough."""
        entries = sorted(self._entries())
        size = sum(entry_size for _, entry_size, _ in entries)
        for _, entry_size, path in entries:
            if size <= self.limit:
                break
            import shutil  # noqa: PLC0415 - takes long, for what most runs do not need

            shutil.rmtree(path, ignore_errors=True)
            size -= entry_size

    def _entries(self) -> Iterator[tuple[float, int, str]]:
        # When each entry was used, its size and path; deletes what writers left behind.
        if self.directory is None:
            return
        for entry in _scan(self.directory):
            size = 0
            used = 0.0
            with contextlib.suppress(OSError):
                used = entry.stat(follow_symlinks=False).st_mtime
            for file in _scan(entry.path):
                with contextlib.suppress(OSError):
                    status = file.stat(follow_symlinks=False)
                    abandoned = time.time() - status.st_mtime > ABANDONED_AFTER
                    if file.name.startswith(TEMPORARY) and abandoned:
                        Path(file.path).unlink()
                    else:
                        size += status.st_size
            yield used, size, entry.path


class CacheEntry:
    """The parts of one index.

    Args:
        cache: The cache.
        path: The directory of the entry; need not exist.
        key: What the index is made of.
    """

    def __init__(self, cache: SymbolCache, path: Path, key: bytes) -> None:
        self._cache = cache
        self._path = path
        self.key = key
        """What the index is made of."""

    def parts(self, variant: str = "") -> list[str]:
        """List the parts, and take note that they are used.

        Args:
            variant: What their names start with.

        Returns:
            Their paths.
        """
        found = [
            one.path
            for one in _scan(self._path)
            if one.name.startswith(variant) and one.name.endswith(_PART)
        ]
        if found:
            with contextlib.suppress(OSError):
                os.utime(self._path)
        return sorted(found)

    def add(self, data: bytes, variant: str) -> str | None:
        """Keep one more part.

        Args:
            data: The part.
            variant: What its name starts with.

        Returns:
            Its path; ``None`` when it was not written: the cache has the reason.
        """
        if len(data) > self._cache.limit:
            self._cache.problem = "the index is larger than the cache may become"
            return None
        try:
            path = self._write(data, variant)
        except OSError as error:
            self._cache.problem = f"{self._path}: {error.strerror or error}"
            return None
        self._cache.shrink()
        return path

    def remove(self, paths: list[str]) -> None:
        """Delete some parts.

        Args:
            paths: Their paths.
        """
        for path in paths:
            with contextlib.suppress(OSError):
                Path(path).unlink()

    def _write(self, data: bytes, variant: str) -> str:
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"{variant}-{digest(data)}{_PART}"
        write_whole(str(self._path), name, data)
        return str(self._path / name)


def digest(data: bytes) -> str:
    """Return a name for some data, which other data seldom has.

    Where it has, one of both is not kept: a part states what it was made of. A hash
    that nobody can forge is not needed for that, and to load one takes a while.

    Args:
        data: The data.
    """
    return f"{zlib.crc32(data):08x}{zlib.adler32(data):08x}{len(data):08x}"


def parse_size(text: str) -> int | None:
    """Read a size such as ``500M``.

    Args:
        text: A number of bytes, or of the unit K, M, G or T (of 1024).

    Returns:
        The number of bytes, or ``None`` when the text is no size.
    """
    found = _SIZE.fullmatch(text)
    return None if found is None else int(found[1]) << _UNITS[found[2].upper()]


def _scan(path: str | os.PathLike[str]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as found:
            return list(found)
    except OSError:
        return []
