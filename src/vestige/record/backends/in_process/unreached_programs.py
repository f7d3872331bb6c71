"""Programs that are not recorded, as the processes tell that start them.

A process that starts another program may be the only one that knows of it: a moment
later, that may have ended. So the tracer in the parent looks at the program's file, and
leaves word in the memory of the recording.
"""

from __future__ import annotations

from ..._agreement import UNREACHED_REASONS
from ...collected import WITHOUT_MEMORY

__all__ = ["reason_of"]

_TAKES_NONE = "the dynamic linker takes no library for it"
_TEXTS = {
    "ELSEWHERE": "the tracer is not reachable from its root directory",
    "STATIC": "it is a static program, into which no library is loaded: link it "
    "without -static",
    "USER": f"it runs with another user's rights: {_TAKES_NONE}",
    "GROUP": f"it runs with another group's rights: {_TAKES_NONE}",
    "CAPABILITIES": f"its file has capabilities: {_TAKES_NONE}",
    "MACHINE": "it is for another machine or word size than the tracer",
    "LIBRARY": "it uses another C library",
    "ENVIRONMENT": "its environment has no LD_PRELOAD of the tracer, and is too long "
    "to add it",
    "MEMORY": WITHOUT_MEMORY,
}


def reason_of(number: int) -> str:
    """Say why a program is not recorded.

    Args:
        number: As the agreement numbers reasons. A program may write any.

    Returns:
        A part of a sentence.
    """
    return _TEXTS.get(UNREACHED_REASONS.get(number, ""), "nobody knows why")
