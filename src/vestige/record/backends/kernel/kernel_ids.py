"""The IDs that the kernel has for threads, which are others in a PID namespace."""

from __future__ import annotations

from ...._typing import TYPE_CHECKING
from .proc_files import is_in_pid_namespace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from .tracefs import Tracefs

__all__ = ["KernelIds"]

_UNKNOWN = (
    "in this PID namespace the kernel's IDs of some threads are unknown, and so is "
    "their state; threads:"
)


class KernelIds:
    """Finds them; outside of PID namespaces they are those that everybody knows.

    Args:
        tracefs: Where the kernel tells them.
        note: Takes what cannot be known.
    """

    def __init__(self, tracefs: Tracefs, note: Callable[[str], None]) -> None:
        self._tracefs, self._note = tracefs, note
        self._known: dict[int, int] = {}
        """Of threads of the recorder that is in a PID namespace: the kernel's IDs."""
        self._is_told = False
        """Whether it was said that some IDs are unknown."""

    def find(self, threads: Sequence[int]) -> list[int]:
        """Return the IDs that the kernel has for threads, of those that are known.

        Args:
            threads: Threads of the recorder, by their IDs here.
        """
        if not is_in_pid_namespace():
            return [*threads]
        # Few recorders are in one.
        from .machine_ids import machine_ids  # noqa: PLC0415 - see above

        new = [one for one in threads if one not in self._known]
        self._known |= machine_ids(self._tracefs, new)
        return [self._known[one] for one in threads if one in self._known]

    def here(self, threads: Iterable[int]) -> dict[int, int]:
        """Return the IDs here by the kernel's, of threads of which these were found.

        Args:
            threads: Threads of the recorder, by their IDs here.
        """
        if is_in_pid_namespace():
            return {self._known[one]: one for one in threads if one in self._known}
        return {one: one for one in threads}

    def find_all(self) -> dict[int, int] | None:
        """Return the kernel's IDs of all threads, if they have others here."""
        if not is_in_pid_namespace():
            return None
        # As above.
        from .machine_ids import all_machine_ids  # noqa: PLC0415 - see above

        found, unknown = all_machine_ids(self._tracefs, self._known)
        if unknown and not self._is_told:
            self._is_told = True
            self._note(f"{_UNKNOWN} {unknown:,}")
        return found

    def forget(self, ended: Collection[int]) -> None:
        """Know threads no more that have ended: others may get their IDs.

        Args:
            ended: The IDs that the kernel had for them.
        """
        here = {kernel: one for one, kernel in self._known.items()}
        for one in here.keys() & {*ended}:
            del self._known[here[one]]
