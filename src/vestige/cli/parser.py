"""The parsers of the command line, made of the verbs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .. import __version__
from .._typing import TYPE_CHECKING
from ..plain_text import plain
from .exit_statuses import READING, WRONG_USAGE
from .help_format import HelpFormatter
from .verbs import VERBS

if TYPE_CHECKING:
    from typing import ClassVar, NoReturn

    from _typeshed import SupportsWrite

    from ..errors import CommandError
    from .command import Command

__all__ = ["CommandParser", "build_parser", "check_words"]

EXAMPLES = """\
examples:
  vestige record -- ./app            run a program and record it
  vestige view                       show the newest recording, event by event
  vestige report                     show where its time went
  vestige view TRACE                 show a trace of LTTng, barectf, Zephyr, ...
  vestige convert TRACE              print the text of 'babeltrace2 TRACE'
  vestige export --to parquet -o FILE TRACE
                                     write a table for data analysis
  vestige demo                       record a small program and show its events
  vestige help view                  describe a command and its options

"""


OPTIONS = ("-h", "--help", "-V", "--version")
"""The options that stand before a command."""


class CommandParser(argparse.ArgumentParser):
    """Takes options in any order, none of them abbreviated; errors take one line."""

    refusal: ClassVar[type[CommandError] | None] = None
    """What is raised if a command line is wrong; by default that is printed."""

    def __init__(self, *args: object, **options: object) -> None:
        settings = {"allow_abbrev": False, "formatter_class": HelpFormatter, **options}
        super().__init__(*args, **settings)  # type: ignore[arg-type]

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Write the help, and say so if that fails.

        Args:
            file: Where to; standard output by default.
        """
        (file or sys.stdout).write(self.format_help())

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End the program when what it has written is on its way.

        Args:
            status: The exit status.
            message: The last line on standard error.
        """
        sys.stdout.flush()
        super().exit(status, message)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with a command line, and end the program.

        Args:
            message: What is wrong.
        """
        if CommandParser.refusal is not None:
            raise CommandParser.refusal(message, exit_code=WRONG_USAGE)
        text = f"{self.prog}: error: {plain(message)}"
        sys.stderr.write(f"{text}\nTry '{self.prog} --help'.\n")
        sys.exit(WRONG_USAGE)


class VerbParser(CommandParser):
    """The parser of one verb: options and paths in any order, as with Babeltrace 2."""

    _parsing = False

    def parse_known_args(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse options first, then what is left."""
        if self._parsing:
            return super().parse_known_args(args, namespace)
        words = [*(args or ())]
        # What follows the name of a program is the program's own.
        runs_program = any(one.nargs == argparse.REMAINDER for one in self._actions)
        self._check_options(words, runs_program=runs_program)
        if runs_program:
            found, extra = super().parse_known_args(words, namespace)
        else:
            self._parsing = True
            try:
                found, extra = self.parse_known_intermixed_args(words, namespace)
            finally:
                self._parsing = False
        if extra:
            self._refuse(extra[0])
        if not runs_program:
            found.command_line = words
        return found, extra

    def _check_options(self, words: Sequence[str], *, runs_program: bool) -> None:
        # Before all else: a word that follows an unknown option may be its value.
        left = iter(words)
        for word in left:
            if word == "--" or (runs_program and not word.startswith("-")):
                return
            if not word.startswith("--") or " " in word:
                action = self._option_string_actions.get(word)
            else:
                action = self._option_string_actions.get(word.partition("=")[0])
                if action is None:
                    self._refuse(word)
            if action is not None and action.nargs is None and "=" not in word:
                next(left, None)

    def _refuse(self, word: str) -> NoReturn:
        if not word.startswith("-") or word == "-":
            self.error(f"unexpected argument '{word}'")
        from .suggestions import did_you_mean

        name = word.partition("=")[0] if word.startswith("--") else word
        known = [
            option
            for option, action in self._option_string_actions.items()
            if option.startswith("--") and action.help != argparse.SUPPRESS
        ]
        self.error(f"unknown option '{name}'{did_you_mean(name, known)}")


def check_words(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Refuse a command line that begins with nothing that there is.

    Args:
        parser: The parser of the whole command line.
        words: The command line; its first word is looked at.
    """
    for word in words[:1]:
        if word in VERBS or word in OPTIONS:
            return
        # Few command lines are wrong.
        from .suggestions import did_you_mean

        if not word.startswith("-"):
            parser.error(f"unknown command '{word}'{did_you_mean(word, VERBS)}")
        else:
            parser.error(f"unknown option '{word}'{did_you_mean(word, OPTIONS)}")


def build_parser(commands: Sequence[Command]) -> argparse.ArgumentParser:
    """Return the parser of a command line.

    Args:
        commands: The verbs that it knows; none of them to list all, without options.
    """
    parser = CommandParser(
        prog="vestige",
        usage="vestige COMMAND [OPTIONS] [ARGUMENTS]",
        description="Record C, C++ and Python programs, and read traces in the Common "
        "Trace Format, with every event at its source line.",
        epilog=EXAMPLES + READING.text,
    )
    parser.add_argument(
        "-V", "--version", action="version", version=f"vestige {__version__}"
    )
    verbs = parser.add_subparsers(
        dest="verb",
        title="commands",
        metavar="COMMAND",
        required=True,
        parser_class=VerbParser,
        prog="vestige",
    )
    if not commands:
        for name, verb in VERBS.items():
            verbs.add_parser(name, help=verb.summary)
    for command in commands:
        one = verbs.add_parser(
            command.name,
            help=VERBS[command.name].summary,
            description=command.description,
            epilog=f"{command.examples}\n{command.exit_statuses.text}",
        )
        command.configure(one)
        one.usage = usage(one)
        one.set_defaults(run=command.run, exit_statuses=command.exit_statuses)
    return parser


def usage(parser: argparse.ArgumentParser) -> str:
    """Return the usage of a verb in one line: what must be there, and where options go.

    Args:
        parser: The parser of the verb.
    """
    groups = [one for one in parser._mutually_exclusive_groups if one.required]  # noqa: SLF001 - the library has no other way to them
    grouped = {id(action) for one in groups for action in one._group_actions}  # noqa: SLF001 - as above
    words = [parser.prog]
    for group in groups:
        choices = map(_option_usage, group._group_actions)  # noqa: SLF001 - as above
        words.append(f"({' | '.join(choices)})")
    arguments = []
    for action in parser._actions:  # noqa: SLF001 - as above
        if not action.option_strings:
            if action.help == argparse.SUPPRESS:
                continue
            arguments.append(_argument_usage(action))
        elif action.required and id(action) not in grouped:
            words.append(_option_usage(action))
    return " ".join([*words, "[OPTIONS]", *arguments])


def _option_usage(action: argparse.Action) -> str:
    value = action.metavar or action.dest.upper()
    return f"{action.option_strings[0]} {value}"


def _argument_usage(action: argparse.Action) -> str:
    forms = {"*": "[{}...]", "+": "{}...", "?": "[{}]", argparse.REMAINDER: "[{}...]"}
    return forms.get(str(action.nargs), "{}").format(action.metavar)
