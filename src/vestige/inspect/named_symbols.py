"""Symbols of an ELF file by their names: those of functions, also in its debug file.

A large program has a million symbols. So the name is looked for among the names first,
and then the symbols that have it. See elf(5); what versions look like in names is a
convention of the GNU tools.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

from .build_id import read_build_id
from .elf import DYNAMIC_SYMBOLS, SYMBOLS, ElfImage

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DEBUG_DIRECTORY", "NamedSymbol", "debug_image", "function_names", "named"]

DEBUG_DIRECTORY = "/usr/lib/debug"
_NO_TYPE, _FUNCTION, _RESOLVER = 0, 2, 10
"""``STT_NOTYPE``, ``STT_FUNC`` and ``STT_GNU_IFUNC``."""
_UNDEFINED = 0
_MOST_NAMES = 20_000
"""How many names suggestions are chosen from."""


class NamedSymbol(NamedTuple):
    """A symbol of code, or of something that another file has."""

    address: int
    is_resolver: bool
    """Whether it chooses a function when the program starts, and is none itself."""

    is_defined: bool


def named(image: ElfImage, name: bytes) -> list[NamedSymbol]:
    """Return the symbols of a name, with or without a version.

    Args:
        image: The file.
        name: The name.

    Returns:
        They; those of code, or undefined ones.

    Raises:
        ValueError: The file is damaged.
    """
    found: dict[NamedSymbol, None] = {}
    for names, table in _tables(image):
        places = set(_places_of(names, name))
        for row in _rows(image, table) if places else ():
            if row[0] in places and row[1] & 15 in {_NO_TYPE, _FUNCTION, _RESOLVER}:
                is_resolver = row[1] & 15 == _RESOLVER
                found[NamedSymbol(row[2], is_resolver, row[3] != _UNDEFINED)] = None
    return list(found)


def function_names(image: ElfImage) -> list[str]:
    """Return names of functions of a file, for suggestions; not all of a large one.

    Args:
        image: The file.

    Raises:
        ValueError: The file is damaged.
    """
    found: dict[str, None] = {}
    for names, table in _tables(image):
        for row in _rows(image, table):
            if row[1] & 15 == _FUNCTION and row[3] != _UNDEFINED:
                end = names.find(b"\0", row[0])
                found[os.fsdecode(names[row[0] : end].partition(b"@")[0])] = None
                if len(found) >= _MOST_NAMES:
                    return list(found)
    return list(found)


def debug_image(path: str, image: ElfImage) -> ElfImage | None:
    """Read the debug file of an object, where distributions put it.

    Args:
        path: The object.
        image: What is in it.

    Returns:
        The debug file, if there is one that belongs to it.
    """
    with suppress(OSError, ValueError):
        with open(path, "rb") as file:
            build_id = read_build_id(file)
        if build_id:
            name = build_id.hex()
            there = f"{DEBUG_DIRECTORY}/.build-id/{name[:2]}/{name[2:]}.debug"
            found = ElfImage(_content(there))
            notes = found.section(".note.gnu.build-id")
            if notes is not None and found.content(notes).endswith(build_id):
                return found
    with suppress(OSError, ValueError):
        return _linked(os.path.realpath(path), image)
    return None


def _linked(path: str, image: ElfImage) -> ElfImage | None:
    """Read the file that ``.gnu_debuglink`` names, if it has the right checksum."""
    section = image.section(".gnu_debuglink")
    if section is None:
        return None
    content = image.content(section)
    name = os.fsdecode(content.partition(b"\0")[0])
    checksum = int.from_bytes(content[-4:], _order(image))
    directory = os.path.dirname(path)
    if not name or "/" in name:
        return None
    for place in (directory, f"{directory}/.debug", f"{DEBUG_DIRECTORY}{directory}"):
        with suppress(OSError):
            data = _content(f"{place}/{name}")
            if zlib.crc32(data) == checksum:
                return ElfImage(data)
    return None


def _order(image: ElfImage) -> Literal["little", "big"]:
    return "little" if image.is_little_endian else "big"


def _content(path: str) -> mmap.mmap:
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _tables(image: ElfImage) -> Iterator[tuple[bytes, bytes]]:
    """Give the names and the entries of each table of symbols."""
    sections = image.sections
    for kind in (SYMBOLS, DYNAMIC_SYMBOLS):
        for one in sections:
            if one.kind == kind and one.link < len(sections):
                yield image.content(sections[one.link]), image.content(one)


def _rows(image: ElfImage, table: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Give place of the name, kind and binding, value and section of each symbol."""
    order = "<" if image.is_little_endian else ">"
    form = struct.Struct(order + ("IBxHQ8x" if image.is_64 else "IIIBxH"))
    for row in form.iter_unpack(table[: len(table) // form.size * form.size]):
        if image.is_64:
            name, info, section, value = row
        else:
            name, value, _, info, section = row
        yield name, info, value, section


def _places_of(names: bytes, name: bytes) -> Iterator[int]:
    """Give where a name is among names; it may be the end of a longer one."""
    at = names.find(name)
    while at >= 0:
        if names[at + len(name) : at + len(name) + 1] in {b"\0", b"@"}:
            yield at
        at = names.find(name, at + 1)
