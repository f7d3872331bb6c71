"""Memory of recordings whose recorder was killed: named, or removed with its trace.

It stays in ``/dev/shm`` for as long as the machine runs, and nothing names it but a
hidden file in the trace. So each recording looks at the end whether there is any.
"""

from __future__ import annotations

import os

from ...._suppress import suppress
from ..._agreement import ARENAS_FILE
from ..._collector import look_at_abandoned, remove_abandoned
from .metadata_file import METADATA
from .own_files import read_file

__all__ = ["ACCOUNTS", "FOLDER", "Abandoned", "clear_abandoned", "find_directory"]

FOLDER = "/dev/shm"  # noqa: S108 - shared memory, see shm_overview(7)
ACCOUNTS = ".accounts"
"""What a collector alone knows of memory is in a file whose name ends so."""


class Abandoned:
    """What was found of recordings that were killed."""

    def __init__(self) -> None:
        self.recoverable: list[str] = []
        """Traces that lack what is still in memory."""
        self.removed: list[tuple[str, int]] = []
        """Traces that are gone, and bytes of their memory, which was removed."""
        self.doubtful: list[tuple[str, int]] = []
        """Memory of traces that are gone or elsewhere, nobody knows, and its bytes."""


def clear_abandoned(folder: str = FOLDER) -> Abandoned:
    """Look for memory of this user's recordings that were killed.

    Memory is removed if the directory of its trace was: not if that may only be called
    otherwise here, in a container or because its disk is not there or a directory above
    it has another name, and not while a program goes on to write.

    Args:
        folder: Where memory is shared.

    Returns:
        What was found.
    """
    found = Abandoned()
    start = f"vestige-{os.geteuid()}-"
    names = sorted(os.listdir(folder))
    for name in names:
        if not name.startswith(start):
            continue
        # Somebody may do the same at the same time.
        with suppress(OSError):
            if name.endswith(ACCOUNTS):
                _clear_accounts(folder, name)
            else:
                _clear(os.path.join(folder, name), found)
    return found


def _clear_accounts(folder: str, name: str) -> None:
    """Remove what a collector noted of memory that its user has removed.

    The memory is made before it, and removed before it.
    """
    mark = name.removesuffix(ACCOUNTS).rpartition("-")[2]
    if not any(other.endswith(f"-{mark}") for other in os.listdir(folder)):
        os.unlink(os.path.join(folder, name))


def _clear(arena: str, found: Abandoned) -> None:
    seen = look_at_abandoned(arena)
    if seen is None:
        return
    directory, device, inode, is_seen_from_here, size, live, _ = seen
    if not is_seen_from_here:
        return
    if not directory:
        # The path had no room in the memory.
        found.doubtful.append((arena, size))
        return
    trace = find_directory(directory, device, inode)
    if trace is not None and _is_measurement(trace):
        # It is worth nothing without its recorder.
        if remove_abandoned(arena):
            # They take as long to import as all of this, and hardly anybody needs them.
            from pathlib import Path  # noqa: PLC0415 - see above

            from .cost import remove_measurement  # noqa: PLC0415 - see above

            remove_measurement(Path(trace))
    elif trace is not None and _is_named(arena, trace):
        if trace not in found.recoverable:
            found.recoverable.append(trace)
    elif not live and _is_gone(directory, device):
        _clear_lost(arena, directory, size, found)


def _clear_lost(arena: str, directory: str, size: int, found: Abandoned) -> None:
    """Remove memory whose trace is gone, unless it may be below a moved directory."""
    if not os.path.isdir(os.path.dirname(directory)):
        found.doubtful.append((arena, size))
    elif remove_abandoned(arena):
        found.removed.append((directory, size))


def find_directory(directory: str, device: int, inode: int) -> str | None:
    """Return where a directory is, which may have another name, or one above it.

    Args:
        directory: How it was called.
        device: The device that it is on.
        inode: Its inode there.

    Returns:
        A path; ``None`` if it is not found.
    """
    if _is_place(directory, device, inode):
        return directory
    parent = os.path.dirname(directory)
    while not os.path.isdir(parent):
        parent = os.path.dirname(parent)
    # What is below the first name that is not there, which is another one now.
    _, _, rest = os.path.relpath(directory, parent).partition("/")
    with suppress(OSError), os.scandir(parent) as entries:
        for one in entries:
            # What is mounted on a directory has another inode than its entry.
            if not rest and one.inode() != inode:
                continue
            place = os.path.join(one.path, rest) if rest else one.path
            if _is_place(place, device, inode):
                return place
    return None


def _is_place(path: str, device: int, inode: int) -> bool:
    with suppress(OSError):
        status = os.lstat(path)
        return (status.st_dev, status.st_ino) == (device, inode)
    return False


def _is_measurement(trace: str) -> bool:
    folder, name = os.path.split(trace)
    if not name.startswith("."):
        return False
    from .cost import MEASUREMENT  # noqa: PLC0415 - as above

    return name == MEASUREMENT and os.path.isfile(os.path.join(folder, METADATA))


def _is_named(arena: str, trace: str) -> bool:
    """Tell whether a trace has an arena, and is this user's: then it can be recovered.

    Raises:
        OSError: It cannot be read.
    """
    try:
        lines = os.fsdecode(read_file(trace, ARENAS_FILE)).splitlines()
    except FileNotFoundError:
        return False
    return any(line.split("\t")[0] == arena for line in lines)


def _is_gone(directory: str, device: int) -> bool:
    """Tell whether only a directory is not there, and not its file system.

    Raises:
        OSError: It cannot be looked at.
    """
    place = directory
    while True:
        try:
            return os.stat(place).st_dev == device
        except (FileNotFoundError, NotADirectoryError):
            place = os.path.dirname(place)
