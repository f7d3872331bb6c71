"""The lines that name what killed recordings have left in memory."""

from __future__ import annotations

import os

from ...record.backends.in_process.abandoned_arenas import clear_abandoned

__all__ = ["abandoned_lines"]

MOST_NAMED = 5
_PLAIN = dict.fromkeys(
    (*range(48, 58), *range(65, 91), *range(97, 123), *b"/._-+,:=@%")
)
"""Digits, letters and others that a shell takes as they are."""
SPACE, TILDE = 0x20, 0x7E
"""The first and the last character that a line shows as it is."""


def abandoned_lines(own: str) -> list[str]:
    """Remove memory that belongs to no trace any more; say what there is besides.

    Args:
        own: The directory of the recording that looks. If it is gone, that was told.

    Returns:
        Lines for people.
    """
    found = clear_abandoned()
    lines = [
        "vestige: the recorder of another recording was killed, and a part is in "
        f"memory only: 'vestige record --recover {_quoted(trace)}' writes it"
        for trace in found.recoverable[:MOST_NAMED]
    ]
    lines += _others(
        len(found.recoverable),
        "a later recording names them when these are recovered",
    )
    lines += [
        f"vestige: removed {size / (1 << 20):,.0f} MiB of memory of a recording that "
        f"was killed, and whose directory is gone: {directory}"
        for directory, size in found.removed
        if directory != own
    ]
    lines += [
        f"vestige: {size / (1 << 20):,.0f} MiB of memory are of a recording that was "
        f"killed, and its directory is not found: remove {_quoted(arena)} if that is "
        "gone; where it is, 'vestige record --recover' writes what is in memory"
        for arena, size in found.doubtful[:MOST_NAMED]
    ]
    lines += _others(
        len(found.doubtful),
        "they are in /dev/shm, too",
    )
    return lines


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
