"""The thread that starts a program of which alone the kernel is recorded.

The kernel records what is started by those whom it was told of, and what these start
(``set_event_pid``, ``options/event-fork``), and nobody can be taken back from it
without a loss. So a thread starts the program that does nothing else, and is there
until the end, for else its ID could become that of a child of the program.
"""

from __future__ import annotations

import threading

from ...._signals import signals
from ...._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Starter"]


class Starter:
    """Starts a program in a thread of its own.

    Args:
        follow: Called with the kernel's ID of the thread, before it starts anything.
    """

    def __init__(self, follow: Callable[[int], object]) -> None:
        self._follow = follow
        self._has_started = threading.Event()
        self._has_ended = threading.Event()
        self._process = 0
        self._failure: BaseException | None = None

    def start(self, spawn: Callable[[], int]) -> int:
        """Start the program.

        Args:
            spawn: Does it, and returns the ID of its process.

        Returns:
            That ID.

        Raises:
            OSError: It cannot be started.
        """
        threading.Thread(target=self._run, args=(spawn,), daemon=True).start()
        self._has_started.wait()
        if self._failure is not None:
            raise self._failure
        return self._process

    def _run(self, spawn: Callable[[], int]) -> None:
        try:
            self._follow(threading.get_native_id())
            self._process = spawn()
            # The kernel tells the thread that has started a process first what becomes
            # of it, and the one that waits for it would not wake.
            signals.pthread_sigmask(signals.SIG_BLOCK, [signals.SIGCHLD])
        except BaseException as error:  # noqa: BLE001 - it is raised where it is asked
            self._failure = error
        self._has_started.set()
        self._has_ended.wait()

    def end(self) -> None:
        """Let the thread end: nothing is recorded any more."""
        self._has_ended.set()
