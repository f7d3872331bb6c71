"""The files beside a debug file that hold parts of its debug information.

``dwz`` moves what several debug files share into a supplementary file, which the debug
file names together with its build ID. With ``-gsplit-dwarf`` the compiler leaves most
of the debug information in a ``.dwo`` file for each unit, and ``dwp`` packs these into
a ``.dwp`` file for the whole object.

What is missing here does not make the debug file useless: it is logged, and what is
there gets its names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath

from ..._typing import NamedTuple
from ...errors import DebugInfoError
from ..attempt import AttemptKind, Outcome, Refusal
from ..object_file import ObjectFile
from . import search_path
from .opened_files import OpenedFiles
from .target_prefixes import TargetPrefixes

__all__ = ["CompanionSearch", "DebugFile", "Log"]

Log = Callable[[object, AttemptKind, Refusal | None], None]
"""Is told of each place tried: its path, the rule, and why it was not used."""

_MOST_UNITS = 1 << 18
"""Units of split DWARF that are looked for; each takes a dozen looks at the disk."""

_LONGEST_LOG = 64
"""Places of split DWARF that are logged one by one; large programs have 100,000."""


class DebugFile(NamedTuple):
    """A file with debug information, and where it and its object are."""

    file: ObjectFile
    """The file."""

    path: Path
    """Its path on this machine."""

    object_path: Path | None
    """The path of the object on this machine, when it is there."""

    target_path: str
    """The path of the object on the traced machine."""

    @property
    def paths(self) -> list[Path]:
        """The object and the file, as far as they are here and differ."""
        known = (self.object_path, self.path)
        return list(dict.fromkeys(path for path in known if path is not None))


class CompanionSearch:
    """Looks for the files beside one debug file.

    Args:
        files: Opens files.
        directories: The global debug directories, in order.
        prefixes: Where directories of the traced machine are on this one.
        log: Is told of each place tried.
    """

    def __init__(
        self,
        files: OpenedFiles,
        directories: Sequence[Path],
        prefixes: TargetPrefixes,
        log: Log,
    ) -> None:
        self._files = files
        self._directories = directories
        self._prefixes = prefixes
        self._log = log

    def supplement(
        self, debug: DebugFile, download: Callable[[bytes], ObjectFile | None]
    ) -> ObjectFile | None:
        """Find the supplementary file.

        Args:
            debug: The debug file.
            download: Gets a file by its build ID when it is not here.

        Returns:
            The file; ``None`` when there is none, or none is needed.
        """
        link = debug.file.debug_alt_link
        if link is None:
            return None
        name, build_id = os.fsdecode(link[0]), link[1]
        places = search_path.supplement_places(
            self._directories, debug.path, name, build_id
        )
        if name.startswith("/") and search_path.check_target_path(name) is None:
            mapped = (Path(place) for place, _ in self._prefixes.host_paths(name))
            places = chain(mapped, places)
        for path in dict.fromkeys(places):
            opened = self._files.open(path)
            refusal = (
                opened
                if isinstance(opened, Refusal)
                else search_path.check_build_id(opened.build_id, build_id)
            )
            self._log(path, AttemptKind.SUPPLEMENT, refusal)
            if refusal is None and not isinstance(opened, Refusal):
                return opened
        return download(build_id)

    def split(
        self, debug: DebugFile
    ) -> tuple[ObjectFile | None, tuple[tuple[int, Path], ...]]:
        """Find the DWARF package, else the files of split DWARF.

        Args:
            debug: The debug file.

        Returns:
            The package, and ID and path of each other file. A package is taken to be
            complete, as GDB does.
        """
        try:
            units = debug.file.split_units
        except DebugInfoError as error:
            refusal = Refusal(Outcome.UNUSABLE, error.message)
            self._log(debug.path, AttemptKind.SPLIT, refusal)
            return None, ()
        if not units:
            return None, ()
        package = self._package(debug)
        if package is not None:
            return package, ()
        return None, tuple(self._split_files(debug, units))

    def _package(self, debug: DebugFile) -> ObjectFile | None:
        build_id = debug.file.build_id
        places = search_path.package_places(
            self._directories, debug.paths, debug.target_path, build_id
        )
        for path in dict.fromkeys(places):
            opened = self._files.open(path)
            refusal = opened if isinstance(opened, Refusal) else None
            # Few tools write a build ID into a package; the units have their own IDs.
            if not isinstance(opened, Refusal) and opened.build_id and build_id:
                refusal = search_path.check_build_id(opened.build_id, build_id)
            self._log(path, AttemptKind.PACKAGE, refusal)
            if refusal is None and not isinstance(opened, Refusal):
                return opened
        return None

    def _split_files(
        self, debug: DebugFile, units: Sequence[tuple[int, bytes, bytes]]
    ) -> Iterator[tuple[int, Path]]:
        log = _ShortLog(self._log)
        for dwo_id, name, directory in units[:_MOST_UNITS]:
            places = self._split_places(
                debug, os.fsdecode(name), os.fsdecode(directory)
            )
            for path in dict.fromkeys(places):
                identity = self._files.identify(path)
                refusal = identity if isinstance(identity, Refusal) else None
                log.add(path, refusal)
                if refusal is None:
                    yield dwo_id, path
                    break
        log.finish(debug.path)

    def _split_places(
        self, debug: DebugFile, name: str, directory: str
    ) -> Iterator[Path]:
        # Free of "..", so that no place lies outside of a prefix.
        written = os.path.normpath(PurePosixPath(directory) / name)
        compiled = [name]
        if written.startswith("/"):
            places = self._prefixes.host_paths(written)
            # Programs are seldom built on the traced machine.
            compiled = [*(place for place, _ in places), written, name]
        return search_path.split_places(self._directories, debug.paths, compiled)


class _ShortLog:
    # A log of split DWARF that stays short, whatever the number of units.

    def __init__(self, log: Log) -> None:
        self._log = log
        self._used = 0
        self._tried = 0

    def add(self, path: Path, refusal: Refusal | None) -> None:
        self._used += refusal is None
        self._tried += 1
        if self._tried <= _LONGEST_LOG:
            self._log(path, AttemptKind.SPLIT, refusal)

    def finish(self, path: Path) -> None:
        if self._tried > _LONGEST_LOG:
            more = self._tried - _LONGEST_LOG
            detail = f"{more} more places tried, {self._used} files found altogether"
            outcome = Outcome.USED if self._used else Outcome.MISSING
            self._log(path, AttemptKind.SPLIT, Refusal(outcome, detail))
