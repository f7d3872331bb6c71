"""Functions that the trace describes itself: those of a Python program.

There is no file to look into. The mapping tells the function, its file and its first
line, and the distance from its base is that from the first line.
"""

from __future__ import annotations

from ..found_files import DebugSource, FoundFiles
from ..images.image import Mapping, SourceCode
from ..object_file import SymbolRow
from .found_object import FoundObject

__all__ = ["found_code"]


def found_code(mapping: Mapping, files: FoundFiles) -> FoundObject:
    """Return a function as an object with one symbol.

    Args:
        mapping: The function, with ``code``.
        files: What the finder says of it.

    Returns:
        The object.
    """
    assert mapping.code is not None  # noqa: S101 - the caller has looked
    table = _Lines(mapping.path, mapping.code)
    return FoundObject(mapping, mapping.path, files, table)


class _Lines:
    # The lines of a function, as a symbol table.

    def __init__(self, path: str, code: SourceCode) -> None:
        self._directory, _, self._file = path.rpartition("/")
        self._function, self._first_line = code

    def lookup(self, addresses: list[int], /) -> list[SymbolRow]:
        return [self._row(offset) for offset in addresses]

    def _row(self, offset: int) -> SymbolRow:
        line = self._first_line + offset if self._first_line else None
        return (
            self._function,
            offset,
            self._directory or None,
            self._file or None,
            line,
            None,
            [],
            DebugSource.TRACE.value,
            None,
            None,
        )
