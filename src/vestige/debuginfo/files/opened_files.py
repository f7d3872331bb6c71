"""Object files that are opened once, however many paths lead to them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ..._typing import NamedTuple
from ...errors import DebugInfoError
from ..attempt import Outcome, Refusal
from ..found_files import FoundFiles
from ..object_file import (
    CrcOfFile,
    ObjectFile,
    ObjectOpener,
    SymbolReader,
    SymbolTableBuilder,
)

__all__ = ["FileIdentity", "OpenedFiles", "without_dwarf"]


_TableKey = tuple[object, ...]


class FileIdentity(NamedTuple):
    """What tells a file, with its present contents, from all others."""

    device: int
    """The device it lies on."""

    inode: int
    """Its number there."""

    size: int
    """Its size in bytes."""

    modified_ns: int
    """When it was changed last, in nanoseconds since the epoch."""


class OpenedFiles:
    """Opens files, computes CRCs and makes symbol tables, each once for a file.

    Args:
        open_object: Opens an ELF file.
        crc_of_file: Computes the CRC-32 of a file.
        build_table: Makes a symbol table.
    """

    def __init__(
        self,
        open_object: ObjectOpener,
        crc_of_file: CrcOfFile,
        build_table: SymbolTableBuilder,
    ) -> None:
        self._open_object = open_object
        self._crc_of_file = crc_of_file
        self._build_table = build_table
        self._objects: dict[FileIdentity, ObjectFile | Refusal] = {}
        self._crcs: dict[FileIdentity, int | Refusal] = {}
        self._tables: dict[_TableKey, SymbolReader | Refusal] = {}

    def identify(self, path: Path) -> FileIdentity | Refusal:
        """Find out which file a path leads to, following symbolic links.

        Args:
            path: Any path; nothing is opened, so a FIFO does no harm.

        Returns:
            The file, or why there is no regular file.
        """
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return Refusal(Outcome.MISSING)
        except OSError as error:
            return Refusal(Outcome.UNREADABLE, os.strerror(error.errno or 0))
        except ValueError as error:
            return Refusal(Outcome.REFUSED_PATH, str(error))
        if not stat.S_ISREG(status.st_mode):
            return Refusal(Outcome.NOT_A_FILE)
        return FileIdentity(
            status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        )

    def open(self, path: Path) -> ObjectFile | Refusal:
        """Open an object file.

        Args:
            path: Its path.

        Returns:
            The file, the same for all paths that lead to it; or why it is unusable.
        """
        identity = self.identify(path)
        if isinstance(identity, Refusal):
            return identity
        if identity not in self._objects:
            self._objects[identity] = self._opened(path)
        return self._objects[identity]

    def crc32(self, path: Path) -> int | Refusal:
        """Compute the CRC-32 of a file.

        Args:
            path: Its path.

        Returns:
            The CRC, or why there is none.
        """
        identity = self.identify(path)
        if isinstance(identity, Refusal):
            return identity
        if identity not in self._crcs:
            self._crcs[identity] = self._computed_crc(path)
        return self._crcs[identity]

    def symbol_table(self, found: FoundFiles) -> SymbolReader | Refusal:
        """Return the symbol table of an object.

        Args:
            found: Its files; one of them gives the names.

        Returns:
            The table, or why there is none.
        """
        main = None if found.object is found.debug else found.object
        key = (
            found.debug,
            main,
            found.supplement,
            found.mini,
            found.package,
            # One file at two paths may have them next to one of the two only.
            found.split,
        )
        if key not in self._tables:
            self._tables[key] = self._built_table(found, main)
        return self._tables[key]

    def _built_table(
        self, found: FoundFiles, main: ObjectFile | None
    ) -> SymbolReader | Refusal:
        if found.debug is None:
            return Refusal(Outcome.MISSING)
        try:
            return self._build_table(
                found.debug,
                main,
                supplement=found.supplement,
                mini=found.mini,
                package=found.package,
                split=[(dwo_id, str(path)) for dwo_id, path in found.split],
            )
        except DebugInfoError as error:
            return Refusal(Outcome.UNUSABLE, str(error))

    def _opened(self, path: Path) -> ObjectFile | Refusal:
        try:
            return self._open_object(path)
        except DebugInfoError as error:
            return Refusal(Outcome.UNUSABLE, error.message)
        except OSError as error:
            return Refusal(Outcome.UNREADABLE, os.strerror(error.errno or 0))

    def _computed_crc(self, path: Path) -> int | Refusal:
        try:
            return self._crc_of_file(path)
        except DebugInfoError as error:
            return Refusal(Outcome.UNREADABLE, error.message)
        except OSError as error:
            return Refusal(Outcome.UNREADABLE, os.strerror(error.errno or 0))


def without_dwarf(opened: ObjectFile) -> Refusal | None:
    """Check that a file holds debug information.

    Args:
        opened: The file.

    Returns:
        Why it holds none that can be read, or ``None`` when it does.
    """
    try:
        return None if opened.has_dwarf else Refusal(Outcome.NO_DWARF)
    except DebugInfoError as error:
        return Refusal(Outcome.UNUSABLE, error.message)
