"""The lines that name what killed recordings have left in memory."""

from __future__ import annotations

import os

from ..._typing import TYPE_CHECKING
from ...record.backends.in_process.abandoned_arenas import clear_abandoned

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["abandoned_lines"]

MOST_NAMED = 5
_PLAIN = dict.fromkeys(
    (*range(48, 58), *range(65, 91), *range(97, 123), *b"/._-+,:=@%")
)
"""Digits, letters and others that a shell takes as they are."""
SPACE, TILDE = 0x20, 0x7E
"""The first and the last character that a line shows as it is."""


def abandoned_lines(own: str, told: set[str] | None = None) -> list[str]:
    """Remove memory that belongs to no trace any more; say what there is besides.

    Args:
        own: The directory of the recording that looks. If it is gone, that was told.
        told: What was told before and is not told again; it is what is told now.

    Returns:
        Lines for people.
    """
    found = clear_abandoned()
    before = set() if told is None else {*told}
    if told is not None:
        told.clear()
        told.update(found.recoverable, (arena for arena, _ in found.doubtful))
    lines = [*_recoverable([one for one in found.recoverable if one not in before])]
    lines += [
        f"vestige: removed {size / (1 << 20):,.0f} MiB of memory of a recording that "
        f"was killed, and whose directory is gone: {directory}"
        for directory, size in found.removed
        if directory != own
    ]
    doubtful = [one for one in found.doubtful if one[0] not in before]
    lines += [
        f"vestige: {size / (1 << 20):,.0f} MiB of memory are of a recording that was "
        f"killed, and its directory is not found: remove {_quoted(arena)} if that is "
        "gone; where it is, 'vestige record --recover' writes what is in memory"
        for arena, size in doubtful[:MOST_NAMED]
    ]
    lines += _others(len(doubtful), "they are in /dev/shm, too")
    return lines


def _recoverable(traces: list[str]) -> Iterator[str]:
    """Yield a line about traces of which a part is in memory, if there are any."""
    if not traces:
        return
    first, *more = map(_quoted, traces[:MOST_NAMED])
    line = (
        "vestige: a part of a killed recording is in memory only: 'vestige record "
        f"--recover {first}' writes it"
    )
    if more:
        line += f"; also of {', '.join(more)}"
    if len(traces) > MOST_NAMED:
        line += f" and {len(traces) - MOST_NAMED:,} more"
    yield line


def _others(count: int, what: str) -> list[str]:
    """Say how many there are of which none is named."""
    more = count - MOST_NAMED
    return [f"vestige: and {more:,} more like that: {what}"] if more > 0 else []


def _quoted(path: str) -> str:
    """Return a path as a word of a shell; shlex would bring re, which takes long."""
    if path.isascii() and path.translate(_PLAIN) == "":
        return path
    if path.isprintable():
        return "'" + path.replace("'", "'\\''") + "'"
    shown = (
        f"\\x{one:02x}" if one < SPACE or one > TILDE or one in b"'\\" else chr(one)
        for one in os.fsencode(path)
    )
    return "$'" + "".join(shown) + "'"
