"""The namespaces that threads are in when a recording begins, from ``/proc``.

IDs of users and processes are those of the namespace that an event is of. What nobody
can tell is left out: a namespace above that of the recorder, and which users those of a
namespace between are.
"""

from __future__ import annotations

import fcntl
import os
import struct
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from .event_classes import integer
from .proc_files import read_file, words_after

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CLASSES", "Namespaces"]

_SIGNED = integer(4, is_signed=True)
_UNSIGNED = integer(4)
_PLAIN = ("cgroup", "ipc", "mnt", "net", "uts", "time")
"""Those that are not within each other, in LTTng's order."""

CLASSES: dict[str, str] = {
    "process_pid_ns": f"{_SIGNED} _tid; {_SIGNED} _vtid; {_SIGNED} _vpid; "
    f"{_SIGNED} _vppid; {_SIGNED} _ns_level; {_UNSIGNED} _ns_inum;",
    "process_user_ns": f"{_SIGNED} _tid; {_UNSIGNED} _vuid; {_UNSIGNED} _vgid; "
    f"{_SIGNED} _ns_level; {_UNSIGNED} _ns_inum;",
    **{
        f"process_{kind}_ns": f"{_SIGNED} _tid; {_UNSIGNED} _ns_inum;"
        for kind in _PLAIN
    },
}
"""Names of the events without ``lttng_statedump_``, and their fields."""

_PLAIN_FIELDS = struct.Struct("<iI")
_GET_PARENT = 0xB702
"""ioctl_ns(2): the namespace around one."""
_NOBODY = 65534
"""Who somebody is that a namespace does not know."""
_DEEPEST = 32
_NUMBER = 0xFFFFFFFF
_THREADS, _GROUPS, _USER, _GROUP = b"NSpid:", b"NStgid:", b"Uid:", b"Gid:"


class Namespaces:
    """Tells the namespaces of threads."""

    def __init__(self) -> None:
        self._own = {kind: _inode(f"/proc/self/ns/{kind}") for kind in ("pid", "user")}
        self._around: dict[tuple[str, int], list[int]] = {}
        self._groups: dict[int, list[tuple[int, int]]] = {}

    def records(
        self, place: str, thread: int, parent: int
    ) -> Iterator[tuple[str, bytes]]:
        """Yield what a thread is in.

        Args:
            place: Its directory in ``/proc``.
            thread: Its ID.
            parent: The ID of the process that is its parent; 0: it has none.

        Yields:
            The names of events without ``lttng_statedump_``, and their fields.

        Raises:
            OSError: It has ended.
        """
        status = read_file(f"{place}/status", is_small=True)
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        directory = os.open(f"{place}/ns", flags)
        try:
            space = _inode("pid", directory)
            yield from self._processes(place, status, thread, parent, space)
            space = _inode("user", directory)
            yield from self._users(place, status, thread, space)
            for kind in _PLAIN:
                # An older kernel lacks some; a thread that ends has none.
                with suppress(OSError):
                    number = _inode(kind, directory)
                    yield f"process_{kind}_ns", _PLAIN_FIELDS.pack(thread, number)
        finally:
            os.close(directory)

    def _processes(
        self, place: str, status: bytes, thread: int, parent: int, space: int
    ) -> Iterator[tuple[str, bytes]]:
        # From the namespace of the recorder on inwards.
        threads, groups = _numbers(_THREADS, status), _numbers(_GROUPS, status)
        spaces = self._chain(place, "pid", space)
        if not threads or len(threads) != len(groups) or len(spaces) != len(threads):
            return
        of_parent = self._groups_of(parent)
        for level in reversed(range(len(threads))):
            space = spaces[level]
            above = of_parent[level] if level < len(of_parent) else (0, 0)
            # A parent in another namespace has no ID in this one.
            inner = above[0] if above[1] == space else 0
            fields = (thread, threads[level], groups[level], inner, level, space)
            yield "process_pid_ns", struct.pack("<iiiiiI", *fields)

    def _groups_of(self, process: int) -> list[tuple[int, int]]:
        """Return the IDs of a process, and the namespaces that they are of."""
        if process not in self._groups:
            self._groups[process] = []
            with suppress(OSError):
                place = f"/proc/{process}"
                numbers = _numbers(_GROUPS, read_file(f"{place}/status", is_small=True))
                spaces = self._chain(place, "pid", _inode(f"{place}/ns/pid"))
                self._groups[process] = list(zip(numbers, spaces, strict=False))
        return self._groups[process]

    def _users(
        self, place: str, status: bytes, thread: int, space: int
    ) -> Iterator[tuple[str, bytes]]:
        users, groups = words_after(_USER, status), words_after(_GROUP, status)
        spaces = self._chain(place, "user", space)
        if not users or not groups or not spaces:
            return
        seen = int(users[0]), int(groups[0])
        inner = len(spaces) - 1
        if inner:
            own = (
                _mapped(seen[0], read_file(f"{place}/uid_map")),
                _mapped(seen[1], read_file(f"{place}/gid_map")),
            )
            fields = thread, *own, inner, spaces[inner]
            yield "process_user_ns", struct.pack("<iIIiI", *fields)
        fields = thread, *seen, 0, spaces[0]
        yield "process_user_ns", struct.pack("<iIIiI", *fields)

    def _chain(self, place: str, kind: str, number: int) -> list[int]:
        """Return the numbers of a thread's namespaces, from ours on inwards.

        Without those, if it is not in ours.
        """
        if number == self._own[kind]:
            return [number]
        if (kind, number) not in self._around:
            path = f"{place}/ns/{kind}"
            self._around[kind, number] = self._outwards(path, self._own[kind])
        return self._around[kind, number]

    def _outwards(self, path: str, own: int) -> list[int]:
        found: list[int] = []
        space = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            while len(found) < _DEEPEST:
                found.append(os.fstat(space).st_ino & _NUMBER)
                if found[-1] == own:
                    return found[::-1]
                around = fcntl.ioctl(space, _GET_PARENT)
                os.close(space)
                space = around
        except OSError:
            # What is around it is not for us to see.
            return []
        finally:
            os.close(space)
        return []


def _inode(path: str, directory: int | None = None) -> int:
    """Return the number of a namespace: its link says it, in a third of the time."""
    text = os.readlink(path, dir_fd=directory)
    return int(text[text.index("[") + 1 : -1])


def _numbers(key: bytes, status: bytes) -> list[int]:
    return [int(one) for one in words_after(key, status)]


def _mapped(seen: int, lines: bytes) -> int:
    """Return who somebody is within a namespace (user_namespaces(7)).

    Args:
        seen: Who that is outside.
        lines: The file ``uid_map`` or ``gid_map``.
    """
    for line in lines.splitlines():
        inside, outside, count = map(int, line.split())
        if outside <= seen < outside + count:
            return inside + seen - outside
    return _NOBODY
