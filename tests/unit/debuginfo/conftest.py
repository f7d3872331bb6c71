"""A small disk of fake object files, for the tests of debug-info policy."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from vestige.debuginfo import DebugFileFinder, Resolver, SymbolRow
from vestige.errors import DebugInfoError

NO_ROW: SymbolRow = (None, 0, None, None, None, None, [], "", "no-function-there", None)


@dataclass(eq=False)
class FakeObject:
    """An ELF file as the policy sees it."""

    is_pic: bool = True
    bits: int = 64
    build_id: bytes | None = None
    debug_link: tuple[bytes, int] | None = None
    has_dwarf: bool = False
    has_symbols: bool = False
    link_base: int = 0
    is_relocatable: bool = False
    code_sections: list[tuple[str, int, int]] = field(default_factory=list)
    debug_alt_link: tuple[bytes, bytes] | None = None
    split_units: list[tuple[int, bytes, bytes]] = field(default_factory=list)
    mini: FakeObject | None = None
    rows: dict[int, SymbolRow] = field(default_factory=dict)

    def mini_debug_info(self):
        """Return the symbols that it holds in compressed form."""
        return self.mini


class DamagedObject(FakeObject):
    """An ELF file whose debug information cannot be read."""

    @property
    def has_dwarf(self):
        """Fail as a parser does on a cut section."""
        raise DebugInfoError("the section .debug_info is cut")

    @has_dwarf.setter
    def has_dwarf(self, value):
        pass


class FakeTable:
    """A symbol table that notes what it is asked."""

    def __init__(self, debug, main, files):
        self.debug = debug
        self.main = main
        self.files = files
        self.calls = []

    def lookup(self, addresses):
        """Answer from the rows of the fake object."""
        self.calls.append(addresses)
        return [self.debug.rows.get(address, NO_ROW) for address in addresses]


class Disk:
    """Files below a temporary directory; those added as objects open as such."""

    def __init__(self, root: Path):
        self.root = root
        self.objects = {}
        self.opened = []
        self.tables = []

    def path(self, name):
        """Return the path on this machine of an absolute name on the disk."""
        return self.root / name.lstrip("/")

    def add(self, name, kind=FakeObject, **attributes):
        """Write a file that opens as an object with these attributes."""
        content = f"object {name}".encode()
        path = self.write(name, content)
        made = self.objects[content] = kind(**attributes)
        made.path, made.crc = path, zlib.crc32(content)
        return made

    def write(self, name, content=b"text"):
        """Write a file that is no object."""
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def open(self, path):
        """Open a fake object, whatever path leads to it."""
        self.opened.append(path)
        try:
            return self.objects[path.read_bytes()]
        except KeyError:
            raise DebugInfoError("not an ELF file", path=path) from None

    def table(self, debug, main, **files):
        """Make a fake symbol table."""
        self.tables.append(FakeTable(debug, main, files))
        return self.tables[-1]

    def finder(self, *directories, prefix=True):
        """Make a finder on this disk; the target's file system is its root."""
        return DebugFileFinder(
            [self.path(name) for name in directories or ("/usr/lib/debug",)],
            [("/", self.root)] if prefix else [],
            open_object=self.open,
            crc_of_file=lambda path: zlib.crc32(path.read_bytes()),
            build_table=self.table,
        )

    def resolver(self, **options):
        """Make a resolver on this disk."""
        return Resolver(self.finder(), **options)

    def tried(self, found):
        """List the attempts of a search as (name on the disk, outcome)."""
        root = str(self.root)
        return [
            (attempt.path.removeprefix(root), attempt.outcome.name)
            for attempt in found.attempts
        ]


@pytest.fixture
def disk(tmp_path):
    """An empty disk."""
    return Disk(tmp_path / "disk")


@pytest.fixture
def damaged_object():
    """The class of objects whose debug information cannot be read."""
    return DamagedObject
