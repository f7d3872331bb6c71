"""The objects in the memory of a process that runs now, from ``/proc`` (proc(5)).

``/proc/PID/maps`` has a line for each range of memory: addresses, permissions, offset
in the file, device, inode and path. Neighbouring ranges of one file are one object.

The path may lead to another file by now, after an upgrade for instance. So the build ID
is read from the memory of the process, and the finder refuses a file with another one.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

from ... import core
from ..._typing import NamedTuple
from ...errors import DebugInfoError
from ...units import Address
from .image import Mapping

__all__ = ["RunningObject", "RunningProcess"]

_VDSO = "[vdso]"
_DELETED = " (deleted)"
_HEAD_SIZE = 1 << 20
"""Bytes at the beginning of an object that are read for its build ID."""
_LARGEST_OFFSET = 1 << 40
"""Size of a sparse file that section headers may lie in."""


class MemoryRange(NamedTuple):
    """A line of ``/proc/PID/maps``."""

    start: int
    """The first address."""
    end: int
    """The address after the last."""
    writable: bool
    """Whether the process may write there."""
    offset: int
    """Byte offset in the file."""
    inode: int
    """Number of the file, 0 without one."""
    path: str
    """Path of the file, or a name in brackets."""


class RunningObject(NamedTuple):
    """An object in the memory of a running process."""

    name: str
    """Its path as the process knows it, or ``[vdso]``."""
    mapping: Mapping
    """Where it is, and under which path its file can be opened now."""
    memory_file: int | None
    """Descriptor of a copy of it, of an object without file."""


class RunningProcess:
    """The objects of a process, found anew when an address is not in any of them.

    Args:
        pid: The process.

    Raises:
        DebugInfoError: There is no such process, or it may not be looked into.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._groups: list[list[MemoryRange]] = []
        self._starts: list[int] = []
        self._objects: dict[tuple[MemoryRange, ...], RunningObject | None] = {}
        self.refresh()

    @property
    def root(self) -> Path | None:
        """The root directory of the process, when it sees other files than we do.

        That is after ``chroot``, or in another mount namespace, as in a container.
        """
        base = Path(f"/proc/{self.pid}")
        try:
            same_mounts = (base / "ns/mnt").samefile("/proc/self/ns/mnt")
            same_root = (base / "root").samefile("/proc/self/root")
        except OSError:
            return None
        return None if same_mounts and same_root else base / "root"

    def refresh(self) -> None:
        """Read the memory map again.

        Raises:
            DebugInfoError: The process is gone, or may not be looked into.
        """
        path = f"/proc/{self.pid}/maps"
        try:
            text = Path(path).read_text(encoding="utf-8", errors="surrogateescape")
        except (FileNotFoundError, ProcessLookupError):
            raise DebugInfoError(f"no process has the ID {self.pid}") from None
        except OSError as error:
            raise DebugInfoError(os.strerror(error.errno or 0), path=path) from error
        self._groups = list(_groups(text))
        self._starts = [group[0].start for group in self._groups]

    def find(self, address: int) -> RunningObject | None:
        """Return the object at an address, if there is one.

        Args:
            address: An address in the memory of the process.
        """
        index = bisect_right(self._starts, address)
        if not index:
            return None
        group = self._groups[index - 1]
        if address >= group[-1].end:
            return None
        key = tuple(group)
        if key not in self._objects:
            self._objects[key] = self._object(group)
        return self._objects[key]

    def _object(self, group: list[MemoryRange]) -> RunningObject | None:
        first, last = group[0], group[-1]
        name = first.path.removesuffix(_DELETED)
        copy = self._copy(group)
        path = name
        if name == _VDSO:
            if copy is None:
                return None
            path = f"/proc/{os.getpid()}/fd/{copy}"
        elif not self._is_running_file(name, first.inode):
            path = self._other_path(first) or name
        build_id = None if copy is None else _build_id(copy)
        if copy is not None and name != _VDSO:
            os.close(copy)
            copy = None
        size = last.end - first.start
        mapping = Mapping(Address(first.start), size, path, build_id=build_id)
        return RunningObject(name, mapping, copy)

    def _is_running_file(self, path: str, inode: int) -> bool:
        for place in (f"/proc/{self.pid}/root{path}", path):
            try:
                if os.stat(place).st_ino == inode:  # noqa: PTH116 - surrogates
                    return True
            except (OSError, ValueError):
                continue
        return False

    def _other_path(self, first: MemoryRange) -> str | None:
        """Return a path that still leads to a file which was replaced or removed."""
        base = f"/proc/{self.pid}"
        for path in (f"{base}/exe", f"{base}/map_files/{first.start:x}-{first.end:x}"):
            try:
                if os.stat(path).st_ino == first.inode:  # noqa: PTH116 - a magic link
                    return path
            except OSError:
                continue
        return None

    def _copy(self, group: list[MemoryRange]) -> int | None:
        """Copy the beginning of an object into a file in memory."""
        size = min(group[-1].end - group[0].start, _HEAD_SIZE)
        try:
            with Path(f"/proc/{self.pid}/mem").open("rb", buffering=0) as memory:
                readable = min(size, group[0].end - group[0].start)
                content = os.pread(memory.fileno(), readable, group[0].start)
        except (OSError, OverflowError):
            return None
        copy = os.memfd_create("vestige-object")
        os.write(copy, content)
        if group[0].path != _VDSO:
            # Section headers are not in memory: they read as zero, as none at all.
            os.ftruncate(copy, _LARGEST_OFFSET)
        return copy


def _build_id(copy: int) -> bytes | None:
    try:
        return core.ObjectFile.open(f"/proc/{os.getpid()}/fd/{copy}").build_id
    except DebugInfoError:
        return None


def _groups(text: str) -> Iterator[list[MemoryRange]]:
    """Join the ranges of each object; the gaps in it may hold memory without file."""
    group: list[MemoryRange] = []
    for line in text.split("\n"):
        found = _range(line)
        if found is None:
            continue
        if group and not _continues(group, found):
            yield group
            group = []
        group.append(found)
    if group:
        yield group


def _continues(group: list[MemoryRange], found: MemoryRange) -> bool:
    last = group[-1]
    if (found.inode, found.path) != (last.inode, last.path) or found.path == _VDSO:
        return False
    # A second copy begins again at the start of the file, after the data of the first.
    again = found.offset == 0 and any(one.writable for one in group)
    return not again


def _range(line: str) -> MemoryRange | None:
    words = line.split(maxsplit=5)
    if len(words) < 6:  # noqa: PLR2004 - memory without a name
        return None
    addresses, permissions, offset, _, inode, path = words
    if not path.startswith("/") and path != _VDSO:
        return None
    start, _, end = addresses.partition("-")
    try:
        return MemoryRange(
            int(start, 16),
            int(end, 16),
            "w" in permissions,
            int(offset, 16),
            int(inode),
            path,
        )
    except ValueError:
        return None
