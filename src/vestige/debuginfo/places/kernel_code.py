"""Functions of the kernel that a trace names itself.

Where a file of that very kernel is found, it knows more than the trace: lines, and
inlined calls. Else the trace tells the function.
"""

from __future__ import annotations

from ..found_files import DebugSource, FoundFiles
from ..images.image import Mapping
from ..images.kernel_functions import KernelCode
from ..object_file import ObjectFile, SymbolReader, SymbolRow
from .found_object import FoundObject, section_address

__all__ = ["found_kernel", "kernel_functions", "packed_section"]


def found_kernel(mapping: Mapping, files: FoundFiles) -> FoundObject:
    """Return the kernel or a module as an object with the functions of the trace.

    Args:
        mapping: The object, with ``kernel``.
        files: What the finder says of it.

    Returns:
        The object.
    """
    table = kernel_functions(mapping, 0)
    own = files._replace(object=None, debug=None, source=DebugSource.TRACE)
    return FoundObject(mapping, mapping.path, own, table)


def kernel_functions(mapping: Mapping, link_base: int) -> SymbolReader:
    """Return the functions that the trace names as a symbol table.

    Args:
        mapping: The object, with ``kernel``.
        link_base: The file address that is at its base.

    Returns:
        The table.
    """
    assert mapping.kernel is not None  # noqa: S101 - the caller has looked
    return _Functions(mapping.kernel, mapping.base - link_base)


def packed_section(
    mapping: Mapping, files: FoundFiles, stored: ObjectFile, table: SymbolReader
) -> FoundObject:
    """Return a section of a module whose answers were packed.

    Args:
        mapping: The section, with ``kernel``.
        files: What the finder says of the module.
        stored: The module, as it was packed.
        table: Its answers; those of all its sections.

    Returns:
        The object. Where nothing was packed, it has the functions of the trace.
    """
    assert mapping.kernel is not None  # noqa: S101 - the caller has looked
    base = section_address(stored, mapping.kernel.section or "")
    if base is None:
        return found_kernel(mapping, files)
    both = _Both(table, kernel_functions(mapping, base))
    return FoundObject(mapping, files.host_path, files, both)


class _Both:
    # A symbol table, and another one for what it lacks.

    def __init__(self, table: SymbolReader, other: SymbolReader) -> None:
        self._table, self._other = table, other

    def lookup(self, addresses: list[int], /) -> list[SymbolRow]:
        rows = self._table.lookup(addresses)
        others = self._other.lookup(addresses)
        pairs = zip(rows, others, strict=True)
        return [other if row[0] is None else row for row, other in pairs]


class _Functions:
    # The functions, as a symbol table.

    def __init__(self, code: KernelCode, bias: int) -> None:
        self._code, self._bias = code, bias

    def lookup(self, addresses: list[int], /) -> list[SymbolRow]:
        return [self._row(self._bias + address) for address in addresses]

    def _row(self, address: int) -> SymbolRow:
        found = self._code.at(address)
        if found is None:
            return _row(None, 0, "no-function-there")
        return _row(found.name, address - found.begin, None)


def _row(name: str | None, offset: int, reason: str | None) -> SymbolRow:
    source = DebugSource.TRACE.value
    return (name, offset, None, None, None, None, [], source, reason, None)
