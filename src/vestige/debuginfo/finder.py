"""Finding the files of an object: the object itself, and the one with its symbols.

The order is the object itself when it holds DWARF, then its build ID in each debug
directory, then its debug link in the three places that GDB searches. A candidate that
fails a check is not the end of the search. The checks:

* The object must carry the build ID that the trace has recorded. If it does not, it is
  another object, and nothing of it is used.
* A debug file found by build ID must carry that build ID. It is good without the
  object: to read a trace on another machine, its debug files are enough.
* A debug file found by debug link must have the link's CRC, and no other build ID.

Build ID and debug link are those of the trace, else those of the object file.

Each place tried is logged, with the reason why it was not used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from vestige.debuginfo import object_file, search_path
from vestige.debuginfo.attempt import Attempt, AttemptKind, Outcome, Refusal
from vestige.debuginfo.found_files import DebugSource, FoundFiles
from vestige.debuginfo.image import DebugLink, Mapping
from vestige.debuginfo.object_file import (
    CrcOfFile,
    ObjectFile,
    ObjectOpener,
    SymbolTableBuilder,
)
from vestige.debuginfo.opened_files import OpenedFiles, without_dwarf
from vestige.debuginfo.options import DEBUG_DIRECTORIES, DebugInfoOptions
from vestige.debuginfo.target_prefixes import TargetPrefixes

__all__ = ["DebugFileFinder"]


class DebugFileFinder:
    """Finds the files of mapped objects, each once.

    Args:
        debug_directories: The global debug directories, in the order of the search.
        target_prefixes: Where directories of the traced machine are on this one, when
            its files are not at the same paths.
        open_object: Opens an ELF file.
        crc_of_file: Computes the CRC-32 of a file.
        build_table: Makes a symbol table.
    """

    def __init__(
        self,
        debug_directories: Sequence[Path] = DEBUG_DIRECTORIES,
        target_prefixes: Sequence[tuple[str, Path]] = (),
        *,
        open_object: ObjectOpener = object_file.open_object,
        crc_of_file: CrcOfFile = object_file.file_crc32,
        build_table: SymbolTableBuilder = object_file.open_symbol_table,
    ) -> None:
        self.prefixes = TargetPrefixes(target_prefixes)
        self.debug_directories = tuple(
            dict.fromkeys(
                place
                for directory in debug_directories
                for place in (directory, *self.prefixes.copies_of(directory))
            )
        )
        self.files = OpenedFiles(open_object, crc_of_file, build_table)
        self._found: dict[object, FoundFiles] = {}

    @classmethod
    def of(cls, options: DebugInfoOptions) -> DebugFileFinder:
        """Make a finder that searches where options say.

        Args:
            options: The options.

        Returns:
            The finder.
        """
        return cls(options.directories(), options.target_prefixes)

    def find(self, mapping: Mapping) -> FoundFiles:
        """Find the files of an object.

        Args:
            mapping: The object, as the trace describes it. With an empty path only
                its debug file is searched.

        Returns:
            The files, and the log of the search.
        """
        contents = None if mapping.modified is None else mapping.size
        identity = (mapping.build_id, mapping.debug_link, contents, mapping.modified)
        key = (mapping.path, identity)
        if key not in self._found:
            self._found[key] = _Search(self, mapping).run()
        return self._found[key]


@dataclass(frozen=True, slots=True)
class _Candidate:
    # A place where a debug file may be, and what it must have.
    path: Path
    kind: AttemptKind
    build_id: bytes | None
    crc: int | None = None


class _Search:
    # The search for the files of one object.

    def __init__(self, finder: DebugFileFinder, mapping: Mapping) -> None:
        self._files = finder.files
        self._directories = finder.debug_directories
        self._prefixes = finder.prefixes
        self._mapping = mapping
        self._path_refusal = search_path.check_target_path(mapping.path)
        self._host_places = self._prefixes.host_paths(mapping.path)
        self._host_path, self._prefix = self._host_places[0]
        self._attempts: list[Attempt] = []
        self._symbols: ObjectFile | None = None

    def run(self) -> FoundFiles:
        """Try all places until one has debug information."""
        main, has_dwarf = self._object()
        if main is not None and has_dwarf:
            return self._result(main, main, DebugSource.OBJECT)
        for candidate in self._candidates(main):
            debug = self._debug_file(candidate)
            if debug is not None:
                return self._result(main, debug, _SOURCES[candidate.kind])
        # A stripped object still has the symbols that it exports.
        symbols = self._symbols or main
        source = DebugSource.NONE if symbols is None else DebugSource.SYMBOLS_ONLY
        return self._result(main, symbols, source)

    def _result(
        self, main: ObjectFile | None, debug: ObjectFile | None, source: DebugSource
    ) -> FoundFiles:
        return FoundFiles(main, debug, source, tuple(self._attempts), self._host_path)

    def _log(self, path: object, kind: AttemptKind, refusal: Refusal | None) -> None:
        refusal = refusal or Refusal(Outcome.USED)
        self._attempts.append(Attempt(str(path), kind, refusal.outcome, refusal.detail))

    def _object(self) -> tuple[ObjectFile | None, bool]:
        # The first place with debug information, else the first that has the object.
        if not self._mapping.path:
            return None, False
        if self._path_refusal is not None:
            self._log(self._host_path, AttemptKind.OBJECT, self._path_refusal)
            return None, False
        found: ObjectFile | None = None
        for place, prefix in self._host_places:
            opened = self._object_at(place, found)
            if isinstance(opened, Refusal):
                self._log(place, AttemptKind.OBJECT, opened)
                continue
            problem = without_dwarf(opened)
            self._log(place, AttemptKind.OBJECT, problem)
            if found is None or problem is None:
                found, self._host_path, self._prefix = opened, place, prefix
            if problem is None or found.build_id is None:
                return found, problem is None
        return found, False

    def _object_at(self, place: str, known: ObjectFile | None) -> ObjectFile | Refusal:
        opened = self._files.open(Path(place))
        if isinstance(opened, Refusal):
            return opened
        recorded = self._mapping.build_id or (known.build_id if known else None)
        if recorded is not None:
            return _other_build_id(opened, recorded) or opened
        return self._other_contents(place) or opened

    def _other_contents(self, place: str) -> Refusal | None:
        modified = self._mapping.modified
        identity = self._files.identify(Path(place))
        if modified is None or isinstance(identity, Refusal):
            return None
        # A copy has another time, and a tracer may record the mapped size: only a
        # difference in both shows that the file was replaced.
        if identity.size == self._mapping.size:
            return None
        if identity.modified_ns // 1_000_000_000 == modified:
            return None
        return Refusal(Outcome.OTHER_CONTENTS)

    def _candidates(self, main: ObjectFile | None) -> Iterator[_Candidate]:
        build_id = self._mapping.build_id or (main.build_id if main else None)
        if build_id:
            for path in search_path.build_id_places(self._directories, build_id):
                yield _Candidate(path, AttemptKind.BUILD_ID, build_id)
        link = self._mapping.debug_link or _own_link(main)
        if link is not None and self._path_refusal is None:
            yield from self._link_candidates(main, link, build_id)

    def _link_candidates(
        self, main: ObjectFile | None, link: DebugLink, build_id: bytes | None
    ) -> Iterator[_Candidate]:
        name, crc = link
        refusal = search_path.check_link_name(name)
        if refusal is not None:
            self._log(name, AttemptKind.DEBUG_LINK, refusal)
            return
        for directory in self._object_directories(main):
            here = [place for place, _ in self._prefixes.host_paths(directory)]
            for path in search_path.debug_link_places(
                self._directories, directory, name, here
            ):
                yield _Candidate(path, AttemptKind.DEBUG_LINK, build_id, crc)

    def _object_directories(self, main: ObjectFile | None) -> list[str]:
        # The directory that the trace names; then the one where the file really is,
        # when symbolic links lead elsewhere.
        directories = [str(PurePosixPath(self._mapping.path).parent)]
        if main is not None:
            real = Path(os.path.realpath(self._host_path)).parent
            there = self._prefix.target_path(real) if self._prefix else str(real)
            if there is not None:
                directories.append(there)
        return list(dict.fromkeys(directories))

    def _debug_file(self, candidate: _Candidate) -> ObjectFile | None:
        opened = self._files.open(candidate.path)
        refusal = (
            opened
            if isinstance(opened, Refusal)
            else self._mismatch(opened, candidate) or without_dwarf(opened)
        )
        self._log(candidate.path, candidate.kind, refusal)
        if isinstance(opened, Refusal):
            return None
        if refusal is None:
            return opened
        if refusal.outcome is Outcome.NO_DWARF and opened.has_symbols:
            self._symbols = self._symbols or opened
        return None

    def _mismatch(self, opened: ObjectFile, candidate: _Candidate) -> Refusal | None:
        # A debug file found by its link need not carry a build ID.
        is_linked = candidate.kind is AttemptKind.DEBUG_LINK
        if candidate.build_id and not (is_linked and opened.build_id is None):
            refusal = _other_build_id(opened, candidate.build_id)
            if refusal is not None:
                return refusal
        if candidate.crc is None:
            return None
        crc = self._files.crc32(candidate.path)
        if isinstance(crc, Refusal) or crc == candidate.crc:
            return crc if isinstance(crc, Refusal) else None
        detail = f"{crc:08x} instead of {candidate.crc:08x}"
        return Refusal(Outcome.OTHER_CRC, detail)


_SOURCES = {
    AttemptKind.BUILD_ID: DebugSource.BUILD_ID,
    AttemptKind.DEBUG_LINK: DebugSource.DEBUG_LINK,
}


def _other_build_id(opened: ObjectFile, expected: bytes) -> Refusal | None:
    if opened.build_id == expected:
        return None
    found = "none" if opened.build_id is None else opened.build_id.hex()
    return Refusal(Outcome.OTHER_BUILD_ID, f"{found} instead of {expected.hex()}")


def _own_link(main: ObjectFile | None) -> DebugLink | None:
    if main is None or main.debug_link is None:
        return None
    name, crc = main.debug_link
    return os.fsdecode(name), crc
