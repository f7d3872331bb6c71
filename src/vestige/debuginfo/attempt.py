"""The log of a search: each place tried, and what was found there."""

from __future__ import annotations

from enum import Enum

from .._typing import NamedTuple

__all__ = ["Attempt", "AttemptKind", "Outcome", "Refusal"]


class AttemptKind(Enum):
    """By which rule a place is tried; the value is a phrase for people."""

    OBJECT = "the object itself"
    BUILD_ID = "build ID"
    DEBUG_LINK = "debug link"
    MINI = "MiniDebugInfo"
    DEBUGINFOD = "debuginfod"
    KERNEL = "release of the kernel"
    SUPPLEMENT = "supplementary file"
    PACKAGE = "DWARF package"
    SPLIT = "split DWARF"
    PACKED = "packed symbols"


class Outcome(Enum):
    """What became of a place; the value is a phrase for people."""

    USED = "used"
    NO_DWARF = "no debug information in it"
    MISSING = "no such file"
    REFUSED_PATH = "the path is refused"
    UNREADABLE = "cannot be read"
    NOT_A_FILE = "not a regular file"
    UNUSABLE = "not a usable ELF file"
    OTHER_BUILD_ID = "has another build ID"
    OTHER_CONTENTS = "differs in size and time of change"
    OTHER_CRC = "has another CRC"
    TOO_LARGE = "is larger than allowed"
    NOT_ASKED = "not asked"
    FAILED = "the server failed"


class Refusal(NamedTuple):
    """Why a file is not used."""

    outcome: Outcome
    """What is wrong with it."""

    detail: str = ""
    """More about it, such as the two values that should agree."""


class Attempt(NamedTuple):
    """One place tried in a search."""

    path: str
    """The path, as far as one could be made."""

    kind: AttemptKind
    """The rule that led there."""

    outcome: Outcome
    """What was found."""

    detail: str = ""
    """More about it, such as the two values that should agree."""

    @property
    def reason(self) -> str:
        """What was found there, in words for people."""
        text = self.outcome.value
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        # A path may hold anything but a zero byte; a log has one line for each attempt.
        path = self.path if self.path.isprintable() else ascii(self.path)
        return f"{path} ({self.kind.value}): {self.reason}"
