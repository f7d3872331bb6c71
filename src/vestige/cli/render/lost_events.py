"""What would have kept events that were lost."""

from __future__ import annotations

import errno
from pathlib import Path

from ..._suppress import suppress
from ...record.recorder import Recording
from ...record.rules.options import THREADS

__all__ = ["larger_size", "mappings_line", "remedy", "size_of_all"]

ENOUGH = 1000
"""Events from whose size that of the others is known."""
RESERVE = 1.1
MAPPINGS = 4
"""Of its memory that each recorded thread has at least, with those of its stack."""
NEARLY = 0.85
"""Of the mappings that a process may have: besides those of threads it has others."""
MOST_MAPPINGS = "/proc/sys/vm/max_map_count"
"""How many these are, see proc_sys_vm(5)."""
_FULL = {errno.ENOSPC, errno.EDQUOT}


def remedy(recording: Recording, all_bytes: int | None = None) -> str:
    """Say why events were lost, and what would have kept them.

    Args:
        recording: A recording that lost events.
        all_bytes: The size of a recording of all of them, if it is known.

    Returns:
        A sentence.
    """
    if recording.collected.failure is not None:
        return _of_failure(*recording.collected.failure)
    if recording.collected.is_full:
        return _of_full_size(recording, all_bytes)
    if recording.collected.lost == recording.collected.unplaced:
        return _of_threads(recording.collected.most_threads)
    larger = _size(2 * recording.options.buffer_size)
    if recording.options.mode == "discard":
        return _of_discarding(recording, larger)
    if recording.options.arena_size is not None:
        return (
            f"--arena-size={_size(2 * recording.options.arena_size)} may keep them, or "
            "none: without it, there is memory for a packet of each thread besides"
        )
    return (
        f"--buffer-size={larger} or a longer --mode=block=TIMEOUT may keep them: an "
        "event is lost that is larger than a packet, in a signal handler that "
        "interrupts the tracer, and when nothing can be written for long"
    )


def larger_size(recording: Recording) -> str:
    """Return an option for a recording twice as large.

    Args:
        recording: A recording of limited size.
    """
    return f"--max-size={_size(2 * recording.options.size_limit)}"


def mappings_line(threads: int) -> str | None:
    """Say that a program had nearly as many mappings of memory as it may have.

    Args:
        threads: How many it had at one time, about.

    Returns:
        A sentence; ``None`` where it had fewer.
    """
    with suppress(OSError, ValueError):
        most = int(Path(MOST_MAPPINGS).read_text(encoding="ascii"))
        if threads * MAPPINGS >= most * NEARLY:
            return (
                f"so many threads at a time take nearly all of the {most:,} mappings "
                "of memory that a process may have (vm.max_map_count), of which each "
                "has two, and two or three more when it is recorded: beyond them, "
                "pthread_create() fails in the program, and a thread that begins "
                "loses its events"
            )
    return None


def _of_threads(threads: int) -> str:
    """Say why threads had no place in memory."""
    if threads >= THREADS or mappings_line(threads) is not None:
        return (
            "they were lost in threads for which there was no memory, or no place: "
            f"{THREADS:,} have one at a time"
        )
    return (
        "they were lost in threads that could not write to the recording: after "
        "they had forbidden themselves all system calls (seccomp's strict mode) or "
        "the time-stamp counter, while a child shared their memory (clone), or where "
        "there was no memory for a thread"
    )


def _of_discarding(recording: Recording, larger: str) -> str:
    """Say what keeps events that were discarded."""
    unbegun, lost = recording.collected.unbegun, recording.collected.lost
    size = recording.options.arena_size
    keeps = "--mode=block keeps them"
    if unbegun and size is not None:
        keeps += f", or --arena-size={_size(2 * size)} more of them"
    if unbegun < lost:
        keeps += f", or --buffer-size={larger} more of them"
    if unbegun:
        whose = "they" if unbegun == lost else f"{unbegun:,} of them"
        keeps += (
            f": {whose} are of threads that found no first packet, for which a larger "
            "buffer does nothing"
        )
    return keeps


def _of_failure(number: int | None, text: str) -> str:
    if number in _FULL:
        return f"{text}: --output=DIR on another disk would have kept them"
    return f"the collector could not write: {text}"


def _of_full_size(recording: Recording, all_bytes: int | None) -> str:
    if recording.options.mode == "overwrite":
        return f"too many threads for the size: {larger_size(recording)} keeps more"
    keeping = f"{larger_size(recording)} keeps more"
    if all_bytes is not None:
        keeping = f"--max-size={_rounded_size(all_bytes)} keeps all of such a run"
    return (
        f"the recording has its full size: {keeping}, "
        "--mode=overwrite the newest events"
    )


def size_of_all(recording: Recording, events: int | None, size: int) -> int | None:
    """Return the size of a recording of all events.

    Args:
        recording: A recording that lost some.
        events: How many it has.
        size: The bytes that these take.

    Returns:
        Bytes, with a reserve: other events may be larger. ``None`` where too few events
        are known to tell.
    """
    if not events or events < ENOUGH:
        return None
    needed = size * (events + recording.collected.lost) * RESERVE / events
    return round(max(needed, recording.options.size_limit * RESERVE))


def _rounded_size(number: int) -> str:
    """Return a size with two digits that is no smaller."""
    unit, letter = next(
        (1 << shift, letter)
        for shift, letter in ((30, "G"), (20, "M"), (10, "k"))
        if number >= 10 << shift or shift == 10  # noqa: PLR2004 - digits
    )
    count = -(-number // unit)
    step = 10 ** max(len(str(count)) - 2, 0)
    return f"{-(-count // step) * step}{letter}"


def _size(number: int) -> str:
    for unit, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")):
        if number % unit == 0:
            return f"{number // unit}{letter}"
    return str(number)
