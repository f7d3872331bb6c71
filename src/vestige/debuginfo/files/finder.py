"""Finding the files of an object: the object itself, and the one with its symbols.

The order is the object itself when it holds DWARF, then its build ID in each debug
directory, then its debug link in the three places that GDB searches, then the servers
of debuginfod if they are asked for. Without debug information the best symbols are
taken: those of a debug file, of the object, or of its ``.gnu_debugdata``. A candidate
that fails a check is not the end of the search. The checks:

* The object must carry the build ID that the trace has recorded. If it does not, it is
  another object, and nothing of it is used.
* A debug file found by build ID must carry that build ID. It is good without the
  object: to read a trace on another machine, its debug files are enough.
* A debug file found by debug link must have the link's CRC, and no other build ID.
* A file from a server must carry the build ID that the server was asked for.
* A debug file of a relocatable object must have the same sections with code.

Build ID and debug link are those of the trace, else those of the object file.

Each place tried is logged, with the reason why it was not used.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from ..._typing import TYPE_CHECKING, NamedTuple
from ...errors import DebugInfoError
from .. import object_file
from ..attempt import Attempt, AttemptKind, Outcome, Refusal
from ..found_files import DebugSource, FoundFiles
from ..images.image import DebugLink, Mapping
from ..object_file import (
    CrcOfFile,
    ObjectFile,
    ObjectOpener,
    SymbolTableBuilder,
)
from ..tables.cached_table import CachedFiles
from . import search_path
from .module_files import ModuleFiles
from .opened_files import OpenedFiles, without_dwarf
from .options import DEBUG_DIRECTORIES, DebugInfoOptions
from .supplementary_files import CompanionSearch, DebugFile, Log
from .target_prefixes import TargetPrefixes

if TYPE_CHECKING:
    from ..tables.symbol_store import SymbolStore
    from .debuginfod import DebuginfodClient

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
        debuginfod: Gets files by build ID from servers, if they are to be asked.
    """

    def __init__(  # noqa: PLR0913 - two lists, and what tests replace
        self,
        debug_directories: Sequence[Path] = DEBUG_DIRECTORIES,
        target_prefixes: Sequence[tuple[str, Path]] = (),
        *,
        debuginfod: DebuginfodClient | None = None,
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
        self.modules = ModuleFiles(self.debug_directories, self.prefixes)
        self.debuginfod = debuginfod
        self._open_object = open_object
        self._found: dict[object, FoundFiles] = {}
        self.stores: list[SymbolStore] = []
        """Symbols that were packed with traces; they come before all files."""

    @classmethod
    def of(cls, options: DebugInfoOptions) -> DebugFileFinder:
        """Make a finder that searches where options say.

        Args:
            options: The options.

        Returns:
            The finder.
        """
        client = None
        if options.debuginfod:
            # Most runs need no network.
            from .debuginfod import (  # noqa: PLC0415
                DebuginfodClient,
                DebuginfodSettings,
            )

            client = DebuginfodClient(DebuginfodSettings.of(), options.notice)
        cached = CachedFiles()
        return cls(
            options.directories(),
            options.target_prefixes,
            open_object=cached.open_object,
            build_table=cached.build_table,
            debuginfod=client,
        )

    def find(self, mapping: Mapping) -> FoundFiles:
        """Find the files of an object.

        Args:
            mapping: The object, as the trace describes it. With an empty path only
                its debug file is searched.

        Returns:
            The files, and the log of the search.
        """
        if mapping.code is not None:
            return FoundFiles(None, None, DebugSource.TRACE, (), mapping.path)
        if mapping.kernel is not None and not mapping.kernel.may_have_file:
            return FoundFiles(None, None, DebugSource.TRACE, (), mapping.path)
        contents = None if mapping.modified is None else mapping.size
        identity = (mapping.build_id, mapping.debug_link, contents, mapping.modified)
        key = (mapping.path, identity)
        if key not in self._found:
            packed = (store.find(mapping) for store in self.stores)
            found = next((one for one in packed if one is not None), None)
            if found is not None:
                host_path, _ = self.prefixes.host_paths(mapping.path)[0]
                found = found._replace(host_path=host_path)
            self._found[key] = found or self.search(mapping)
        return self._found[key]

    def search(self, mapping: Mapping) -> FoundFiles:
        """Search the files of an object, whatever is packed.

        Args:
            mapping: The object, as the trace describes it.

        Returns:
            The files, and the log of the search.
        """
        return _Search(self, mapping).run()

    def download(
        self, build_id: bytes | None, kind: str, name: str, log: Log
    ) -> Path | None:
        """Get a file from a server, when servers are to be asked.

        Args:
            build_id: Its build ID, if it is known.
            kind: ``debuginfo`` or ``executable``.
            name: What it is for, for people.
            log: Called with each place tried.

        Returns:
            Its path, or ``None`` when there is none.
        """
        if self.debuginfod is None or build_id is None:
            return None

        def check(path: Path) -> Refusal | None:
            # Not by self.files: the path may be that of an unfinished download.
            try:
                found = self._open_object(path)
            except DebugInfoError as error:
                return Refusal(Outcome.UNUSABLE, error.message)
            return search_path.check_build_id(found.build_id, build_id)

        return self.debuginfod.fetch(build_id, kind, name, check, log)


class _Candidate(NamedTuple):
    # A place where a debug file may be, and what it must have.
    path: Path
    kind: AttemptKind
    build_id: bytes | None
    crc: int | None = None


class _Search:
    # The search for the files of one object.

    def __init__(self, finder: DebugFileFinder, mapping: Mapping) -> None:
        self._finder = finder
        self._files = finder.files
        self._directories = finder.debug_directories
        self._prefixes = finder.prefixes
        self._mapping = mapping
        self._path_refusal = search_path.check_target_path(mapping.path)
        self._host_places = self._prefixes.host_paths(mapping.path)
        self._host_path, self._prefix = self._host_places[0]
        self._attempts: list[Attempt] = []
        self._symbols: ObjectFile | None = None
        self._main: ObjectFile | None = None

    def run(self) -> FoundFiles:
        """Try all places until one has debug information."""
        main, has_dwarf = self._object()
        self._main = main
        if main is not None and has_dwarf:
            return self._result(main, main, DebugSource.OBJECT, Path(self._host_path))
        for candidate in self._candidates(main):
            debug = self._debug_file(candidate)
            if debug is not None:
                source = _SOURCES[candidate.kind]
                return self._result(main, debug, source, candidate.path)
        downloaded = self._downloaded(main)
        if downloaded is not None:
            path, debug = downloaded
            return self._result(main, debug, DebugSource.DEBUGINFOD, path)
        return self._symbols_only(main)

    def _result(
        self,
        main: ObjectFile | None,
        debug: ObjectFile,
        source: DebugSource,
        path: Path,
    ) -> FoundFiles:
        object_path = None if main is None else Path(self._host_path)
        file = DebugFile(debug, path, object_path, self._mapping.path)
        search = CompanionSearch(
            self._files, self._directories, self._prefixes, self._log
        )
        supplement = search.supplement(file, self._downloaded_supplement)
        package, split = search.split(file)
        return FoundFiles(
            main,
            debug,
            source,
            tuple(self._attempts),
            self._host_path,
            supplement=supplement,
            package=package,
            split=split,
        )

    def _symbols_only(self, main: ObjectFile | None) -> FoundFiles:
        if self._mapping.kernel is not None:
            # The trace knows as much.
            attempts, path = tuple(self._attempts), self._host_path
            return FoundFiles(None, None, DebugSource.NONE, attempts, path)
        if main is None and self._symbols is None:
            main = self._downloaded_object()
        # A stripped object still has the symbols that it exports.
        symbols, source = self._symbols or main, DebugSource.SYMBOLS_ONLY
        mini = None
        if symbols is None:
            source = DebugSource.NONE
        elif symbols is main and not main.has_symbols:
            mini = self._mini(main)
            source = source if mini is None else DebugSource.MINI
        attempts = tuple(self._attempts)
        return FoundFiles(main, symbols, source, attempts, self._host_path, mini=mini)

    def _mini(self, main: ObjectFile) -> ObjectFile | None:
        try:
            mini = main.mini_debug_info()
        except DebugInfoError as error:
            refusal = Refusal(Outcome.UNUSABLE, error.message)
            self._log(self._host_path, AttemptKind.MINI, refusal)
            return None
        if mini is not None:
            self._log(self._host_path, AttemptKind.MINI, None)
        return mini

    def _downloaded(self, main: ObjectFile | None) -> tuple[Path, ObjectFile] | None:
        build_id = self._mapping.build_id or (main.build_id if main else None)
        path = self._finder.download(build_id, "debuginfo", self._name(), self._log)
        opened = None if path is None else self._files.open(path)
        if path is None or opened is None or isinstance(opened, Refusal):
            return None
        if without_dwarf(opened) is None:
            return path, opened
        if opened.has_symbols:
            self._symbols = self._symbols or opened
        return None

    def _downloaded_supplement(self, build_id: bytes) -> ObjectFile | None:
        return self._opened_download(build_id, "debuginfo")

    def _downloaded_object(self) -> ObjectFile | None:
        # Without its debug file, the object itself may still name what it exports.
        return self._opened_download(self._mapping.build_id, "executable")

    def _opened_download(self, build_id: bytes | None, kind: str) -> ObjectFile | None:
        path = self._finder.download(build_id, kind, self._name(), self._log)
        opened = None if path is None else self._files.open(path)
        return None if isinstance(opened, Refusal) else opened

    def _name(self) -> str:
        return self._mapping.path or "a program"

    def _log(self, path: object, kind: AttemptKind, refusal: Refusal | None) -> None:
        refusal = refusal or Refusal(Outcome.USED)
        self._attempts.append(Attempt(str(path), kind, refusal.outcome, refusal.detail))

    def _object(self) -> tuple[ObjectFile | None, bool]:
        # The first place with debug information, else the first that has the object.
        if not self._mapping.path or self._mapping.kernel is not None:
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
            return search_path.check_build_id(opened.build_id, recorded) or opened
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
            yield from self._kernel_candidates(build_id)
        link = self._mapping.debug_link or _own_link(main)
        if link is not None and self._path_refusal is None:
            yield from self._link_candidates(main, link, build_id)

    def _kernel_candidates(self, build_id: bytes) -> Iterator[_Candidate]:
        kernel = self._mapping.kernel
        if kernel is None:
            return
        if kernel.section is not None:
            name = self._mapping.path.strip("[]")
            for path in self._finder.modules.places(kernel.release, name):
                yield _Candidate(path, AttemptKind.KERNEL, build_id)
            return
        for path in search_path.kernel_places(self._directories, kernel.release):
            for place, _ in self._prefixes.host_paths(str(path)):
                yield _Candidate(Path(place), AttemptKind.KERNEL, build_id)

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
            refusal = search_path.check_build_id(opened.build_id, candidate.build_id)
            if refusal is not None:
                return refusal
        main = self._main
        # Addresses in such an object are those of sections, in the order of the file.
        is_loose = main is not None and main.is_relocatable
        if is_loose and main and opened.code_sections != main.code_sections:
            return Refusal(Outcome.OTHER_CONTENTS)
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
    AttemptKind.KERNEL: DebugSource.KERNEL,
}


def _own_link(main: ObjectFile | None) -> DebugLink | None:
    if main is None or main.debug_link is None:
        return None
    name, crc = main.debug_link
    return os.fsdecode(name), crc
