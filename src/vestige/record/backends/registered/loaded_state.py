"""What programs have loaded, as the daemon tells it: see decision 142.

Where a chunk of a trace begins, the daemon writes the state dump of all programs
itself, from what the kernel says of them. None is asked: one that stands still would
answer later, and the records of all would lack names until they have answered.
"""

from __future__ import annotations

import os
import sys

from ...._typing import TYPE_CHECKING, NamedTuple
from ..._collector import LoadedObjects, LoadedState
from ...rules.contexts import CONTEXT_CLASSES, context_classes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..in_process.collector import ToldProcess

__all__ = ["LoadedObjects", "LoadedState", "ToldProgram", "told_processes"]

_KNOWN = {one.name: one for one in CONTEXT_CLASSES}
_NOTHING = b"\0"
"""Of an application, which is not asked."""


class ToldProgram(NamedTuple):
    """A program whose state is told."""

    pid: int
    vpid: int
    """Its process ID, as it sees it."""

    pid_namespace: int
    """The inode of that."""

    name: str
    arenas: frozenset[int] = frozenset()
    """The inodes of the memories to which it has ever recorded."""


def told_processes(
    programs: Iterable[ToldProgram], contexts: Sequence[str]
) -> list[ToldProcess]:
    """Return how records of programs begin that these have not made.

    Args:
        programs: The programs.
        contexts: The names of the contexts that records have.

    Returns:
        The programs as the collector takes them.
    """
    classes = [one.name for one in context_classes(contexts)]
    return [
        (
            one.pid,
            one.vpid,
            one.pid_namespace,
            os.fsencode(one.name),
            b"".join(_context(name, one) for name in classes),
        )
        for one in programs
    ]


def _context(name: str, program: ToldProgram) -> bytes:
    """Return a context as it is in records; what only the program knows is 0."""
    known = _KNOWN.get(name)
    if known is None:
        is_counter = context_classes([name])[0].size > 1
        return bytes(8) if is_counter else _NOTHING
    if name == "procname":
        return os.fsencode(program.name)[: known.size - 1].ljust(known.size, b"\0")
    value = program.vpid if name in {"vpid", "vtid"} else 0
    return value.to_bytes(known.size, sys.byteorder)
