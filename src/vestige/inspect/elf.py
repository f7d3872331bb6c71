"""Sections, symbols and relocations of an ELF file; see elf(5)."""

from __future__ import annotations

import mmap
import os
import struct

from .._typing import TYPE_CHECKING, NamedTuple
from ..errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

__all__ = ["ElfImage", "Relocation", "Section", "Segment", "Symbol", "open_elf"]

MAGIC = b"\x7fELF"
SYMBOLS, DYNAMIC_SYMBOLS = 2, 11
"""``SHT_SYMTAB`` and ``SHT_DYNSYM``."""
RELOCATIONS_WITH_ADDENDS, RELOCATIONS = 4, 9
"""``SHT_RELA`` and ``SHT_REL``."""
NO_BITS = 8
"""``SHT_NOBITS``: nothing of the section is in the file."""
ALLOCATED = 2
"""``SHF_ALLOC``."""
EXECUTABLE = 4
"""``SHF_EXECINSTR``."""
FUNCTION = 2
"""``STT_FUNC``."""
LOADED = 1
"""``PT_LOAD``."""
MOST_SECTIONS = 1 << 20


class Section(NamedTuple):
    """A section."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    """Another section, such as that of the names of symbols."""

    @property
    def is_data(self) -> bool:
        """Whether it is loaded, and holds no instructions."""
        return bool(self.flags & ALLOCATED) and not self.flags & EXECUTABLE


class Segment(NamedTuple):
    """A part of the file that is loaded."""

    address: int
    offset: int
    size: int
    """Its bytes in the file."""

    is_executable: bool


class Symbol(NamedTuple):
    """A symbol."""

    name: bytes
    value: int
    size: int
    is_function: bool
    is_defined: bool


class Relocation(NamedTuple):
    """A place that the dynamic linker fills in."""

    place: int
    kind: int
    symbol: bytes
    addend: int


class ElfImage:
    """An ELF file of any machine.

    Args:
        data: Its bytes.

    Raises:
        ValueError: It is none, or its header is damaged.
    """

    def __init__(self, data: mmap.mmap | bytes) -> None:
        if data[:4] != MAGIC or len(data) < 52:  # noqa: PLR2004 - the smaller header
            raise ValueError("not an ELF file")
        self._data = data
        self.is_64 = data[4] == 2  # noqa: PLR2004 - ELFCLASS64
        self._order = "<" if data[5] == 1 else ">"
        (self.machine,) = self._unpack("H", 18)
        self._sections: list[Section] | None = None

    @property
    def is_little_endian(self) -> bool:
        """Whether the lower byte of a number comes first."""
        return self._order == "<"

    @property
    def word_size(self) -> int:
        """Bytes of an address."""
        return 8 if self.is_64 else 4

    def _unpack(self, form: str, offset: int) -> tuple[int, ...]:
        try:
            return struct.unpack_from(self._order + form, self._data, offset)
        except (struct.error, OverflowError) as error:
            raise ValueError(f"cut off at byte {offset}") from error

    @property
    def sections(self) -> list[Section]:
        """All sections; none where they were stripped off."""
        if self._sections is None:
            self._sections = self._read_sections()
        return self._sections

    def _read_sections(self) -> list[Section]:
        if self.is_64:
            (offset,) = self._unpack("Q", 40)
            size, count, names = self._unpack("HHH", 58)
        else:
            (offset,) = self._unpack("I", 32)
            size, count, names = self._unpack("HHH", 46)
        if not offset or not size:
            return []
        form = "IIQQQQIIQQ" if self.is_64 else "IIIIIIIIII"
        if count == 0:
            # There are too many for the header; the first section has it.
            count = min(self._unpack(form, offset)[5], MOST_SECTIONS)
        rows = [self._unpack(form, offset + index * size) for index in range(count)]
        name_bytes = b""
        if names < len(rows):
            name_bytes = self._bytes(rows[names][4], rows[names][5])
        return [
            Section(os.fsdecode(_text_at(name_bytes, row[0])), *row[1:7])
            for row in rows
        ]

    @property
    def segments(self) -> list[Segment]:
        """What is loaded of the file."""
        if self.is_64:
            (start,) = self._unpack("Q", 32)
            size, count = self._unpack("HH", 54)
            form = "IIQQQQ"
        else:
            (start,) = self._unpack("I", 28)
            size, count = self._unpack("HH", 42)
            form = "IIIIIII"
        found = []
        for row in (self._unpack(form, start + one * size) for one in range(count)):
            kind, flags, offset, address, _, length = row[:6]
            if not self.is_64:
                kind, offset, address, _, length, _, flags = row
            if kind == LOADED:
                found.append(Segment(address, offset, length, bool(flags & 1)))
        return found

    def _bytes(self, offset: int, size: int) -> bytes:
        if offset + size > len(self._data):
            raise ValueError(f"cut off at byte {len(self._data)}")
        return bytes(self._data[offset : offset + size])

    def section(self, name: str) -> Section | None:
        """Find a section by its name.

        Args:
            name: The name.

        Returns:
            The first of that name.
        """
        return next((one for one in self.sections if one.name == name), None)

    def content(self, section: Section) -> bytes:
        """Return the bytes of a section.

        Args:
            section: One of this file.

        Returns:
            They; nothing where it has none in the file.

        Raises:
            ValueError: The file is cut off before its end.
        """
        if section.kind == NO_BITS:
            return b""
        return self._bytes(section.offset, section.size)

    @property
    def code(self) -> Iterator[Section]:
        """The sections that hold instructions."""
        return (one for one in self.sections if one.flags & EXECUTABLE)

    def at(self, address: int, size: int) -> bytes:
        """Return bytes by the address that they are loaded at.

        Args:
            address: Where they begin.
            size: How many.

        Returns:
            As many as there are in that section.
        """
        for one in self.sections:
            if one.address and one.kind != NO_BITS:
                start = address - one.address
                if 0 <= start < one.size:
                    length = min(size, one.size - start)
                    return self._bytes(one.offset + start, length)
        return b""

    def symbols(self, kind: int) -> Iterator[Symbol]:
        """Return the symbols of a table.

        Args:
            kind: ``SHT_SYMTAB`` or ``SHT_DYNSYM``.

        Yields:
            Each of them.
        """
        for table in self.sections:
            if table.kind == kind and table.link < len(self.sections):
                yield from self._table(table)

    def _table(self, table: Section) -> Iterator[Symbol]:
        names = self.content(self.sections[table.link])
        content = self.content(table)
        form = struct.Struct(self._order + ("IBBHQQ" if self.is_64 else "IIIBBH"))
        content = content[: len(content) // form.size * form.size]
        for row in form.iter_unpack(content):
            if self.is_64:
                name, info, _, where, value, size = row
            else:
                name, value, size, info, _, where = row
            is_function = info & 15 == FUNCTION
            yield Symbol(_text_at(names, name), value, size, is_function, where != 0)

    def relocations(self) -> Iterator[Relocation]:
        """Return what the dynamic linker fills in.

        Yields:
            Each of it.
        """
        for table in self.sections:
            if table.kind not in {RELOCATIONS, RELOCATIONS_WITH_ADDENDS}:
                continue
            if table.link >= len(self.sections):
                continue
            symbols = self.sections[table.link]
            names = (
                [symbol.name for symbol in self._table(symbols)]
                if symbols.kind in {SYMBOLS, DYNAMIC_SYMBOLS}
                else []
            )
            yield from self._fixes(table, names)

    def _fixes(self, table: Section, names: list[bytes]) -> Iterator[Relocation]:
        has_addend = table.kind == RELOCATIONS_WITH_ADDENDS
        plain = "QQ" if self.is_64 else "II"
        signed = "q" if self.is_64 else "i"
        form = struct.Struct(self._order + plain + (signed if has_addend else ""))
        content = self.content(table)
        shift, mask = (32, 0xFFFFFFFF) if self.is_64 else (8, 0xFF)
        for row in form.iter_unpack(content[: len(content) // form.size * form.size]):
            number = row[1] >> shift
            name = names[number] if 0 < number < len(names) else b""
            yield Relocation(row[0], row[1] & mask, name, row[2] if has_addend else 0)

    def pointer(self, address: int) -> int:
        """Return the address-sized number at an address.

        Args:
            address: Where it is.

        Returns:
            It; 0 where nothing is.
        """
        found = self.at(address, self.word_size)
        if len(found) < self.word_size:
            return 0
        return int.from_bytes(found, "little" if self._order == "<" else "big")


def _text_at(names: bytes, start: int) -> bytes:
    end = names.find(b"\0", start)
    return names[start : end if end >= 0 else len(names)]


class open_elf:  # noqa: N801 - it is called as `open` is
    """Map an ELF file, for a ``with`` block, which gets what is in it.

    Args:
        path: The file.

    Raises:
        RecordError: It cannot be read, is no ELF file, or is damaged, whether that is
            seen here or in the block.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._data: mmap.mmap | None = None

    def __enter__(self) -> ElfImage:
        """Map it."""
        try:
            return ElfImage(self._mapped())
        except (OSError, ValueError) as error:
            self._close()
            raise self._refusal(error) from error
        except RecordError:
            self._close()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Let it go."""
        self._close()
        if isinstance(error, (OSError, ValueError)):
            raise self._refusal(error) from error

    def _mapped(self) -> mmap.mmap:
        with self._path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise RecordError("is no ELF file: it is empty", path=self._path)
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._data[:4] != MAGIC:
            raise RecordError("is no ELF file", path=self._path)
        return self._data

    def _close(self) -> None:
        if self._data is not None:
            self._data.close()

    def _refusal(self, error: OSError | ValueError) -> RecordError:
        if isinstance(error, OSError):
            return RecordError(f"cannot be read: {error.strerror}", path=self._path)
        return RecordError(f"is a damaged ELF file: {error}", path=self._path)
