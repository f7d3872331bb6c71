"""Work that waits for the kernel, while something else is done.

To change an instance of tracefs, the kernel waits until all CPUs have noticed, tens of
milliseconds in which nobody has anything to do.
"""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread

from ...._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Beside"]


class Beside:
    """Does something in a thread of its own; without threads, at once.

    Args:
        work: What is done. It, and what is done meanwhile, do not know each other.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._failure: BaseException | None = None
        self._is_going_on = allocate_lock()
        self._is_going_on.acquire()
        try:
            start_new_thread(self._do, ())
        except RuntimeError:
            # There may be as many as this user may have.
            self._do()

    def _do(self) -> None:
        try:
            self._work()
        except BaseException as error:  # noqa: BLE001 - it is raised where one waits
            self._failure = error
        self._is_going_on.release()

    def wait(self) -> None:
        """Wait until it is done; what it has raised is raised here."""
        with self._is_going_on:
            failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
