"""Packing the symbols of traces, so that they are read without the binaries.

What is packed are the answers for the addresses that occur: some kilobytes instead of
all debug files. ``vestige.debuginfo.tables.symbol_store`` describes the format, and
reads it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .._typing import TYPE_CHECKING
from ..debuginfo import (
    MANIFEST,
    STORE_VERSION,
    SYMBOLS_FOLDER,
    DebugSource,
    ObjectIdentity,
    Resolver,
    StoredObject,
    StoreEntry,
    SymbolRow,
    SymbolStore,
    check_link_name,
    check_target_path,
)
from ..debuginfo import Mapping as ObjectMapping
from ..errors import SelectionError
from .debug_info import DebugInfoReport, MappedObject

if TYPE_CHECKING:
    from typing import Any

__all__ = ["PackReport", "pack"]

_OLD_FILE = re.compile(r"[0-9a-z]+-[0-9a-f]{8}\.json")


@dataclass
class PackReport:
    """What was packed."""

    objects: int = 0
    """Number of objects of which symbols were packed."""
    addresses: int = 0
    """Number of their addresses."""
    size: int = 0
    """Bytes of the store."""
    files: list[Path] = field(default_factory=list)
    """Whole debug files that were copied."""
    missing: list[str] = field(default_factory=list)
    """Objects with events of which nothing is known."""
    not_copied: list[str] = field(default_factory=list)
    """Files that hold debug information too, but that no build ID leads to."""


def pack(
    report: DebugInfoReport,
    resolver: Resolver,
    output: Path,
    *,
    full: bool = False,
) -> PackReport:
    """Write the symbols that the addresses of traces need.

    What a store at the same place has of other traces or addresses is kept.

    Args:
        report: The addresses.
        resolver: Looks them up.
        output: The directory to write into, which is made if need be.
        full: Whether whole debug files are copied too, for other tools.

    Returns:
        What was packed.

    Raises:
        SelectionError: The output is no directory.
        OSError: A file cannot be read or written.
    """
    if output.exists() and not output.is_dir():
        raise SelectionError("expected a directory to pack into", path=str(output))
    done = PackReport()
    objects: dict[ObjectIdentity, _Packed] = {}
    for process in report.processes:
        for one in process.objects:
            if one.events and one.mapping.code is None:
                _collect(one, process.identity, resolver, objects, done)
    place = output / SYMBOLS_FOLDER
    place.mkdir(parents=True, exist_ok=True)
    old = SymbolStore.open(output)
    entries = {} if old is None else dict(old.entries)
    for identity, packed in objects.items():
        known = entries.pop(identity, None)
        if packed.is_ambiguous:
            continue
        if identity.build_id is None:
            # Of another trace it may be another object.
            known = None
        before = None if old is None or known is None else old.load(known)
        entries[identity] = _write_object(place, packed, known, before)
        if packed.mapping == packed.found.mapping:
            done.objects += 1
            done.addresses += len(packed.rows)
    _write_manifest(place, entries.values())
    done.size = _remove_others(place, entries.values())
    if full:
        _copy_files(objects.values(), output, done)
    return done


@dataclass
class _Packed:
    # An object and its answers.
    mapping: ObjectMapping
    found: MappedObject
    traces: set[str] = field(default_factory=set)
    rows: dict[int, SymbolRow] = field(default_factory=dict)
    is_ambiguous: bool = False

    @property
    def identity(self) -> ObjectIdentity:
        return ObjectIdentity.of(self.mapping)


def _collect(
    one: MappedObject,
    trace: str | None,
    resolver: Resolver,
    objects: dict[ObjectIdentity, _Packed],
    done: PackReport,
) -> None:
    rows, files = resolver.rows(one.mapping, one.places)
    if files.debug is None and one.mapping.kernel is not None:
        # The trace tells all that is known.
        return
    if files.debug is None:
        done.missing.append(one.mapping.path)
        return
    # Some addresses are met before the trace tells the build ID of their object. Then
    # only the trace itself tells which object it was.
    for mapping in dict.fromkeys((one.mapping, *one.variants)):
        if mapping.build_id is None and trace is None:
            if mapping == one.mapping:
                done.missing.append(mapping.path)
            continue
        identity = ObjectIdentity.of(mapping)
        packed = objects.setdefault(identity, _Packed(mapping, one))
        # One path had two objects in turn: which of them is not told yet.
        packed.is_ambiguous |= packed.found.mapping.build_id != one.mapping.build_id
        if mapping.build_id is None and trace is not None:
            packed.traces.add(trace)
        for address, row in rows.items():
            # Of two files with one build ID, that with debug information says more.
            if row[0] is not None or address not in packed.rows:
                packed.rows[address] = row


def _write_object(
    place: Path,
    packed: _Packed,
    known: StoreEntry | None,
    before: StoredObject | None,
) -> StoreEntry:
    rows = dict(packed.rows)
    if before is not None:
        for address, row in before.rows.items():
            if rows.get(address, _NOTHING)[0] is None:
                rows[address] = row
    files = packed.found.files
    debug = files.debug
    source, names_from = files.source, packed.found.names_from or ""
    if isinstance(debug, StoredObject):
        source, names_from = debug.source, debug.names_from
    if debug is None:  # pragma: no cover - such an object is not collected
        raise SelectionError("nothing to pack")
    strings: dict[str, int] = {}
    table = [_encoded(address, row, strings) for address, row in sorted(rows.items())]
    identity = packed.identity
    build_id = identity.build_id
    facts = {
        "version": STORE_VERSION,
        "build_id": None if build_id is None else build_id.hex(),
        "path": packed.mapping.path,
        "is_pic": debug.is_pic,
        "bits": debug.bits,
        "link_base": (
            debug.link_base if packed.mapping.kernel is None else debug.text_base
        ),
        # Of the kernel itself nobody asks for them.
        "sections": [] if packed.mapping.kernel is None else debug.code_sections,
        "source": source.name,
        "names_from": names_from,
        "strings": list(strings),
        "rows": table,
    }
    content = json.dumps(facts, separators=(",", ":")).encode() + b"\n"
    crc = zlib.crc32(content)
    # Without build ID, what else identifies the object makes the name.
    stem = "x" + f"{zlib.crc32(repr(identity).encode()):08x}"
    if build_id is not None:
        stem = build_id[:32].hex()
    name = f"{stem}-{crc:08x}.json"
    _replace(place / name, content)
    traces = packed.traces | (known.traces if known else set())
    return StoreEntry(identity, name, len(content), crc, frozenset(traces))


_NOTHING = (None,)


def _encoded(address: int, row: SymbolRow, strings: dict[str, int]) -> list[Any]:
    def number(text: str | None) -> int | None:
        return None if text is None else strings.setdefault(text, len(strings))

    function, offset, directory, file, line, column, frames, source, reason, name = row
    return [
        address,
        number(function),
        offset,
        number(directory),
        number(file),
        line,
        column,
        [
            [number(frame[0]), number(frame[1]), frame[2], number(frame[3])]
            for frame in frames
        ],
        number(source),
        number(reason),
        number(name),
    ]


def _write_manifest(place: Path, entries: Iterable[StoreEntry]) -> None:
    line = json.dumps(
        {
            "version": STORE_VERSION,
            "objects": [_entry_facts(entry) for entry in entries],
        },
        separators=(",", ":"),
    ).encode()
    _replace(place / MANIFEST, line + f"\n{zlib.crc32(line):08x}\n".encode())


def _entry_facts(entry: StoreEntry) -> dict[str, Any]:
    identity = entry.identity
    return {
        "file": entry.file,
        "size": entry.size,
        "crc32": entry.crc,
        "build_id": None if identity.build_id is None else identity.build_id.hex(),
        "path": identity.path,
        "mapped_size": identity.size,
        "modified": identity.modified,
        "debug_link": identity.debug_link,
        "traces": sorted(entry.traces),
    }


def _replace(path: Path, content: bytes) -> None:
    """Write a file at once: whoever reads it meanwhile sees the old one or the new."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_others(place: Path, entries: Iterable[StoreEntry]) -> int:
    """Remove files that the manifest no longer lists; return the size of the store."""
    kept = {entry.file for entry in entries} | {MANIFEST}
    size = 0
    for path in place.iterdir():
        if path.name in kept:
            size += path.stat().st_size
        elif _OLD_FILE.fullmatch(path.name):
            path.unlink()
    return size


def _copy_files(objects: Iterable[_Packed], output: Path, done: PackReport) -> None:
    """Copy debug files to where all tools look for them."""
    for packed in objects:
        if packed.mapping != packed.found.mapping:
            continue
        files = packed.found.finder.search(packed.mapping)
        done.not_copied += [str(path) for _, path in files.split]
        if files.package is not None:
            done.not_copied.append(getattr(files.package, "path", ""))
        if files.source in _NO_DEBUG_FILE or files.debug is None:
            continue
        for source in (files.debug, files.supplement):
            path = getattr(source, "path", None)
            if source is None or not path:
                continue
            build_id = source.build_id or (
                packed.identity.build_id if source is files.debug else None
            )
            target = _target(output, build_id, packed.mapping)
            if target is None:
                done.not_copied.append(path)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = target.with_name(f".{target.name}.{os.getpid()}")
            try:
                shutil.copyfile(path, temporary)
                temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)
            done.files.append(target)


_NO_DEBUG_FILE = (DebugSource.SYMBOLS_ONLY, DebugSource.MINI, DebugSource.NONE)


def _target(
    output: Path, build_id: bytes | None, mapping: ObjectMapping
) -> Path | None:
    if build_id is not None and len(build_id) > 1:
        digits = build_id.hex()
        return output / ".build-id" / digits[:2] / f"{digits[2:]}.debug"
    if mapping.debug_link is None:
        return None
    # The trace names path and link, and nobody need have looked at the link before:
    # the object itself may hold the debug information.
    name = mapping.debug_link[0]
    if check_target_path(mapping.path) or check_link_name(name):
        return None
    return output / mapping.path.lstrip("/").rpartition("/")[0] / name
