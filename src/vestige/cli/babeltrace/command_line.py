"""Command lines of Babeltrace 2, as those of ``vestige``.

General options may stand before the command, ``convert`` need not be written, errors
are stacks, and all have the exit status 1. Reading ends at the first damage.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..._typing import TYPE_CHECKING, NamedTuple
from ...errors import CommandError
from ..main import main
from .error_stack import CLI, Cause, causes_of, print_stack

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

__all__ = ["Words", "run", "split_words"]

FAILED = 1
"""The exit status of all errors."""
COMMANDS = ("convert", "help", "list-plugins", "query", "run")
"""The commands; without one it converts."""
STRICT = ["--strict", "--overlook=other-uuid", "--literal"]
"""How Babeltrace 2 reads: what another tracer wrote is no damage to it."""
SWITCHES = (
    *("-d", "--debug", "-v", "--verbose"),
    *("--omit-home-plugin-path", "--omit-system-plugin-path"),
)
"""General options without a value."""
WITH_VALUE = ("-l", "--log-level", "--plugin-path")
"""General options with one."""
HELP = ("-h", "--help")
VERSION = ("-V", "--version")
LEVELS = ("-d", "--debug", "-v", "--verbose", "-l", "--log-level")
KINDS = {"source": 1, "filter": 2, "sink": 4}
"""Types of component classes, as numbers."""


class Words(NamedTuple):
    """A command line, taken apart."""

    general: list[str]
    """The general options that stand before the command."""
    command: str
    """The command."""
    others: list[str]
    """What follows it."""


def split_words(words: Sequence[str]) -> Words:
    """Take a command line apart.

    Args:
        words: The words after the name of the program.
    """
    rest = [*words]
    general: list[str] = []
    while rest:
        name = rest[0].partition("=")[0] if rest[0].startswith("--") else rest[0]
        if rest[0] in SWITCHES or (name in WITH_VALUE and name != rest[0]):
            taken = 1
        elif name in WITH_VALUE and len(rest) > 1:
            taken = 2
        else:
            break
        general += rest[:taken]
        del rest[:taken]
    if rest and rest[0] in COMMANDS:
        return Words(general, rest[0], rest[1:])
    return Words(general, "convert", rest)


def run(words: Sequence[str]) -> int:
    """Run a command line; return the exit status.

    Args:
        words: The words after the name of the program.
    """
    from ..parser import CommandParser
    from ..plugins import FoundPlugins

    split = split_words(words)
    CommandParser.refusal = CommandError
    FoundPlugins.warns = False
    try:
        return _run(split)
    except CommandError as error:
        return _tell(error, error.exit_code or FAILED)


def _run(split: Words) -> int:
    general, command, others = split
    if not others and command in {"convert", "query", "run"}:
        return main(["help", command])
    if command == "convert" and others[0] in (*HELP, *VERSION):
        return main(["help", "convert"] if others[0] in HELP else ["version"])
    if command == "help":
        return _help(general, others)
    if command == "query":
        return main([command, *_plugin_options(general), *others], _tell_query(others))
    if command == "list-plugins":
        return main([command, *_plugin_options(general), *others], _tell)
    strict = [] if {"--run-args", "--run-args-0"} & {*others} else STRICT
    return main([command, *general, *strict, *others], _tell)


def _help(general: list[str], others: list[str]) -> int:
    """Describe a plugin or a component class."""
    from ...components.registry import full_class_name

    names = [one for one in others if not one.startswith("-")]
    if not others:
        raise CommandError("Missing plugin name or component class descriptor.")
    if {*HELP} & {*others}:
        return main(["help", "help"])
    if len(names) > 1:
        raise CommandError(
            "Extraneous command-line argument specified to `help` command: "
            f"`{names[1]}`."
        )
    words = ["help", *_plugin_options(general)]
    full = full_class_name(names[0])
    try:
        return main([*words, names[0]], _raise)
    except CommandError:
        plugin = names[0] if full is None else full.split(".")[1]
    if full is not None:
        try:
            main([*words, plugin], _raise)
        except CommandError:
            pass
        else:
            raise CommandError(_no_such_class(full))
    raise CommandError(f'Cannot find plugin: plugin-name="{plugin}"')


def _no_such_class(name: str) -> str:
    kind, plugin, class_name = name.split(".")
    return (
        f'Cannot find component class: plugin-name="{plugin}", '
        f'comp-cls-name="{class_name}", comp-cls-type={KINDS[kind]}'
    )


def _plugin_options(general: list[str]) -> list[str]:
    """Return those of general options that are no log levels."""
    found = []
    words = iter(general)
    for word in words:
        name = word.partition("=")[0]
        value = [next(words)] if name in WITH_VALUE and "=" not in word else []
        if name not in LEVELS:
            found += [word, *value]
    return found


def _tell(error: Exception, status: int) -> int:
    print_stack(causes_of(error, status))
    return FAILED


def _raise(error: Exception, _: int) -> NoReturn:
    raise error


def _tell_query(others: list[str]) -> Callable[[Exception, int], int]:
    """Return what tells errors of a query."""

    def tell(error: Exception, status: int) -> int:
        from ...components.registry import full_class_name

        if "there is no class" in str(error):
            name = next(filter(None, map(full_class_name, others)), None)
            if name is not None:
                print_stack([Cause(CLI, _no_such_class(name))])
                return FAILED
        return _tell(error, status)

    return tell
