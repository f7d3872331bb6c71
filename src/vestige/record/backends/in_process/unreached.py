"""Processes of a recorded program that are not recorded, and why.

A program may start others that get no tracer: with another user's rights (AT_SECURE),
statically linked, with another root directory that does not have the library, with an
environment of their own. Others get the tracer and cannot reach the memory of the
recording. They are found in ``/proc`` (proc(5)) while they run: one that ends between
two looks is not found.

A program that has just been executed has no tracer yet, and the kernel does not tell
when that was. So nobody is named who was not seen twice in the same program, some time
apart; and a process that records in the end is named no more.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Iterator
from pathlib import Path

from ...._suppress import suppress
from ...._typing import NamedTuple
from ....inspect.program_file import why_untraceable
from ..._agreement import OFF_VARIABLE
from ...collected import WITHOUT_MEMORY, Unreached
from ...process_stat import stat_words
from .tracer import LIBRARY

__all__ = ["UnreachedProcesses"]

MOST_FOUND = 100
"""Processes that are kept; of more, only the number is."""
GRACE = 0.25
"""Seconds for which a program may not have begun, from when it was first seen."""
VALGRIND_GRACE_TICKS = 1000
"""The same in Valgrind, whose own program is there first, and which is slow: hundredths
of a second from the start of the process."""
IN_VALGRIND = b"VALGRIND_LAUNCHER="
"""What Valgrind adds to the environment of its tools."""


STOPPED = frozenset("tT")
"""States of processes that are stopped, by a debugger or by a signal."""
START_OF_CODE, START_OF_STACK = 23, 25
"""Where they are in ``/proc/PID/stat``, after the name."""


class _Program(NamedTuple):
    """One program that a process runs; it may execute others before and after."""

    process: int
    """Its ID."""
    start: int
    """When the process began, ticks after the machine."""
    place: tuple[str, str]
    """Where its code and its stack are: exec changes that, as a rule."""


class UnreachedProcesses:
    """Finds the processes of a recording that are not recorded.

    Args:
        root: The process that was started.
        arenas: Gives the inodes of the recording's arenas; there may be more later.
        is_known: Tells whether a process records, by its ID and the inode of its PID
            namespace; asked where its memory map may not be read.
    """

    def __init__(
        self,
        root: int,
        arenas: Callable[[], Container[int]],
        is_known: Callable[[int, int], bool],
    ) -> None:
        self._root = root
        self._arenas = arenas
        self._is_known = is_known
        self._found: dict[_Program, Unreached] = {}
        self._family: set[int] = {root}
        self._others: set[_Program] = set()
        self._doubted: dict[_Program, float] = {}

    @property
    def more(self) -> int:
        """How many processes there are beyond those that are kept."""
        return len(self._others)

    @property
    def found(self) -> list[Unreached]:
        """Those that were found, in the order in which they were."""
        return list(self._found.values())

    @property
    def is_in_doubt(self) -> bool:
        """Whether there is one that another look, after :data:`GRACE`, may find."""
        return bool(self._doubted)

    def look(self) -> None:
        """Look at the processes that run now."""
        now, ticks = time.monotonic(), _uptime_ticks()
        doubted: dict[_Program, float] = {}
        for one in self._descendants():
            reason = self._why(one.process)
            if reason is None:
                # It may have been slow to begin.
                self._found.pop(one, None)
                self._others.discard(one)
                continue
            if one in self._found or one in self._others:
                continue
            if _may_not_have_begun(one.process, ticks - one.start):
                continue
            since = self._doubted.get(one, now)
            if now - since < GRACE or not _is_still(one):
                doubted[one] = since
            else:
                self._name(one, reason)
        self._doubted = doubted

    def _name(self, one: _Program, reason: str) -> None:
        if len(self._found) < MOST_FOUND:
            found = Unreached(one.process, _name(one.process), reason)
            self._found[one] = found
        else:
            self._others.add(one)

    def _descendants(self) -> Iterator[_Program]:
        """Return the processes that come from the first one, as what they run.

        One whose parent has ended is known if it was seen before that.
        """
        found: dict[int, tuple[int, _Program]] = {}
        with suppress(OSError):
            for name in os.listdir("/proc"):
                if name.isdecimal():
                    known = _parent_and_program(int(name))
                    if known is not None:
                        found[int(name)] = known
        is_new = True
        while is_new:
            is_new = False
            for process, (parent, _) in found.items():
                if parent in self._family and process not in self._family:
                    self._family.add(process)
                    is_new = True
        self._family &= found.keys() | {self._root}
        for process in sorted(self._family & found.keys()):
            yield found[process][1]

    def _records(self, objects: list[tuple[int, str]]) -> bool:
        arenas = self._arenas()
        return any(inode in arenas for inode, _ in objects)

    def _why(self, process: int) -> str | None:
        """Say why a process is not recorded; ``None`` when it is, or has ended."""
        try:
            # In this order: an arena that is made in between is one of them.
            objects = _mapped(process)
        except PermissionError:
            if self._is_known(*_inner(process)):
                return None
            return "another user's, and Vestige is not root"
        except OSError:
            return None
        if not objects or self._records(objects):
            # A process of the kernel, and one that waits for its parent, has none.
            return None
        return _why_not(process, [path for _, path in objects])


def _may_not_have_begun(process: int, age: int) -> bool:
    """Tell whether a process may record later: Valgrind is slow, debuggers stop it."""
    if age < VALGRIND_GRACE_TICKS and _is_in_valgrind(process):
        return True
    return _state(process) in STOPPED


def _why_not(process: int, objects: list[str]) -> str | None:
    """Say why a process does not record; ``None`` when nobody wanted it to."""
    if _has_variable(process, OFF_VARIABLE):
        return None
    if any(path.endswith(LIBRARY) for path in objects):
        return WITHOUT_MEMORY
    return _why_without_tracer(process)


def _why_without_tracer(process: int) -> str:
    directory = Path(f"/proc/{process}")
    if _is_in_valgrind(process):
        return "Valgrind runs a program into which no library is loaded"
    root = ""
    with suppress(OSError):
        root = str((directory / "root").readlink())
    reason = why_untraceable(str(directory / "exe"))
    if reason is not None:
        return reason.replace(f"{directory}/exe", _name(process))
    if root not in {"", "/"}:
        return f"its root directory, {root}, does not have the tracer's library"
    if LIBRARY.encode() not in _environment(process):
        return "its environment has no LD_PRELOAD of the tracer"
    return "the dynamic linker did not load the tracer's library"


def _has_variable(process: int, name: str) -> bool:
    start = f"{name}=".encode()
    return any(one.startswith(start) for one in _environment(process).split(b"\0"))


def _environment(process: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{process}/environ").read_bytes()
    return b""


def _is_in_valgrind(process: int) -> bool:
    return IN_VALGRIND in _environment(process)


def _mapped(process: int) -> list[tuple[int, str]]:
    """Return inode and path of what is mapped from files.

    Raises:
        OSError: It cannot be read, or the process has ended.
    """
    found = []
    with Path(f"/proc/{process}/maps").open(errors="replace") as file:
        for line in file:
            words = line.split(maxsplit=5)
            if len(words) == 6:  # noqa: PLR2004 - as proc_pid_maps(5) has it
                found.append((int(words[4]), words[5].rstrip()))
    return found


def _inner(process: int) -> tuple[int, int]:
    """Return the ID in its own PID namespace, and the inode of that."""
    inner, inode = process, 0
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                inner = int(line.split()[-1])
    with suppress(OSError):
        inode = Path(f"/proc/{process}/ns/pid").stat().st_ino
    return inner, inode


def _name(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/exe").readlink().name
    with suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text(errors="replace").strip()
    return "?"


def _parent_and_program(process: int) -> tuple[int, _Program] | None:
    """Return the parent of a process, and what it runs; ``None`` if it has ended."""
    words = stat_words(process)
    if len(words) <= START_OF_STACK:
        return None
    place = words[START_OF_CODE], words[START_OF_STACK]
    return int(words[1]), _Program(process, int(words[19]), place)


def _is_still(one: _Program) -> bool:
    """Tell whether a process still runs the same program."""
    known = _parent_and_program(one.process)
    return known is not None and known[1] == one


def _state(process: int) -> str:
    return next(iter(stat_words(process)), "")


def _uptime_ticks() -> int:
    text = Path("/proc/uptime").read_text(encoding="ascii")
    return int(float(text.split()[0]) * os.sysconf("SC_CLK_TCK"))
