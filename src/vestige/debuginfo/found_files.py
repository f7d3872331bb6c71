"""What a search has found for an object, and from where its names come."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from .._typing import NamedTuple
from .attempt import Attempt, AttemptKind, Outcome
from .object_file import ObjectFile

__all__ = ["DebugSource", "FoundFiles"]

_OTHER_FILE = (Outcome.OTHER_BUILD_ID, Outcome.OTHER_CONTENTS)


class DebugSource(Enum):
    """Which file gives the names of an object; the value is a phrase for people."""

    OBJECT = "debug information in the object"
    BUILD_ID = "debug file found by build ID"
    DEBUG_LINK = "debug file found by debug link"
    DEBUGINFOD = "debug file from debuginfod"
    KERNEL = "debug file of the kernel's release"
    SYMBOLS_ONLY = "symbols without debug information"
    MINI = "MiniDebugInfo in the object"
    PACKED = "symbols packed with the trace"
    TRACE = "the trace itself"
    NONE = "nothing"


class FoundFiles(NamedTuple):
    """What a search has found for an object."""

    object: ObjectFile | None
    """The object itself, when it is there and is the one that was traced."""

    debug: ObjectFile | None
    """The file that gives the names; it may be the object itself."""

    source: DebugSource
    """How that file was found, and what it holds."""

    attempts: tuple[Attempt, ...]
    """Each place tried, in order, beginning with those of the object itself."""

    host_path: str = ""
    """The path on this machine of the object, or the first one where it should be."""

    mini: ObjectFile | None = None
    """The symbols that the object holds in compressed form (``.gnu_debugdata``)."""

    supplement: ObjectFile | None = None
    """The file that holds what several debug files share (``.gnu_debugaltlink``)."""

    package: ObjectFile | None = None
    """The DWARF package (``.dwp``) of the debug file."""

    split: tuple[tuple[int, Path], ...] = ()
    """The split DWARF files (``.dwo``) of the debug file, with the ID of each."""

    @property
    def object_refusal(self) -> Attempt | None:
        """Why the object itself is not used, when it is not; the most telling reason.

        Also ``None`` when nobody knows the path of the object.
        """
        if self.object is not None:
            return None
        tried = [one for one in self.attempts if one.kind is AttemptKind.OBJECT]
        return min(tried, key=_rank, default=None)

    @property
    def is_other_file(self) -> bool:
        """Whether the file at the object's path is known to be another one."""
        refusal = self.object_refusal
        return refusal is not None and refusal.outcome in _OTHER_FILE


def _rank(attempt: Attempt) -> int:
    # Another file, then one that cannot be used, then none at all.
    if attempt.outcome in _OTHER_FILE:
        return 0
    return 2 if attempt.outcome is Outcome.MISSING else 1
