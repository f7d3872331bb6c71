"""What this package needs of the parsers in the Rust core.

The policy in this package works on these protocols, and takes the functions that open
files as parameters. ``vestige.core`` has the classes that fulfil them; tests and other
programs may bring their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from .. import core
from .._typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from typing import Any, TypeGuard

__all__ = [
    "BulkReader",
    "CrcOfFile",
    "FrameRow",
    "ObjectFile",
    "ObjectOpener",
    "SymbolReader",
    "SymbolRow",
    "SymbolTableBuilder",
    "file_crc32",
    "is_bulk_reader",
    "open_object",
    "open_symbol_table",
]

FrameRow = tuple[str | None, str | None, int | None, str | None]
"""A level of inlined calls: function, full path of the file, line, linkage name."""

SymbolRow = tuple[
    str | None,
    int,
    str | None,
    str | None,
    int | None,
    int | None,
    list[FrameRow],
    str,
    str | None,
    str | None,
]
"""An answer for an address.

Its items are function, offset, directory, file, line, column, frames, source, reason
and linkage name. The function is the innermost one that is not inlined, its name as in
the source; the linkage name is what the linker sees. The frames are innermost first and
end with that function; without inlining there may be none. The reason is given where
there is no function.
"""


class ObjectFile(Protocol):
    """An ELF file: an executable, a shared object or a separate debug file."""

    @property
    def is_pic(self) -> bool:
        """Whether it may be loaded at any address."""
        ...

    @property
    def is_relocatable(self) -> bool:
        """Whether it is to be linked, or loaded as a module of the kernel."""
        ...

    @property
    def code_sections(self) -> list[tuple[str, int, int]]:
        """Name, file address and size of each section with code.

        Those of a relocatable object have addresses that the reader gives them, the
        same ones each time.
        """
        ...

    @property
    def bits(self) -> int:
        """The width of its addresses."""
        ...

    @property
    def build_id(self) -> bytes | None:
        """The build ID in its notes."""
        ...

    @property
    def debug_link(self) -> tuple[bytes, int] | None:
        """The debug link section: the name of the debug file and its CRC-32."""
        ...

    @property
    def debug_alt_link(self) -> tuple[bytes, bytes] | None:
        """The name and the build ID of its supplementary file."""
        ...

    @property
    def split_units(self) -> list[tuple[int, bytes, bytes]]:
        """ID, file name and directory of each unit that is in another file.

        Raises:
            DebugInfoError: When the debug information is unusable.
        """
        ...

    def mini_debug_info(self) -> ObjectFile | None:
        """Unpack the symbols in its ``.gnu_debugdata``.

        Raises:
            DebugInfoError: When they are unusable.
        """
        ...

    @property
    def has_dwarf(self) -> bool:
        """Whether it holds DWARF debug information."""
        ...

    @property
    def has_symbols(self) -> bool:
        """Whether it holds a full symbol table, not only that of exported symbols."""
        ...

    @property
    def link_base(self) -> int:
        """The file address of its first segment."""
        ...

    @property
    def text_base(self) -> int:
        """The file address of its first segment with code."""
        ...


class SymbolReader(Protocol):
    """The functions and lines of an object."""

    def lookup(self, addresses: list[int], /) -> list[SymbolRow]:
        """Look up file addresses.

        Args:
            addresses: The addresses, in any order.

        Returns:
            One answer for each address.
        """
        ...


class BulkReader(Protocol):
    """A symbol table that can add places to a column without a row for each."""

    def add_places(
        self,
        column: core.PlaceColumn,
        last: int,
        form: core.PlaceFormat,
        make: Callable[[Any], object],
        /,
    ) -> bool:
        """Look up the next group of pending addresses, and add their places.

        Args:
            column: The column.
            last: The last address of the group.
            form: How to write the places.
            make: Makes the object for an address.

        Returns:
            Whether it was done.

        Raises:
            DebugInfoError: The debug information is unusable.
        """
        ...


def is_bulk_reader(table: SymbolReader) -> TypeGuard[BulkReader]:
    """Tell whether a symbol table is a :class:`BulkReader` as well.

    Args:
        table: The symbol table.
    """
    return hasattr(table, "add_places")


class SymbolTableBuilder(Protocol):
    """Makes a symbol table."""

    def __call__(  # noqa: PLR0913 - a file of each kind
        self,
        debug: ObjectFile,
        main: ObjectFile | None,
        /,
        *,
        supplement: ObjectFile | None,
        mini: ObjectFile | None,
        package: ObjectFile | None,
        split: Sequence[tuple[int, str]],
    ) -> SymbolReader:
        """Make the symbol table of an object.

        Args:
            debug: The file that holds debug information or symbols.
            main: The object itself, when it is another file and there.
            supplement: The supplementary file of the debug file.
            mini: The symbols in the object's ``.gnu_debugdata``.
            package: The DWARF package of the debug file.
            split: ID and path of each file of split DWARF.

        Returns:
            The table.

        Raises:
            DebugInfoError: The debug information is unusable.
        """
        ...


ObjectOpener = Callable[[Path], ObjectFile]
"""Opens an ELF file; raises ``DebugInfoError`` when it is unusable."""

CrcOfFile = Callable[[Path], int]
"""Computes the CRC-32 of a whole file."""


def open_object(path: Path) -> ObjectFile:
    """Open an ELF file with the parser of the Rust core.

    Args:
        path: The file.

    Returns:
        The open file.

    Raises:
        DebugInfoError: When it is unusable.
    """
    return cast("ObjectFile", core.ObjectFile.open(path))


def open_symbol_table(  # noqa: PLR0913 - a file of each kind
    debug: ObjectFile,
    main: ObjectFile | None,
    /,
    *,
    supplement: ObjectFile | None = None,
    mini: ObjectFile | None = None,
    package: ObjectFile | None = None,
    split: Sequence[tuple[int, str]] = (),
) -> SymbolReader:
    """Make a symbol table with the Rust core: see :class:`SymbolTableBuilder`.

    Args:
        debug: The file that holds debug information or symbols.
        main: The object itself, when it is another file and there.
        supplement: The supplementary file of the debug file.
        mini: The symbols in the object's ``.gnu_debugdata``.
        package: The DWARF package of the debug file.
        split: ID and path of each file of split DWARF.

    Returns:
        The table.

    Raises:
        DebugInfoError: When the debug information is unusable.
    """
    # The core reads its own objects only.
    table = core.SymbolTable(
        cast("core.ObjectFile", debug),
        cast("core.ObjectFile | None", main),
        supplement=cast("core.ObjectFile | None", supplement),
        mini=cast("core.ObjectFile | None", mini),
        package=cast("core.ObjectFile | None", package),
        split=split,
    )
    return cast("SymbolReader", table)


def file_crc32(path: Path) -> int:
    """Compute the CRC-32 of a file as debug links define it.

    Args:
        path: The file.

    Returns:
        The CRC.

    Raises:
        DebugInfoError: When the file cannot be read.
    """
    return int(core.file_crc32(path))
