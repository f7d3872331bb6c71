"""Processes that record without having registered: children of programs.

A child has the memory of its parent, and its tracer records there until the daemon has
told it something else. Where a chunk begins meanwhile, it is described like others.
"""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from ..in_process.background import (
    inner_id,
    mapping_processes,
    maps_memory,
    process_name,
    recording_processes,
)
from .loaded_state import ToldProgram

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

__all__ = ["mapping_programs", "unregistered"]

UNKNOWN = 0
"""The inode of a PID namespace."""
MOST = 1024
"""Of these processes: each is looked for, and a program can write any numbers."""


def unregistered(
    recorded: Mapping[tuple[int, int], str],
    registered: Collection[tuple[int, int]],
    arena: int,
) -> list[ToldProgram]:
    """Find the processes that record to a memory, and have not registered.

    What a place in memory says, a program may have written that is another process, so
    each must have the memory mapped.

    Args:
        recorded: Names of those whose threads have places there, by their IDs in their
            own PID namespaces and the inodes of these.
        registered: Those of them that have registered.
        arena: The inode of the memory.

    Returns:
        Those that run and are seen from here.
    """
    names = ((one, name) for one, name in recorded.items() if one not in registered)
    others = dict(islice(names, MOST))
    if not others:
        return []
    own = _namespace("self")
    hidden = [one for one in others if one[1] not in {own, UNKNOWN}]
    found = _outer_ids(hidden, arena) if hidden else {}
    for vpid, space in {*others} - {*hidden}:
        if inner_id(vpid) == vpid and maps_memory(vpid, [arena]):
            found[vpid, space] = vpid
    return [
        ToldProgram(process, *one, others[one], frozenset([arena]))
        for one, process in found.items()
    ]


def mapping_programs(arena: int) -> list[ToldProgram]:
    """Find the processes that have a memory mapped, whoever they are.

    Nobody has registered with a daemon that has just come, and a program whose threads
    have ended has no place in the memory until others begin.

    Args:
        arena: The inode of the memory.

    Returns:
        Those that run and are seen from here.
    """
    return [
        ToldProgram(
            process,
            inner_id(process),
            _namespace(process),
            process_name(process),
            frozenset([arena]),
        )
        for process in mapping_processes([arena])
    ]


def _outer_ids(
    wanted: Collection[tuple[int, int]], arena: int
) -> dict[tuple[int, int], int]:
    """Return the processes of other namespaces, as they are called here."""
    return dict(_named_inside(recording_processes(wanted, [arena]), {*wanted}))


def _named_inside(
    processes: Collection[int], wanted: Collection[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], int]]:
    for process in processes:
        inside = (inner_id(process), _namespace(process))
        if inside in wanted:
            yield inside, process


def _namespace(process: int | str) -> int:
    """Return the inode of a PID namespace; 0 if it is not known."""
    with suppress(OSError):
        return os.stat(f"/proc/{process}/ns/pid").st_ino
    return UNKNOWN
