"""The ``vestige`` command: choosing a verb, and turning errors into exit statuses."""

from __future__ import annotations

import errno
import os
import sys

from .._signals import signals
from .._suppress import suppress
from .._typing import TYPE_CHECKING
from ..errors import VestigeError
from ..plain_text import plain
from .exit_statuses import RECORDING, UNREADABLE, ExitStatuses

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from types import ModuleType

    Tell = Callable[[Exception, int], int]

__all__ = ["load_parser", "main"]

_STARTING_PROGRAMS = ("demo", "record")
"""Verbs that run programs of others, which have the limits of the shell."""


def main(arguments: Sequence[str] | None = None, tell: Tell | None = None) -> int:
    """Run a command line.

    Args:
        arguments: The words after the program's name; those of the process by default.
        tell: Prints an error and returns the exit status, which it is given; by default
            a line for people.

    Returns:
        The exit status.
    """
    words = sys.argv[1:] if arguments is None else [*arguments]
    if words[:1] == ["lttng"] and words[1:2] not in (["-h"], ["--help"]):
        return _run_lttng(words[1:])
    if words[:1] == ["record"]:
        from .plain_recording import plain_options

        plain_words = plain_options(words[1:])
        if plain_words is not None:
            from .recording import run

            return _status_of(lambda: run(plain_words), RECORDING)
    tell = tell or report
    try:
        options = _parsed(words or ["help"])
    except BrokenPipeError:
        return _quiet_broken_pipe()
    except OSError as error:  # the help cannot be written
        return tell(_plain(error), UNREADABLE)
    if options.verb not in _STARTING_PROGRAMS:
        from .abandoned import say_recovered
        from .open_files import allow_many_files

        allow_many_files()
        say_recovered(getattr(options, "paths", None) or ())
    return _status_of(lambda: options.run(options), options.exit_statuses, tell)


def load_parser() -> ModuleType:
    """Import the parser, which takes a while, and which not every verb needs.

    Returns:
        Its module.
    """
    from . import parser

    return parser


def _untranslated(text: str | None) -> str | None:
    # Descriptions that are not there are translated, too.
    return text


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line, or end the process with what is wrong."""
    import argparse

    from .parser import build_parser, check_words
    from .verbs import load_commands

    # To translate the words of usage, it would read the locale. Python brings no
    # translations, and those that others install have no words of ours.
    vars(argparse)["_"] = _untranslated
    parser = build_parser(load_commands(words))
    check_words(parser, words)
    return parser.parse_args(words)


def _status_of(
    run: Callable[[], int], statuses: ExitStatuses, tell: Tell | None = None
) -> int:
    """Run a verb; return its exit status, whatever goes wrong."""
    tell = tell or report
    try:
        status = run()
        sys.stdout.flush()
    except BrokenPipeError:
        return _quiet_broken_pipe()
    except (VestigeError, ImportError) as error:
        if not isinstance(error, VestigeError) and error.name != "vestige._core":
            raise
        # The core is not built, or from other sources: that is no mistake in here.
        return tell(error, statuses.of(error))
    except OSError as error:
        return tell(_plain(error), statuses.of(error))
    return status


def _run_lttng(words: Sequence[str]) -> int:
    """Run a session verb: it reads its words as LTTng does, and needs no parser."""
    from .lttng.main import run

    try:
        status = run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        return _quiet_broken_pipe()
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
    """Print an error for people, where that is possible; return the exit status."""
    text = str(error)
    lines = text.split("\n") if getattr(error, "has_lines", False) else [text]
    with suppress(OSError):
        print("vestige: error:", "\n".join(map(plain, lines)), file=sys.stderr)
    return status


def _quiet_broken_pipe() -> int:
    """The reader of our output went away: end as other filters do, without a word."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 128 + signals.SIGPIPE
