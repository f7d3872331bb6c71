"""What the exit status of each verb says; the one place that decides it."""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from ..errors import CommandError, SelectionError, TraceFormatError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..damage import Damage

__all__ = [
    "CANNOT_START",
    "DAMAGED",
    "FAILED",
    "INTERRUPTED",
    "LIKE_BABELTRACE",
    "NOT_FOUND",
    "PLAIN",
    "READ",
    "READING",
    "RECORDING",
    "UNREADABLE",
    "WRONG_USAGE",
    "ExitStatuses",
]

READ = 0
"""Everything was read, also when the tracer lost events."""
DAMAGED = 1
"""A trace is damaged; what is intact was read."""
WRONG_USAGE = 2
"""The command line is wrong, or does not fit the trace."""
UNREADABLE = 3
"""Nothing could be read, or the output could not be written."""
INTERRUPTED = 130
"""128 and the number of SIGINT, as shells report it."""

FAILED, CANNOT_START, NOT_FOUND = 125, 126, 127
"""Exit statuses, as env(1) and timeout(1) have them: a program's own are lower."""

UNUSABLE = "metadata-unusable"
"""The kind of damage around which nothing can be read."""

INTERRUPTED_LINE: dict[int | str, str] = {INTERRUPTED: "interrupted (Ctrl-C)"}


class ExitStatuses:
    """The exit statuses of a verb.

    Args:
        lines: What each status means, for the help.
        failed: The status of an error that is neither damage nor wrong usage.
        unfit: The status of a selection that does not fit the trace.
    """

    def __init__(
        self,
        lines: Mapping[int | str, str],
        *,
        failed: int = UNREADABLE,
        unfit: int = WRONG_USAGE,
    ) -> None:
        self.lines = dict(lines)
        self.failed = failed
        self.unfit = unfit

    @property
    def text(self) -> str:
        """The section of the help, which ends with a line break."""
        text = "exit status:\n"
        for status, what in self.lines.items():
            text += f"  {status:<4} " + what.replace("\n", "\n       ") + "\n"
        return text

    def of(self, error: Exception) -> int:
        """Return the exit status that an error has.

        Args:
            error: What ended the verb.
        """
        if isinstance(error, CommandError) and error.exit_code is not None:
            return error.exit_code
        if isinstance(error, SelectionError):
            return self.unfit
        if isinstance(error, TraceFormatError) and error.is_damage:
            return self.failed if error.damage.kind == UNUSABLE else DAMAGED
        return self.failed

    def of_reading(self, damage: Sequence[Damage], *, is_readable: bool) -> int:
        """Return the exit status after reading.

        Args:
            damage: What was met.
            is_readable: Whether anything could be read.
        """
        if not damage:
            return READ
        return DAMAGED if is_readable else self.failed


READING = ExitStatuses(
    {
        READ: "everything was read, even if the tracer lost events",
        DAMAGED: "the trace is damaged; what is intact was read",
        WRONG_USAGE: "wrong usage",
        UNREADABLE: "the trace cannot be read, or the output cannot be written",
        **INTERRUPTED_LINE,
    }
)
"""Those of verbs that read traces."""

LIKE_BABELTRACE = ExitStatuses(
    {
        READ: "everything was read and written",
        DAMAGED: "the trace is damaged or cannot be read, or the output cannot be "
        "written",
        WRONG_USAGE: "wrong usage",
        **INTERRUPTED_LINE,
    },
    failed=DAMAGED,
    unfit=DAMAGED,
)
"""Those of a verb that takes the place of ``babeltrace2``."""

PLAIN = ExitStatuses(
    {READ: "success", DAMAGED: "failure", WRONG_USAGE: "wrong usage"},
    failed=DAMAGED,
)
"""Those of a verb that reads no trace, as of most commands."""

RECORDING = ExitStatuses(
    {
        "": "that of PROGRAM; 128 and the number of the signal that ended it;\n"
        "0 where --duration ended it, and without PROGRAM; or",
        FAILED: "the recording cannot begin: no tracer, or no place for the trace;\n"
        "with -p, also: a part of the trace could not be written",
        CANNOT_START: "PROGRAM is found and cannot be started",
        NOT_FOUND: "PROGRAM is not found",
        WRONG_USAGE: "wrong usage",
    },
    failed=FAILED,
)
"""Those of a verb that runs a program."""
