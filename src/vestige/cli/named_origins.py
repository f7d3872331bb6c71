"""Threads and processes that a command line names: their IDs."""

from __future__ import annotations

from collections.abc import Sequence

from .._typing import TYPE_CHECKING
from ..errors import CommandError
from .exit_statuses import WRONG_USAGE

if TYPE_CHECKING:
    from ..components.filters.named_threads import NamedThreads
    from ..graph import Stream

__all__ = ["Names", "is_id"]


def is_id(word: str) -> bool:
    """Tell whether a word is an ID, and no name.

    Args:
        word: The word.
    """
    return word.isascii() and word.isdecimal()


class Names:
    """The names of threads and processes of traces, read when the first is looked up.

    Args:
        streams: The data streams of the traces.
    """

    def __init__(self, streams: Sequence[Stream]) -> None:
        self._streams = streams
        self._read: NamedThreads | None = None

    def ids(self, kind: str, words: Sequence[str]) -> set[int]:
        """Return the IDs that some words mean.

        Args:
            kind: ``thread`` or ``process``.
            words: IDs, or names in which ``*`` is any text.

        Raises:
            CommandError: Nothing has such a name.
        """
        found = set()
        for word in words:
            found |= {int(word)} if is_id(word) else self._named(kind, word)
        return found

    def threads_of(self, processes: set[int]) -> set[int]:
        """Return the IDs of the threads of some processes, as far as that is known.

        Args:
            processes: The IDs of the processes.
        """
        return self.known.threads_of(processes)

    def _named(self, kind: str, word: str) -> set[int]:
        known = self.known
        is_process = kind == "process"
        found = known.processes(word) if is_process else known.threads(word)
        if found:
            return found
        from .suggestions import did_you_mean

        advice = did_you_mean(word, known.names(of_processes=is_process))
        shows = "; 'vestige report --threads' shows those that there are"
        raise CommandError(
            f"--{kind}={word}: no {kind} is called so{advice or shows}",
            exit_code=WRONG_USAGE,
        )

    @property
    def known(self) -> NamedThreads:
        """The names, which are read now if they were not."""
        if self._read is None:
            from ..components.filters.named_threads import read_named_threads
            from .render.progress import ProgressBar

            with ProgressBar("reading names") as bar:
                progress = (
                    (lambda done: bar.update(None, done)) if bar.enabled else None
                )
                self._read = read_named_threads(self._streams, progress)
        return self._read
