"""What a kernel finds in memory when it starts: a shell, a script and modules.

The modules are loaded in the order in which they stand there, so those that others need
come first. No list of these comes with the packages: each module says what it needs.
"""

from __future__ import annotations

import gzip
import lzma
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = ["MissingModuleError", "archive", "load_order"]

DEPENDS = re.compile(rb"(?:^|\0)depends=([\w,-]*)\0")
SUFFIX = re.compile(r"\.ko(\.xz|\.gz)?$")
DIRECTORY, PROGRAM, DATA = 0o040755, 0o100755, 0o100644


class MissingModuleError(Exception):
    """A module that others need is not in the folder."""


def load_order(folder: Path, wanted: Iterable[str]) -> dict[str, bytes]:
    """Return modules with all that they need, each behind what it needs.

    Args:
        folder: Where the modules of a kernel are.
        wanted: Names without ``.ko``. One that is not there is taken to be a part of
            the kernel itself.

    Raises:
        MissingModuleError: When what a module needs is not there.
    """
    there = {
        SUFFIX.sub("", path.name).replace("-", "_"): path
        for path in folder.rglob("*.ko*")
        if SUFFIX.search(path.name)
    }
    found: dict[str, bytes] = {}
    for name in wanted:
        if name in there:
            _add(name, there, found)
    return found


def _add(name: str, there: Mapping[str, Path], found: dict[str, bytes]) -> None:
    if name in found:
        return
    if name not in there:
        raise MissingModuleError(f"no module {name}, which another one needs")
    data = _unpacked(there[name])
    told = DEPENDS.search(data)
    for other in told[1].decode().split(",") if told else ():
        if other:
            _add(other.replace("-", "_"), there, found)
    found[name] = data


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    match path.suffix:
        case ".xz":
            return lzma.decompress(data)
        case ".gz":
            return gzip.decompress(data)
        case _:
            return data


def archive(
    programs: Mapping[str, bytes], files: Mapping[str, bytes], folders: Iterable[str]
) -> bytes:
    """Return an archive in the form that kernels unpack (``newc`` of cpio).

    Args:
        programs: What may be run, by its path without a slash in front.
        files: What is only read.
        folders: Those that are there; each behind the one that it is in.
    """
    entries = [
        *((name, DIRECTORY, b"") for name in folders),
        *((name, PROGRAM, data) for name, data in programs.items()),
        *((name, DATA, data) for name, data in files.items()),
        ("TRAILER!!!", 0, b""),
    ]
    return b"".join(
        _entry(number, *entry) for number, entry in enumerate(entries, start=1)
    )


def _entry(number: int, name: str, mode: int, data: bytes) -> bytes:
    path = name.encode() + b"\0"
    links = 2 if mode == DIRECTORY else 1
    fields = (number, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(path), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + path
    return _whole_words(head) + _whole_words(data)


def _whole_words(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
