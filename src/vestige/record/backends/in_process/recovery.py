"""Recordings whose collector was killed: what it left in memory joins the trace."""

from __future__ import annotations

import os
from pathlib import Path

from ....errors import RecordError
from ..._agreement import ARENAS_FILE
from ..._collector import recover as recover_arena
from ...collected import Collected
from .collector import collected_from
from .losses import tell_losses_later
from .metadata_file import METADATA
from .refusals import read_refusals, refusal_lines, remove_refusals

__all__ = ["ARENAS", "recover", "recover_if_abandoned"]

ARENAS = ARENAS_FILE
"""Names the memory of a recording: a line an arena, its path first, then a tab."""


def recover(directory: str | os.PathLike[str]) -> list[Collected]:
    """Write what a recording that was killed has left in memory.

    It may be done again: what is in the trace is not written twice.

    Args:
        directory: The trace.

    Returns:
        What each memory held; none when there is nothing to recover.

    Raises:
        RecordError: It is no trace, or cannot be written.
    """
    path = Path(directory).absolute()
    try:
        lines = (path / ARENAS).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        if not (path / METADATA).is_file():
            raise RecordError("expected a recording", path=path) from None
        return []
    except OSError as error:
        raise RecordError(f"cannot be read: {error.strerror}", path=path) from error
    arenas = [line.split("\t")[0] for line in lines]
    found = [_recover(path, arena) for arena in arenas]
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


def _recover(directory: Path, arena: str, told: int = 0) -> Collected:
    try:
        return collected_from(recover_arena(str(directory), arena, told))
    except FileNotFoundError as error:
        raise RecordError(
            "its memory is gone, as after the machine was started again",
            path=arena,
        ) from error
    except BlockingIOError as error:
        raise RecordError(
            "is still recorded: it has a collector that runs", path=directory
        ) from error
    except OSError as error:
        raise RecordError(
            f"cannot be recovered: {error.strerror or error}",
            path=error.filename or directory,
        ) from error


def recover_if_abandoned(path: str | os.PathLike[str]) -> list[Collected]:
    """Do so if the collector was killed, for somebody who wants to read.

    Args:
        path: The trace.

    Returns:
        What was recovered; nothing where there is nothing, or it cannot be done: a
        recording that runs has its collector, and one of somebody else stays as it is.
    """
    try:
        return recover(path)
    except RecordError:
        return []
