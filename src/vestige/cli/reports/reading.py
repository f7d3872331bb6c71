"""What a report reads, and how it shows that it does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..._typing import TYPE_CHECKING
from ...errors import CommandError
from ..debug_info_arguments import debug_file_options
from ..exit_statuses import WRONG_USAGE
from ..named_origins import Names
from ..render.progress import ProgressBar

if TYPE_CHECKING:
    import argparse

    from ...analysis.intervals import IndexFile
    from ...analysis.turns import Turns
    from ...components.filters.debug_info import DebugInfoFilter
    from ...components.sources.ctf_fs import CtfFsSource
    from ...debuginfo import Resolver
    from ...graph import Selection

__all__ = ["Reading"]


class Reading:
    """Traces of a command line, and what it wants of them.

    Args:
        options: The parsed command line.
        source: The traces.
        selection: Which event records are wanted.
    """

    def __init__(
        self, options: argparse.Namespace, source: CtfFsSource, selection: Selection
    ) -> None:
        self.options = options
        self.source = source
        self.selection = selection
        self.threads: set[int] = set()
        """The threads that are wanted, by their IDs; none for all."""
        self.processes: set[int] = set()
        """The processes that are wanted, by their IDs; none for all."""
        self.names = Names(source.streams)
        """What threads and processes are called."""
        self._of_processes: set[int] | None = None
        self.asked: dict[str, list[str]] = {"process": [], "thread": []}
        """The IDs and names that were asked for."""
        self.percentiles: tuple[float, ...] = ()
        """The percentiles that are wanted, percent."""
        self.longest = 10
        """How many of the longest are wanted of each name."""
        self._has_taken = False

    @property
    def paths(self) -> str:
        """Where the traces are, for messages."""
        return ", ".join(self.options.paths)

    @property
    def is_of_part(self) -> bool:
        """Whether a part of the events was asked for."""
        options = self.options
        chosen = options.event, options.filters, options.begin, options.end
        ranges = options.timerange, options.around
        return any(chosen) or any(one is not None for one in ranges)

    def resolver(self) -> Resolver:
        """Return what names functions, as the command line wants it."""
        from ...components.filters.debug_info import finder_for
        from ...debuginfo import Resolver

        wanted = debug_file_options(self.options)
        return Resolver(finder_for([self.source], wanted), demangle=wanted.demangle)

    def index_place(self) -> IndexFile | None:
        """Return where an index of all of the traces is kept; ``None`` for nowhere."""
        from ...analysis.intervals import IndexFile, index_key
        from ...components.sources.recording import REGISTER

        # Of a recording that goes on it would be stale at once.
        if any((folder / REGISTER).exists() for folder in self.source.directories):
            return None
        wanted = debug_file_options(self.options)
        return IndexFile.in_cache(index_key(self.source, wanted, {}))

    def places(self) -> DebugInfoFilter:
        """Return what adds places to events, as the command line wants it."""
        from ...components.filters.debug_info import DebugInfoFilter

        return DebugInfoFilter(debug_file_options(self.options), [self.source])

    def turns(self) -> Turns | None:
        """Read what kernels tell of threads; ``None`` where none was recorded."""
        from ...analysis.turns import has_turns, read_turns

        streams = self.source.streams
        if not has_turns(streams):
            return None
        with self.progress("reading what the kernel tells") as progress:
            return read_turns(streams, selection=self.selection, progress=progress)

    @contextmanager
    def progress(
        self, what: str = "reading"
    ) -> Iterator[Callable[[int], object] | None]:
        """Show on a terminal how far the reading is.

        Args:
            what: What is done.

        Yields:
            What is called with the number of event records so far; ``None`` where
            nothing is shown.
        """
        with ProgressBar(what) as bar:
            yield (lambda done: bar.update(None, done)) if bar.enabled else None

    def takes(self, process: int | None, thread: int | None) -> bool:
        """Decide whether a thread is wanted.

        Args:
            process: The ID of its process, where it is known.
            thread: Its ID, where it is known.
        """
        takes = (not self.threads or thread in self.threads) and (
            not self.processes or self._is_of_process(process, thread)
        )
        self._has_taken |= takes
        return takes

    def _is_of_process(self, process: int | None, thread: int | None) -> bool:
        if process is not None or thread is None:
            return process in self.processes
        # Kernels tell it in other events.
        if self._of_processes is None:
            self._of_processes = self.names.threads_of(self.processes)
        return thread in self._of_processes

    def refuse_unknown(self, what: str, *, has_some: bool | None = None) -> None:
        """Refuse threads and processes of which nothing was found: zeros mislead.

        Args:
            what: What they do not have.
            has_some: Whether some of them have it; by default, whether :meth:`takes`
                took any.

        Raises:
            CommandError: None of those that are wanted has it.
        """
        if self.wanted and not (self._has_taken if has_some is None else has_some):
            raise CommandError(
                f"{self.wanted}: no such {self.wanted_kind} has {what}; 'vestige "
                "report --threads' shows those that there are",
                exit_code=WRONG_USAGE,
            )

    @property
    def wanted(self) -> str:
        """What was asked of threads and processes, as on the command line."""
        return " ".join(
            f"--{name}={','.join(words)}" for name, words in self.asked.items() if words
        )

    @property
    def wanted_kind(self) -> str:
        """What was chosen: ``thread``, or ``process``."""
        return "thread" if self.threads else "process"

    def warn(self, text: str) -> None:
        """Print a warning on standard error.

        Args:
            text: What to say.
        """
        print(f"vestige: warning: {text}", file=sys.stderr)
