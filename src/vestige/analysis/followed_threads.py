"""Whose events a recording of the kernel with ``--kernel-of=program`` is about.

It has each switch from or to a thread of the program, so of the others' turns it has
some ends only. Each of its threads was started by another one of them; where that was
not recorded, as in a later part of a recording, switches from and to nobody tell.
"""

from __future__ import annotations

from .. import core

__all__ = ["BORN", "FollowedThreads", "is_followed"]

BORN = "sched_wakeup_new"
"""The event of a thread that begins."""
_SWITCH = "sched_switch"


def is_followed(event: core.Event) -> bool:
    """Tell whether an event record is of a trace of one program's threads.

    Args:
        event: The event record.
    """
    environment = event.stream.trace.parsed.environment
    return bool(environment.get("kernel_of") == "program")


class FollowedThreads:
    """The threads of the program, by process spaces, as far as events tell."""

    def __init__(self) -> None:
        self._is_followed: dict[int, bool] = {}
        self._born: dict[int, set[int]] = {}
        self._ran: dict[int, set[int]] = {}

    def see(self, event: core.Event) -> None:
        """Take note of an event record.

        Args:
            event: The event record, of a kernel.
        """
        space = event.stream.process_space
        known = self._is_followed.get(space)
        if known is None:
            known = self._is_followed[space] = is_followed(event)
        if not known:
            return
        if event.name == BORN:
            self._add(self._born, space, event.get("tid"))
        elif event.name == _SWITCH:
            before, after = event.get("prev_tid"), event.get("next_tid")
            # The idle thread is nobody's.
            if before == 0 or after == 0:
                self._add(self._ran, space, after if before == 0 else before)

    @staticmethod
    def _add(to: dict[int, set[int]], space: int, thread: object) -> None:
        if isinstance(thread, int) and thread:
            to.setdefault(space, set()).add(thread)

    def takes(self, space: int, thread: int | None) -> bool:
        """Tell whether all is known of a thread: all are, unless a program is followed.

        Args:
            space: The process space.
            thread: The thread's ID.
        """
        if not self._is_followed.get(space):
            return True
        family = self._born.get(space) or self._ran.get(space, set())
        return thread in family
