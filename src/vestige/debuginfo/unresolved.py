"""Why an address, or a part of its place, has no answer."""

from __future__ import annotations

from enum import Enum

from .._typing import NamedTuple

__all__ = ["TABLE_REASONS", "Reason", "Unresolved"]


class Reason(Enum):
    """What stands in the way; the value is a phrase for people."""

    NO_STATE_DUMP = "no state dump for the process"
    NO_OBJECT = "no object mapped there"
    FILE_MISSING = "file missing"
    OTHER_FILE = "the file is not the one that was traced"
    UNUSABLE_FILE = "file unusable"
    NO_SYMBOLS = "no debug information and no symbols"
    OUTSIDE_OF_TEXT = "outside of the code of the object"
    NO_FUNCTION = "no function covers the address"
    DAMAGED_DEBUG_INFO = "the debug information is damaged"
    NOT_PACKED = "not among the packed symbols"
    NO_LINE = "no source line covers the address"


TABLE_REASONS = {
    "no-symbols": Reason.NO_SYMBOLS,
    "outside-of-text": Reason.OUTSIDE_OF_TEXT,
    "no-function-there": Reason.NO_FUNCTION,
    "damaged-debug-info": Reason.DAMAGED_DEBUG_INFO,
    "not-packed": Reason.NOT_PACKED,
}
"""What a symbol table says when it has no function for an address."""


class Unresolved(NamedTuple):
    """No answer, and why: not an error, and never raised."""

    reason: Reason
    """What stands in the way."""

    detail: str = ""
    """More about it, such as the file concerned."""

    def __str__(self) -> str:
        text = self.reason.value
        return f"{text}: {self.detail}" if self.detail else text
