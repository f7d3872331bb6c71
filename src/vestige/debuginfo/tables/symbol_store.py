"""Answers that were packed with a trace: names without the files that had them.

A store is a directory of JSON files that only Vestige writes:

``manifest.json``
    Its first line lists the objects: what identifies each, and name, size and CRC-32 of
    its file. The second line is the CRC-32 of the first.
``BUILDID-CRC.json``
    One object: its file addresses, each with the answer of the symbol table. Texts
    stand once, in a list of strings; answers refer to them by number.

An object is believed when it has the build ID that the trace has recorded. Without
build ID, path, size, time of change and debug link must agree, and the object must have
been packed of the very trace that is read.

A store is untrusted input: what is damaged is reported once and not used.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from ..._typing import TYPE_CHECKING, NamedTuple
from ..attempt import Attempt, AttemptKind, Outcome
from ..found_files import DebugSource, FoundFiles
from ..images.image import DebugLink, Mapping
from ..object_file import SymbolReader, SymbolRow

if TYPE_CHECKING:
    from typing import Any, TypeVar

    _T = TypeVar("_T")

__all__ = [
    "MANIFEST",
    "STORE_NAME",
    "STORE_VERSION",
    "StoreDamagedError",
    "StoredObject",
    "SymbolStore",
    "checked_read",
]

STORE_NAME = "debug-info.vestige"
"""Name of the directory next to a trace that holds packed symbols."""
SYMBOLS_FOLDER = "vestige-symbols"
"""Name of the store below such a directory."""
MANIFEST = "manifest.json"
"""Name of the file that lists the objects."""
STORE_VERSION = 1
"""Version of the format; a store of another one is not read."""

_LARGEST_FILE = 1 << 28
_ROW_ITEMS = 11
_FRAME_ITEMS = 4
_NOT_PACKED = "not-packed"


Report = Callable[[str], None]
"""Is told in a sentence what is wrong with a store."""


class StoreDamagedError(Exception):
    """A file of a store does not hold what it should; the text says why."""


_UNUSABLE = (
    StoreDamagedError,
    OSError,
    ValueError,
    LookupError,
    TypeError,
    RecursionError,
)
"""What reading a store with any content may raise."""


class ObjectIdentity(NamedTuple):
    """What tells an object from all others."""

    build_id: bytes | None
    """Its build ID; when there is one, nothing else counts."""
    path: str = ""
    """Path on the traced machine."""
    size: int = 0
    """Size that the trace has recorded."""
    modified: int | None = None
    """When the file was changed last."""
    debug_link: DebugLink | None = None
    """Its debug link."""

    @classmethod
    def of(cls, mapping: Mapping) -> ObjectIdentity:
        """Return the identity of a mapped object."""
        if mapping.build_id is not None:
            return cls(mapping.build_id)
        return cls(
            None, mapping.path, mapping.size, mapping.modified, mapping.debug_link
        )


class StoreEntry(NamedTuple):
    """An object in the list of a store."""

    identity: ObjectIdentity
    """The object."""
    file: str
    """Name of its file."""
    size: int
    """Size of that file, bytes."""
    crc: int
    """CRC-32 of that file."""
    traces: frozenset[str]
    """The traces that it was packed of, where the build ID does not tell."""


class StoredObject:
    """An object whose answers were packed.

    Args:
        path: Path of its file in the store.
        is_pic: Whether it may be loaded at any address.
        bits: The width of its addresses.
        link_base: The file address of its first segment; of the kernel, of the first
            one with code.
        build_id: Its build ID.
        source: What gave the names when it was packed.
        names_from: The file that gave the names when it was packed.
        rows: The answer for each file address.
        sections: Name, file address and size of each section with code, of a module.
    """

    def __init__(  # noqa: PLR0913 - the facts of an object, by keyword
        self,
        *,
        path: str,
        is_pic: bool,
        bits: int,
        link_base: int,
        build_id: bytes | None,
        source: DebugSource,
        names_from: str,
        rows: dict[int, SymbolRow],
        sections: Sequence[tuple[str, int, int]] = (),
    ) -> None:
        self.path = path
        self.is_pic = is_pic
        self.bits = bits
        self.link_base = link_base
        self.build_id = build_id
        self.source = source
        self.names_from = names_from
        self.rows = rows
        self.code_sections = list(sections)
        self.fallback: Callable[[], SymbolReader | None] | None = None
        """Gives the table of files that are here, for addresses not packed."""

    @property
    def is_relocatable(self) -> bool:
        """Whether it is a module of the kernel."""
        return bool(self.code_sections)

    @property
    def text_base(self) -> int:
        """The file address of its first segment with code; of the kernel alone."""
        return self.link_base

    @property
    def debug_link(self) -> tuple[bytes, int] | None:
        """None: its debug file is not looked for."""
        return None

    @property
    def debug_alt_link(self) -> tuple[bytes, bytes] | None:
        """None, for the same reason."""
        return None

    @property
    def split_units(self) -> list[tuple[int, bytes, bytes]]:
        """None, for the same reason."""
        return []

    def mini_debug_info(self) -> None:
        """Return nothing: all that it has are answers."""

    @property
    def has_dwarf(self) -> bool:
        """Whether the names came from debug information."""
        return self.source not in (DebugSource.SYMBOLS_ONLY, DebugSource.MINI)

    @property
    def has_symbols(self) -> bool:
        """Whether there are answers."""
        return bool(self.rows)

    def lookup(self, addresses: list[int], /) -> list[SymbolRow]:
        """Look up file addresses.

        Args:
            addresses: The addresses.

        Returns:
            One answer for each.
        """
        missing = [address for address in addresses if address not in self.rows]
        if missing:
            table = None if self.fallback is None else self.fallback()
            if table is not None:
                self.rows.update(zip(missing, table.lookup(missing), strict=True))
        return [self.rows.get(address, _UNKNOWN) for address in addresses]


_UNKNOWN: SymbolRow = (None, 0, None, None, None, None, [], "none", _NOT_PACKED, None)


class SymbolStore:
    """Packed answers, read object by object when they are needed.

    Args:
        directory: The directory with the manifest.
        entries: The objects that the manifest lists.
        traces: Identities of the traces that are read.
        report: Is told what is wrong with it.
    """

    def __init__(
        self,
        directory: Path,
        entries: Sequence[StoreEntry],
        traces: Collection[str],
        report: Report,
    ) -> None:
        self.directory = directory
        self.entries = {entry.identity: entry for entry in entries}
        self._traces = frozenset(traces)
        self._report = report

    @classmethod
    def open(
        cls, directory: Path, traces: Collection[str] = (), report: Report | None = None
    ) -> SymbolStore | None:
        """Open a store.

        Args:
            directory: A directory that may have a store in it.
            traces: Identities of the traces that are read.
            report: Is told what is wrong with it.

        Returns:
            The store; ``None`` where there is none, or it cannot be used.
        """
        place = directory / SYMBOLS_FOLDER
        path = place / MANIFEST
        report = report or _ignore
        try:
            if not path.exists():
                return None
            return cls(place, _entries(checked_read(path)), traces, report)
        except _UNUSABLE as error:
            report(f"{path}: packed symbols are not used: {_reason(error)}")
            return None

    def find(self, mapping: Mapping) -> FoundFiles | None:
        """Look for the answers of an object.

        Args:
            mapping: The object, as the trace describes it.

        Returns:
            What stands for its files, or ``None`` when it is not in the store.
        """
        identity = ObjectIdentity.of(mapping)
        entry = self.entries.get(identity)
        if entry is None:
            return None
        if identity.build_id is None and not (
            self._traces and self._traces <= entry.traces
        ):
            return None
        found = self.load(entry)
        if found is None:
            return None
        detail = f"packed from {found.names_from}: {found.source.value}"
        attempt = Attempt(found.path, AttemptKind.PACKED, Outcome.USED, detail)
        return FoundFiles(None, found, DebugSource.PACKED, (attempt,), mapping.path)

    def load(self, entry: StoreEntry) -> StoredObject | None:
        """Read the answers of an object.

        Args:
            entry: Its entry in the manifest.

        Returns:
            The object; ``None`` when its file is damaged, which is reported.
        """
        path = self.directory / entry.file
        try:
            content = checked_read(path)
            if (len(content), zlib.crc32(content)) != (entry.size, entry.crc):
                raise StoreDamagedError("its checksum is wrong")
            return _stored_object(path, _decoded(content), entry.identity)
        except _UNUSABLE as error:
            del self.entries[entry.identity]
            self._report(f"{path}: packed symbols are not used: {_reason(error)}")
            return None


def _ignore(_text: str) -> None:
    pass


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return os.strerror(error.errno or 0)
    if isinstance(error, StoreDamagedError):
        return str(error)
    return "it is damaged"


def checked_read(path: Path) -> bytes:
    """Read a whole regular file.

    Args:
        path: The file.

    Returns:
        Its content.

    Raises:
        StoreDamagedError: It is no regular file, or larger than any that is written.
        OSError: It cannot be read.
    """
    # A pipe in its place must not be waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise StoreDamagedError("not a regular file")
        if status.st_size > _LARGEST_FILE:
            raise StoreDamagedError("larger than any file of a store")
        return file.read(_LARGEST_FILE)


def _entries(content: bytes) -> list[StoreEntry]:
    line, _, checksum = content.partition(b"\n")
    if checksum.strip() != f"{zlib.crc32(line):08x}".encode():
        raise StoreDamagedError("its checksum is wrong")
    facts = _typed(_decoded(line), dict)
    version = facts.get("version")
    if version != STORE_VERSION:
        raise StoreDamagedError(f"it has version {version!r}, expected {STORE_VERSION}")
    return [_entry(_typed(one, dict)) for one in _typed(facts.get("objects"), list)]


def _decoded(content: bytes) -> object:
    # Most traces have no store, and need no JSON.
    import json  # noqa: PLC0415

    decoded: object = json.loads(content)
    return decoded


def _entry(facts: dict[str, Any]) -> StoreEntry:
    name = _typed(facts.get("file"), str)
    if "/" in name or name in {"", ".", ".."} or "\0" in name:
        raise StoreDamagedError(f"{name!r} is no bare file name")
    build_id = facts.get("build_id")
    if build_id is not None:
        identity = ObjectIdentity(bytes.fromhex(_typed(build_id, str)))
    else:
        link = facts.get("debug_link")
        modified = facts.get("modified")
        identity = ObjectIdentity(
            None,
            _typed(facts.get("path"), str),
            _typed(facts.get("mapped_size"), int),
            None if modified is None else _typed(modified, int),
            None if link is None else (_typed(link[0], str), _typed(link[1], int)),
        )
    traces = frozenset(_typed(one, str) for one in _typed(facts.get("traces"), list))
    size, crc = _typed(facts.get("size"), int), _typed(facts.get("crc32"), int)
    return StoreEntry(identity, name, size, crc, traces)


def _stored_object(
    path: Path, content: object, identity: ObjectIdentity
) -> StoredObject:
    facts = _typed(content, dict)
    if facts.get("version") != STORE_VERSION:
        raise StoreDamagedError("it has another version")
    build_id = facts.get("build_id")
    if (None if build_id is None else bytes.fromhex(build_id)) != identity.build_id:
        raise StoreDamagedError("it has another build ID")
    bits = _typed(facts.get("bits"), int)
    if bits not in {32, 64}:
        raise StoreDamagedError("its addresses have no known width")
    strings = [_typed(one, str) for one in _typed(facts.get("strings"), list)]
    # Nothing could write half of a surrogate pair.
    "".join(strings).encode(errors="surrogateescape")
    names_from = _typed(facts.get("names_from"), str)
    rows = _typed(facts.get("rows"), list)
    return StoredObject(
        path=str(path),
        is_pic=_typed(facts.get("is_pic"), bool),
        bits=bits,
        link_base=_typed(facts.get("link_base"), int),
        build_id=identity.build_id,
        source=DebugSource[_typed(facts.get("source"), str)],
        names_from=names_from if names_from.isprintable() else ascii(names_from),
        rows=dict(_row(_typed(row, list), strings) for row in rows),
        sections=[_section(_typed(one, list)) for one in facts.get("sections", [])],
    )


def _section(items: list[Any]) -> tuple[str, int, int]:
    name, address, size = items
    return _typed(name, str), _typed(address, int), _typed(size, int)


def _row(items: list[Any], strings: list[str]) -> tuple[int, SymbolRow]:
    if len(items) != _ROW_ITEMS:
        raise StoreDamagedError("an answer has too many or too few parts")
    address, function, offset, directory, file, line, column = items[:7]
    frames, source, reason, linkage = items[7:]
    row: SymbolRow = (
        _text(function, strings),
        _typed(offset, int),
        _text(directory, strings),
        _text(file, strings),
        _number(line),
        _number(column),
        [_frame(_typed(frame, list), strings) for frame in _typed(frames, list)],
        _text(source, strings) or "none",
        _text(reason, strings),
        _text(linkage, strings),
    )
    return _typed(address, int), row


def _frame(
    items: list[Any], strings: list[str]
) -> tuple[str | None, str | None, int | None, str | None]:
    if len(items) != _FRAME_ITEMS:
        raise StoreDamagedError("a call has too many or too few parts")
    function, file, line, linkage = items
    return (
        _text(function, strings),
        _text(file, strings),
        _number(line),
        _text(linkage, strings),
    )


def _text(index: object, strings: list[str]) -> str | None:
    if index is None:
        return None
    number = _typed(index, int)
    if not 0 <= number < len(strings):
        raise StoreDamagedError("a text is missing")
    return strings[number]


def _number(value: object) -> int | None:
    return None if value is None else _typed(value, int)


def _typed(value: object, kind: type[_T]) -> _T:
    if type(value) is not kind:
        raise StoreDamagedError(
            f"{type(value).__name__} where {kind.__name__} is expected"
        )
    return value
