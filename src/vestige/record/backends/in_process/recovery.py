"""Recordings whose collector was killed: what it left in memory joins the trace."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from ....errors import RecordError
from ..._agreement import ARENAS_FILE
from ..._collector import look_at_abandoned
from ..._collector import recover as recover_arena
from ...collected import Collected
from .abandoned_arenas import find_directory
from .background import processes_in_background
from .collector import collected_from
from .losses import tell_losses_later
from .metadata_file import METADATA, mark_damaged
from .own_files import read_file
from .refusals import read_refusals, refusal_lines, remove_refusals

__all__ = ["ARENAS", "is_ended", "is_left", "recover", "recover_if_abandoned"]

ARENAS = ARENAS_FILE
"""Names the memory of a recording: a line an arena, its path first, then a tab."""
ENDING = 0.1
"""Seconds in which a collector gives memory back and says so; it takes far fewer."""
BOOT = 2
"""The word of such a line that says since when the machine has run."""
BOOT_ID = "/proc/sys/kernel/random/boot_id"
FIRST_PROCESS = 1
"""All processes have begun after it."""


def recover(directory: str | os.PathLike[str]) -> list[Collected]:
    """Write what a recording that was killed has left in memory.

    It may be done again: what is in the trace is not written twice.

    Args:
        directory: The trace.

    Returns:
        What each memory held; none when there is nothing to recover.

    Raises:
        RecordError: It is no trace, cannot be written, or is a copy of the one to which
            the memory belongs.
    """
    path = Path(directory).absolute()
    try:
        lines = _lines(path)
    except FileNotFoundError:
        if not (path / METADATA).is_file():
            raise RecordError("expected a recording", path=path) from None
        return []
    except OSError as error:
        raise RecordError(f"cannot be read: {error.strerror}", path=path) from error
    arenas = [line.split("\t")[0] for line in lines]
    for arena in arenas:
        _refuse_copy(path, arena)
    found = _recover_all(path, lines)
    _tell_damage(path, found)
    unplaced = sum(one.unplaced for one in found)
    if unplaced:
        # Of the threads that had no place in it, only the arena knows what they lost.
        is_told = tell_losses_later(path, unplaced)
        for arena, one in zip(arenas, found, strict=True):
            if one.unplaced and is_told:
                _recover(path, arena, told=one.unplaced)
            elif one.unplaced:
                one.is_drained = False
    if found and all(one.is_drained for one in found):
        # Tracers find no memory any more, and have nothing more to say.
        found[-1].problems += refusal_lines(read_refusals(os.fspath(path)))
        remove_refusals(os.fspath(path))
    return found


def _recover_all(directory: Path, lines: list[str]) -> list[Collected]:
    """Recover each memory; one that its user has removed does not keep those of others.

    Raises:
        RecordError: Of the first that cannot be recovered, when all others are.
    """
    found = []
    errors = []
    for line in lines:
        try:
            found.append(_recover(directory, line.split("\t")[0], line=line))
        except RecordError as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return found


def _tell_damage(directory: Path, found: list[Collected]) -> None:
    if any(one.is_damaged for one in found):
        with suppress(OSError):
            mark_damaged(directory)


def _lines(directory: Path) -> list[str]:
    return read_file(directory, ARENAS).decode().splitlines()


def _recover(
    directory: Path, arena: str, told: int = 0, line: str | None = None
) -> Collected:
    try:
        return collected_from(recover_arena(str(directory), arena, told))
    except FileNotFoundError as error:
        raise RecordError(_why_gone(line or ""), path=arena) from error
    except BlockingIOError as error:
        raise RecordError(
            "is still recorded: it has a collector that runs", path=directory
        ) from error
    except OSError as error:
        raise RecordError(
            f"cannot be recovered: {error.strerror or error}",
            path=error.filename or directory,
        ) from error


def _why_gone(line: str) -> str:
    """Say what has become of memory that a line of the register names."""
    if _is_of_earlier_boot(line):
        return "its memory is gone, since the machine was started again"
    return "its memory is gone: somebody has removed it"


def _is_of_earlier_boot(line: str) -> bool:
    words = line.split("\t")
    with suppress(OSError):
        boot = Path(BOOT_ID).read_text(encoding="ascii").strip()
        return len(words) > BOOT and words[BOOT] not in {"", boot}
    return False


def _refuse_copy(directory: Path, arena: str) -> None:
    """Leave memory to the trace that it belongs to, if there is another one.

    Raises:
        RecordError: There is.
    """
    seen = None
    with suppress(OSError):
        seen = look_at_abandoned(arena)
    if seen is None or _is_directory(directory, seen[1], seen[2]):
        return
    place = find_directory(*seen[:3]) if seen[0] and seen[3] else None
    if place is not None:
        raise RecordError(
            f"is a copy of {place}, to which what is in memory belongs: recover that",
            path=directory,
        )


def _is_directory(path: str | os.PathLike[str], device: int, inode: int) -> bool:
    found = os.stat(path)
    return (found.st_dev, found.st_ino) == (device, inode)


def recover_if_abandoned(
    path: str | os.PathLike[str],
) -> tuple[list[Collected], list[str]]:
    """Do so if the collector was killed, for somebody who wants to read.

    That ends the recording, and takes what is in memory for this trace. So it is done
    only if no thread goes on to record, and for no copy of the trace.

    Args:
        path: The trace.

    Returns:
        What was recovered, and why what is in memory stays there. Neither, where there
        is nothing, or it cannot be done: a recording that runs has its collector, and
        one of somebody else stays as it is.
    """
    try:
        reasons = _reasons(path)
        if any(reasons):
            # A recording that ends at this moment looks the same.
            time.sleep(ENDING)
            reasons = _reasons(path)
    except OSError:
        return [], []
    if any(reason is not None for reason in reasons):
        return [], [reason for reason in reasons if reason]
    try:
        return recover(path), []
    except RecordError as error:
        return [], [f"what is in memory cannot be read: {error}"]


def is_ended(directory: Path) -> bool:
    """Tell whether programs were told to record nothing more to memory that was left.

    Args:
        directory: The trace.
    """
    with suppress(OSError):
        seen = [look_at_abandoned(line.split("\t")[0]) for line in _lines(directory)]
        return all(one is not None and one[-1] for one in seen)
    return False


def is_left(directory: Path) -> bool:
    """Tell whether a recording has memory whose collector was killed.

    Args:
        directory: The trace.
    """
    if not _has_abandoned(directory):
        return False
    # As above.
    time.sleep(ENDING)
    return _has_abandoned(directory)


def _has_abandoned(directory: Path) -> bool:
    with suppress(OSError):
        for line in _lines(directory):
            seen = look_at_abandoned(line.split("\t")[0])
            if seen is not None and _is_directory(directory, seen[1], seen[2]):
                return True
    return False


def _reasons(path: str | os.PathLike[str]) -> list[str | None]:
    return [_why_left(path, line) for line in _lines(Path(path))]


def _why_left(path: str | os.PathLike[str], line: str) -> str | None:
    """Say why a reader leaves memory alone; ``None`` if it need not.

    Nothing, in words, is said of memory that has a collector or belongs to somebody
    else: the trace is as it should be then.
    """
    arena = line.split("\t", maxsplit=1)[0]
    try:
        seen = look_at_abandoned(arena)
    except FileNotFoundError:
        return f"it may lack its last events: {_why_gone(line)}"
    except OSError:
        return ""
    if seen is None:
        return ""
    directory, device, inode, _, _, live, is_closed = seen
    if not _is_directory(path, device, inode):
        return (
            "it is a copy, and may lack its last events: what is in memory belongs to "
            f"{directory or 'another directory'}"
        )
    # Rings of CPUs count as threads that live, also when nobody is to use them.
    goes_on = live and not is_closed and not _is_of_earlier_boot(line)
    if goes_on or (directory and processes_in_background(directory, FIRST_PROCESS)):
        return (
            "its recorder was killed, and its program goes on: what it records stays "
            "in memory, until 'vestige record --recover' ends the recording"
        )
    return None
