"""What would have kept events that were lost."""

from __future__ import annotations

import errno

from ...record.recorder import Recording

__all__ = ["larger_size", "remedy"]

_FULL = {errno.ENOSPC, errno.EDQUOT}


def remedy(recording: Recording) -> str:
    """Say why events were lost, and what would have kept them.

    Args:
        recording: A recording that lost events.

    Returns:
        A sentence.
    """
    if recording.collected.failure is not None:
        return _of_failure(*recording.collected.failure)
    if recording.collected.is_full:
        return _of_full_size(recording)
    if recording.collected.lost == recording.collected.unplaced:
        return (
            "they were lost in threads that could not write to the recording: after "
            "they had forbidden themselves all system calls (seccomp's strict mode) or "
            "the time-stamp counter, while a child shared their memory (clone), or "
            "since there were thousands of others"
        )
    larger = _size(2 * recording.options.buffer_size)
    if recording.options.mode == "discard":
        return f"--mode=block keeps them, or --buffer-size={larger} more of them"
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


def _of_failure(number: int | None, text: str) -> str:
    if number in _FULL:
        return f"{text}: --output=DIR on another disk would have kept them"
    return f"the collector could not write: {text}"


def _of_full_size(recording: Recording) -> str:
    if recording.options.mode == "overwrite":
        return f"too many threads for the size: {larger_size(recording)} keeps more"
    return (
        f"the recording has its full size: {larger_size(recording)} keeps more, "
        "--mode=overwrite the newest"
    )


def _size(number: int) -> str:
    for unit, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")):
        if number % unit == 0:
            return f"{number // unit}{letter}"
    return str(number)
