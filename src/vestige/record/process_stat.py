"""What the kernel tells of a process in a line, see proc_pid_stat(5)."""

from __future__ import annotations

from .._suppress import suppress

__all__ = ["stat_words"]


def stat_words(process: int) -> list[str]:
    """Return the words after the name of a process, which may have any characters.

    Args:
        process: Its ID.

    Returns:
        Its state first; nothing of a process that is not there.
    """
    with (
        suppress(OSError),
        open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file,
    ):
        return file.read().rpartition(")")[2].split()
    return []
