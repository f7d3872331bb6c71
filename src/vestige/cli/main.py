"""The ``vestige`` command: choosing a verb, and turning errors into exit statuses."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from ..errors import VestigeError
from ..plain_text import plain
from .commands import load_commands
from .exit_statuses import INTERRUPTED, UNREADABLE, ExitStatuses
from .open_files import allow_many_files
from .parser import build_parser, check_words
from .terminal import make_all_text_printable

__all__ = ["build_parser", "entry_point", "main"]

_STARTING_PROGRAMS = ("demo", "record")
"""Verbs that run programs of others, which have the limits of the shell."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line.

    Args:
        arguments: The words after the program's name; those of the process by default.

    Returns:
        The exit status.
    """
    words = sys.argv[1:] if arguments is None else [*arguments]
    if not words:
        words = ["help"]
    parser = build_parser(load_commands(words))
    check_words(parser, words)
    try:
        options = parser.parse_args(words)
    except BrokenPipeError:
        return _quiet_broken_pipe()
    except OSError as error:  # the help cannot be written
        return report(_plain(error), UNREADABLE)
    if options.verb not in _STARTING_PROGRAMS:
        allow_many_files()
    statuses: ExitStatuses = options.exit_statuses
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        return _quiet_broken_pipe()
    except VestigeError as error:
        return report(error, statuses.of(error))
    except OSError as error:
        return report(_plain(error), statuses.of(error))
    return status


def _plain(error: OSError) -> Exception:
    """Say it as the errors of this package do: the file first, and no number."""
    if error.errno == errno.EMFILE:
        # Whatever file was the last: one of Python's, as likely.
        return VestigeError(
            "too many open files: a trace has one for each data stream, and "
            "'ulimit -n' allows fewer"
        )
    if error.strerror is None:
        return error
    name = error.filename
    where = "cannot write the output" if name is None else os.fsdecode(name)
    return VestigeError(f"{where}: {error.strerror}")


def report(error: Exception, status: int) -> int:
    """Print an error for people; return the exit status."""
    print(f"vestige: error: {plain(str(error))}", file=sys.stderr)
    return status


def _quiet_broken_pipe() -> int:
    """The reader of our output went away: end as other filters do, without a word."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + signal.SIGPIPE


def _open_closed_streams() -> None:
    """Put something in place of standard streams that were closed (``<&-``).

    Python has ``None`` for them. What is there instead fails when it is used, with the
    error of a closed file, and no file that is opened later takes their numbers.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", closefd=False)
    if sys.stderr is None:  # print() would write its lines to standard output
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", closefd=False)


def entry_point() -> NoReturn:
    """Run the command line of this process and exit.

    What was opened is closed by now and what was written is flushed. Handing back
    memory piece by piece takes longer than reading a small trace: the process ends.
    """
    _open_closed_streams()
    make_all_text_printable()
    # Answers are many, live long and refer to each other in no circle.
    gc.set_threshold(200_000, 20, 100)
    try:
        status = main()
    except KeyboardInterrupt:
        status = INTERRUPTED
    if "vestige.debuginfo.cached_table" in sys.modules:
        sys.modules["vestige.debuginfo.cached_table"].save_all()
    sys.stderr.flush()
    os._exit(status)
