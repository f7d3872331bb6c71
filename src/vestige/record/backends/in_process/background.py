"""Processes of a recording that outlive its program, found without their files.

A process that was forked a moment ago has no file yet, and one that executes a program
has none to show. Daemons are born in such a moment: their parent ends at once. What
the processes of a recording have in common is their environment, see proc(5).
"""

from __future__ import annotations

import os

from ...._suppress import suppress
from ...._typing import TYPE_CHECKING
from ..._agreement import SETTINGS_TAIL
from ...process_stat import stat_words
from .tracer import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = [
    "inner_id",
    "is_running",
    "mapping_processes",
    "maps_memory",
    "other_processes",
    "process_name",
    "processes_in_background",
    "recording_processes",
]

MOST_LOOKS = 16
"""At the processes that began meanwhile; on a quiet machine, two are enough."""
INODE = 4
"""The word of a line about a mapping that is the inode of its file."""


def processes_in_background(directory: str, first: int | None = None) -> set[int]:
    """Find the processes that a recording was passed on to.

    Args:
        directory: The trace, absolute, as the environment has it.
        first: The ID of a process that began before all of them; ``None`` is the
            calling process.

    Returns:
        IDs of processes that run. Those of other users are not found.
    """
    mark = f" {SETTINGS_TAIL}{directory}\0".encode()
    known: set[int] = set()
    found: set[int] = set()
    for _ in range(MOST_LOOKS):
        new = set(_later_processes(first or os.getpid())) - known
        if not new:
            break
        # Until we look, one may have ended, and left a child that is not known.
        known |= new
        found |= {process for process in new if _is_recorded(process, mark)}
        found = set(filter(is_running, found))
    return found


def recording_processes(
    recorded: Collection[tuple[int, int]], memory: Collection[int]
) -> set[int]:
    """Find the processes whose threads have places in memory.

    Programs that set their title write over their environment: nobody sees there that
    they are recorded. What a place says, a program may have written that is another
    process, so each must have the memory mapped.

    Args:
        recorded: Their IDs in their own PID namespaces, and the inodes of these.
        memory: The inodes of the files that they map.

    Returns:
        IDs of those that run and are seen from here.
    """
    if not recorded:
        return set()
    return {
        one
        for one in other_processes()
        if _has_place(one, recorded) and maps_memory(one, memory)
    }


def mapping_processes(memory: Collection[int]) -> set[int]:
    """Find the processes that have memory mapped, see proc_pid_maps(5).

    Args:
        memory: The inodes of the files.

    Returns:
        IDs of those that run and are seen from here, but not of the calling process.
    """
    return {
        one for one in other_processes() if is_running(one) and maps_memory(one, memory)
    }


def other_processes() -> Iterator[int]:
    """Yield the IDs of all processes but the calling one, see proc(5)."""
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdecimal() and int(name) != os.getpid():
                yield int(name)


def _has_place(process: int, recorded: Collection[tuple[int, int]]) -> bool:
    try:
        space = os.stat(f"/proc/{process}/ns/pid").st_ino
    except OSError:
        # Another user's; a process ID alone may be that of somebody else.
        return False
    inner = inner_id(process)
    is_recorded = (inner, space) in recorded or (inner, 0) in recorded
    return is_recorded and is_running(process)


def maps_memory(process: int, inodes: Collection[int]) -> bool:
    """Tell whether a process has one of some files mapped, see proc_pid_maps(5).

    Args:
        process: Its ID.
        inodes: The inodes of the files.
    """
    wanted = {str(one).encode() for one in inodes}
    lines = _read(process, "maps").splitlines()
    return any(line.split(None, 5)[INODE] in wanted for line in lines)


def is_running(process: int) -> bool:
    """Tell whether a process goes on; one that waits for its parent does not.

    Args:
        process: Its ID.
    """
    words = stat_words(process)
    return bool(words) and words[0] not in {"Z", "X"}


def inner_id(process: int) -> int:
    """Return the ID of a process in its own namespace, see pid_namespaces(7).

    Args:
        process: Its ID here.
    """
    for line in _read(process, "status").splitlines():
        if line.startswith(b"NSpid:"):
            return int(line.split()[-1])
    return process


def process_name(process: int) -> str:
    """Return what a process is called, see proc_pid_comm(5).

    Args:
        process: Its ID.
    """
    return os.fsdecode(_read(process, "comm").removesuffix(b"\n"))


def _is_recorded(process: int, mark: bytes) -> bool:
    environment = b"\0" + _read(process, "environ")
    return (
        mark in environment
        and LIBRARY.encode() in environment
        and b"\0VESTIGE_TRACER_OFF=" not in environment
        and _is_traceable(process)
    )


def _is_traceable(process: int) -> bool:
    # Few recordings have any that may go on.
    from ....inspect.program_file import why_untraceable  # noqa: PLC0415 - see above

    return why_untraceable(f"/proc/{process}/exe") is None


def _later_processes(first: int) -> Iterator[int]:
    """Return the processes that began after another one, as far as their IDs tell.

    The calling process is not among them.
    """
    try:
        names = os.listdir("/proc")
        with open("/proc/loadavg", "rb") as file:
            last = int(file.read().split()[-1])
    except (OSError, ValueError):
        return
    ours = {first, os.getpid()}
    # IDs begin again when all were used.
    least = first if last > first else 0
    for name in names:
        if name.isdecimal() and int(name) > least and int(name) not in ours:
            yield int(name)


def _read(process: int, name: str) -> bytes:
    try:
        with open(f"/proc/{process}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""
