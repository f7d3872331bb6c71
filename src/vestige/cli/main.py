"""The ``vestige`` command: choosing a verb, and turning errors into exit statuses."""

from __future__ import annotations

import argparse
import errno
import gc
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from .. import __version__
from ..errors import CommandError, VestigeError
from .commands import Command, load_commands
from .open_files import allow_many_files

__all__ = ["EXIT_STATUSES", "entry_point", "main"]

EXIT_STATUSES = """\
exit status:
  0    success
  1    the trace is damaged or cannot be read, or the output cannot be written
  2    wrong usage
  130  interrupted (Ctrl-C)
"""

EXAMPLES = """\
examples:
  vestige demo                       a small program, recorded, with source lines
  vestige view TRACE                 read a trace, for people
  vestige convert TRACE              the text of 'babeltrace2 TRACE'
  vestige convert --debug-info TRACE the same, with object, function and source line
  vestige export --to parquet -w FILE TRACE
                                     a table for data analysis
  vestige report TRACE               which functions took the time
  vestige debuginfo TRACE            which names are missing, and why
  vestige symbolize -e FILE ADDRESS  as addr2line

"""


_STARTING_PROGRAMS = ("demo", "record")
"""Verbs that run programs of others, which have the limits of the shell."""


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of examples, and is as wide as the terminal.

    The parser makes one for each command line, in case of an error. It would find the
    width with a module whose import takes longer than reading a small trace.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    # As shutil.get_terminal_size does.
    try:
        columns = int(os.environ["COLUMNS"])
    except (KeyError, ValueError):
        columns = 0
    if columns > 0:
        return columns
    try:
        stream = sys.__stdout__
        return 80 if stream is None else os.get_terminal_size(stream.fileno()).columns
    except (ValueError, OSError):
        return 80


class IntermixedParser(argparse.ArgumentParser):
    """Takes options and paths in any order, as Babeltrace 2 does."""

    _parsing = False

    def parse_known_args(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse options first, then what is left."""
        # What follows the name of a program is the program's own.
        runs_program = any(one.nargs == argparse.REMAINDER for one in self._actions)
        if self._parsing or runs_program:
            return super().parse_known_args(args, namespace)
        self._parsing = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._parsing = False


def build_parser(commands: Sequence[Command]) -> argparse.ArgumentParser:
    """Return the parser of a command line with some verbs."""
    parser = argparse.ArgumentParser(
        prog="vestige",
        description="Record programs and read traces, with every event at the source "
        "line it came from.",
        epilog=EXAMPLES + EXIT_STATUSES,
        formatter_class=HelpFormatter,
    )
    parser.add_argument(
        "-V", "--version", action="version", version=f"vestige {__version__}"
    )
    verbs = parser.add_subparsers(
        dest="verb", metavar="COMMAND", required=True, parser_class=IntermixedParser
    )
    for command in commands:
        verb = verbs.add_parser(
            command.name,
            help=command.summary,
            description=command.description,
            epilog=command.examples
            + "\n"
            + getattr(command, "exit_statuses", EXIT_STATUSES),
            formatter_class=HelpFormatter,
        )
        command.configure(verb)
        verb.set_defaults(run=command.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line.

    Args:
        arguments: The words after the program's name; those of the process by default.

    Returns:
        The exit status.
    """
    words = sys.argv[1:] if arguments is None else arguments
    options = build_parser(load_commands(words)).parse_args(words)
    if options.verb not in _STARTING_PROGRAMS:
        allow_many_files()
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except CommandError as error:
        return report(error, error.exit_code)
    except VestigeError as error:
        return report(error, 1)
    except BrokenPipeError:
        return _quiet_broken_pipe()
    except OSError as error:
        return report(_plain(error), 1)
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
    print(f"vestige: error: {error}", file=sys.stderr)
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
    # Answers are many, live long and refer to each other in no circle.
    gc.set_threshold(200_000, 20, 100)
    try:
        status = main()
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    if "vestige.debuginfo.cached_table" in sys.modules:
        sys.modules["vestige.debuginfo.cached_table"].save_all()
    sys.stderr.flush()
    os._exit(status)
