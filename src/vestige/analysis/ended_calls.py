"""Calls that have ended, as the core tells them: columns of numbers."""

from __future__ import annotations

from .. import core
from .._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Literal

__all__ = ["NO_ENTRY", "CallColumns", "take_calls"]

NO_ENTRY = 3
"""The state of a call that was not seen to begin."""
FORMS: tuple[tuple[Literal["I", "H", "B", "q", "Q"], int], ...] = (
    ("I", 4), ("H", 2), ("B", 1), ("I", 4), ("q", 8), ("Q", 8), ("Q", 8), ("I", 4),
    ("B", 1),
)  # fmt: skip
"""Of each column what its numbers are, and their bytes."""


class CallColumns(NamedTuple):
    """Columns of calls; see ``CallFold.take_calls``."""

    row: memoryview[int]
    """Indexes of threads."""
    depth: memoryview[int]
    """How many calls are around each."""
    flags: memoryview[int]
    """1: open at the begin of the range, 2: no exit in it, 8: across a loss."""
    function: memoryview[int]
    """Indexes of functions."""
    begin: memoryview[int]
    """Nanoseconds from the origin."""
    duration: memoryview[int]
    """Nanoseconds."""
    self_time: memoryview[int]
    """Nanoseconds, without calls that it made."""
    caller: memoryview[int]
    """Indexes of functions."""
    state: memoryview[int]
    """What ended each: 0 its exit, 1 one across a loss, 2 no exit, 5 the range of time;
    3 it was not seen to begin."""


def take_calls(fold: core.CallFold) -> CallColumns:
    """Take the calls that ended since the last time.

    Args:
        fold: What keeps them.
    """
    count, data = fold.take_calls()
    view, columns, at = memoryview(data), [], 0
    for form, size in FORMS:
        part = view[at : at + size * count]
        at += size * count
        columns.append(part.cast(form))
    return CallColumns(*columns)
