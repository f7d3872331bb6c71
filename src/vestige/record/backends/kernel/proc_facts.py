"""What ``/proc`` tells of a thread: its process, its users, its namespaces."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from ...._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["IDS", "NAMESPACES", "UNKNOWN", "ThreadFacts", "all_facts", "facts_of"]

IDS = ("uid", "euid", "suid", "gid", "egid", "sgid")
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
UNKNOWN = -1
NO_ID = 0xFFFFFFFF
_LINE = re.compile(rb"^(\w+):\t(.*)$", re.MULTILINE)


class ThreadFacts(NamedTuple):
    """What is known of a thread."""

    process: int
    parent: int
    inner: tuple[int, int, int]
    """Process, thread and parent as they are in its namespace of processes."""

    name: bytes
    """With up to 15 bytes."""

    ids: tuple[int, ...]
    """In the order of :data:`IDS`."""

    spaces: tuple[int, ...]
    """In the order of :data:`NAMESPACES`; 0: nobody may know."""

    is_outer: bool
    """Whether its IDs are the same in its namespace."""


def facts_of(process: int, thread: int) -> ThreadFacts:
    """Read what is known of a thread.

    Args:
        process: Its process.
        thread: Its ID.

    Returns:
        The facts.

    Raises:
        OSError: It has ended.
        ValueError: What stands there is of no kernel that is known.
    """
    place = f"/proc/{process}/task/{thread}"
    with open(f"{place}/status", "rb") as file:
        lines = dict(_LINE.findall(file.read()))
    parent = int(lines[b"PPid"])
    # They have a number for each namespace around it.
    threads = lines.get(b"NSpid", b"%d" % thread).split()
    groups = lines.get(b"NStgid", b"%d" % process).split()
    is_outer = len(threads) == 1
    own = process, thread, parent
    inner = own if is_outer else (int(groups[-1]), int(threads[-1]), UNKNOWN)
    with open(f"{place}/comm", "rb") as file:
        name = file.read().removesuffix(b"\n")[:15]
    ids = (*_three(lines.get(b"Uid")), *_three(lines.get(b"Gid")))
    spaces = tuple(_space(f"{place}/ns/{one}") for one in NAMESPACES)
    return ThreadFacts(process, parent, inner, name, ids, spaces, is_outer)


def _three(line: bytes | None) -> list[int]:
    words = (line or b"").split()[:3]
    return [int(one) for one in words] if len(words) == 3 else [NO_ID] * 3  # noqa: PLR2004 - real, effective, saved


def _space(path: str) -> int:
    try:
        return os.stat(path).st_ino & 0xFFFFFFFF
    except OSError:
        return 0


def all_facts(now: Callable[[], int]) -> list[tuple[int, int, ThreadFacts]]:
    """Read what is known of all threads.

    Args:
        now: Gives the present value of the clock of the recording.

    Returns:
        IDs, values of the clock when they were read, and the facts; without those that
        have ended meanwhile.
    """
    found = []
    for process in sorted(int(one) for one in os.listdir("/proc") if one.isdigit()):
        with suppress(OSError):
            for thread in map(int, os.listdir(f"/proc/{process}/task")):
                with suppress(OSError, KeyError, ValueError):
                    time = now()
                    found.append((thread, time, facts_of(process, thread)))
    return found
