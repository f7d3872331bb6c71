"""Symbol tables that answer from the cache where it knows, and teach it what it lacks.

An index is keyed by all that it was made of: the debug file and its other parts,
each with its build ID, size and time of change; without a build ID also with its path
and inode. Kept are the units that lookups have needed, not whole objects: a few
addresses in a file of a gigabyte must not cost an index of it.
"""

from __future__ import annotations

import os
import sys
import time
import weakref
from collections.abc import Callable
from pathlib import Path

from ... import core
from ..._at_end import at_end
from ..._typing import TYPE_CHECKING, cast
from ..._version import __version__
from ..object_file import (
    ObjectFile,
    SymbolReader,
    SymbolRow,
    open_object,
    open_symbol_table,
)
from .symbol_cache import CacheEntry, SymbolCache, digest

if TYPE_CHECKING:
    from typing import Any

__all__ = ["CachedFiles", "save_all", "save_due"]

_MAX_PARTS = 8
"""With more small ones, they become one; each new part is read by every later run."""

_SMALL_PART = 8 << 20
"""Larger ones stay as they are."""

_SAVE_INTERVAL = 2.0
"""Seconds between two writes, so that many small lookups do not write many parts."""

_SPLIT_LIMIT = 4096
"""With more of them, checking them all costs more than the index saves."""

_LONG = 1 << 12
"""Bytes of a description that is hashed."""

_unsaved: weakref.WeakSet[_CachedTable] = weakref.WeakSet()


def save_all() -> None:
    """Write what lookups have decoded and no index has yet; at the latest at exit."""
    for table in list(_unsaved):
        table.save()


def save_due() -> None:
    """Write what :func:`save_all` would, unless that was done a moment ago."""
    for table in list(_unsaved):
        table.save_if_due()


at_end(save_all)


class CachedFiles:
    """Opens object files and makes symbol tables, with a cache of indexes.

    Args:
        cache: The cache; by default the one that the environment names.
    """

    def __init__(self, cache: SymbolCache | None = None) -> None:
        self.cache = SymbolCache.from_environment() if cache is None else cache

    def open_object(self, path: Path) -> ObjectFile:
        """Open an ELF file.

        Args:
            path: The file.

        Returns:
            The open file.

        Raises:
            DebugInfoError: When it is unusable.
        """
        opened = open_object(path)
        entry = self._entry(opened)
        if entry is not None and entry.parts():
            # Indexes are only made of debug information that could be read.
            cast("core.ObjectFile", opened).assume_dwarf()
        return opened

    def build_table(
        self, debug: ObjectFile, main: ObjectFile | None, /, **beside: Any
    ) -> SymbolReader:
        """Make a symbol table, as ``open_symbol_table`` does.

        Args:
            debug: The file that holds debug information or symbols.
            main: The object itself, when it is another file and there.
            beside: The files with the other parts of its debug information, by kind.

        Returns:
            The table.

        Raises:
            DebugInfoError: When the debug information is unusable.
        """
        entry = self._entry(debug)
        variant = None if beside.get("mini") else _describe_beside(beside)
        if entry is None or variant is None or not debug.has_dwarf:
            return open_symbol_table(debug, main, **beside)
        return _CachedTable(entry, variant, debug, main, beside)

    def _entry(self, opened: ObjectFile) -> CacheEntry | None:
        described = _describe(opened)
        if described is None:
            return None
        return self.cache.entry(repr((_core_identity(), described)).encode())


class _CachedTable:
    # A table that reads debug information only for what its index lacks.

    def __init__(
        self,
        entry: CacheEntry,
        variant: bytes,
        debug: ObjectFile,
        main: ObjectFile | None,
        beside: dict[str, Any],
    ) -> None:
        self._entry = entry
        self._described = variant
        self._variant = digest(variant)
        self._debug = debug
        self._main = main
        self._beside = beside
        self._key = entry.key + variant
        self._index = core.UnitIndex(entry.parts(self._variant), self._key)
        self._indexed: core.IndexedTable | None = None
        self._full: core.SymbolTable | None = None
        self._saved = float("-inf")
        if self._index.is_empty:
            self._open_full()
        else:
            self._indexed = core.IndexedTable(
                self._index,
                cast("core.ObjectFile", debug),
                cast("core.ObjectFile | None", main),
            )

    def lookup(self, addresses: list[int], /) -> list[SymbolRow]:
        """Look up file addresses, in the index if that has all they need."""
        # Another thread may take it away meanwhile.
        indexed = self._indexed
        if indexed is not None:
            rows = indexed.lookup(addresses)
            if rows is not None:
                return rows
        rows = self._open_full().lookup(addresses)
        _unsaved.add(self)
        self.save_if_due()
        return rows

    def add_places(
        self,
        column: core.PlaceColumn,
        last: int,
        form: core.PlaceFormat,
        make: Callable[[Any], object],
        /,
    ) -> bool:
        """Add places to a column: see ``BulkReader``."""
        if self._indexed is not None and column.add_lookups(
            last, self._indexed, form, make
        ):
            return True
        done = column.add_lookups(last, self._open_full(), form, make)
        _unsaved.add(self)
        self.save_if_due()
        return done

    def answer(
        self, text: bytes, writer: core.AnswerWriter, /
    ) -> tuple[bytes, list[int]]:
        """Answer for lines of addresses; :func:`save_due` is left to the caller."""
        if self._indexed is not None:
            answers = self._indexed.answer(text, writer)
            if answers is not None:
                return answers
        _unsaved.add(self)
        return self._open_full().answer(text, writer)

    def __getattr__(self, name: str) -> Any:
        # What else the core's table has, such as its problems.
        return getattr(self._open_full(), name)

    def save_if_due(self) -> None:
        """Keep what is new, unless that was done a moment ago."""
        if time.monotonic() - self._saved > _SAVE_INTERVAL:
            self.save()

    def save(self) -> None:
        """Keep the units decoded since the last call."""
        _unsaved.discard(self)
        if self._full is None or self._changed():
            return
        self._saved = time.monotonic()
        self._entry.remove(self._index.useless)
        # Each part holds some tens of megabytes at most: memory stays bounded.
        while (part := self._full.take_index_part(self._key)) is not None:
            if not self._entry.add(part, self._variant):
                return
        self._merge_parts()

    def _merge_parts(self) -> None:
        small = [
            path
            for path in self._entry.parts(self._variant)
            if _size_of(path) < _SMALL_PART
        ]
        if len(small) <= _MAX_PARTS:
            return
        merged = core.UnitIndex(small, self._key).merged(self._key)
        written = merged and self._entry.add(merged, self._variant)
        if written:
            self._entry.remove([path for path in small if path != written])

    def _open_full(self) -> core.SymbolTable:
        if self._full is None:
            table = open_symbol_table(self._debug, self._main, **self._beside)
            self._full = cast("core.SymbolTable", table)
            self._full.use_index(self._index)
            # From now on the other table would only repeat what this one does.
            self._indexed = None
        return self._full

    def _changed(self) -> bool:
        # A file written to since it was opened may have been read half old, half new.
        opened = cast("core.ObjectFile", self._debug)
        try:
            status = Path(opened.path).stat()
        except OSError:
            return True
        now = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        # Split files are opened when lookups need them, long after they were described.
        return now != opened.identity or (
            bool(self._beside.get("split"))
            and _describe_beside(self._beside) != self._described
        )


def _size_of(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _core_identity() -> tuple[str, int, int]:
    # Another version, or a new build, may decode better than the writer of an index.
    path = sys.modules[core.SymbolTable.__module__].__file__ or ""
    try:
        status = Path(path).stat()
    except OSError:
        return __version__, 0, 0
    return __version__, status.st_size, status.st_mtime_ns


def _describe(opened: ObjectFile) -> list[object] | None:
    # What distinguishes the contents of a file from those of all others.
    identity = getattr(opened, "identity", None)
    if identity is None:
        return None
    device, inode, size, modified = identity
    if opened.build_id:
        return [opened.build_id.hex(), size, modified]
    path = cast("core.ObjectFile", opened).path
    return [os.path.realpath(path), device, inode, size, modified]


def _describe_beside(beside: dict[str, Any]) -> bytes | None:
    # What distinguishes these files from others; None if too many, or if nothing does.
    described: list[object] = []
    for kind, opened in sorted(beside.items()):
        if kind == "split":
            if len(opened) > _SPLIT_LIMIT:
                return None
            described.append([[unit, *_describe_path(path)] for unit, path in opened])
        elif opened is not None:
            known = _describe(opened)
            if known is None:
                return None
            described.append([kind, *known])
    text = repr(described).encode()
    if len(text) < _LONG:
        return text
    import hashlib  # noqa: PLC0415 - takes long, and few objects have many files

    return hashlib.sha256(text).digest()


def _describe_path(path: str | os.PathLike[str]) -> list[object]:
    name = os.fsencode(path).hex()
    try:
        status = Path(path).stat()
    except OSError:
        return [name]
    return [name, status.st_ino, status.st_size, status.st_mtime_ns]
