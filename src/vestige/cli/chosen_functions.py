"""The options of ``vestige report`` that choose functions, and what they choose."""

from __future__ import annotations

import argparse
import sys

from .._typing import TYPE_CHECKING
from ..errors import CommandError, SelectionError
from ..plain_text import plain
from .exit_statuses import WRONG_USAGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..analysis.calls import CallTree
    from ..analysis.function_choice import FunctionChoice
    from ..analysis.functions import Function

__all__ = ["add_choice_arguments", "choose", "shown_functions"]


def add_choice_arguments(group: argparse._ActionsContainer) -> None:
    """Add the options to a parser or a group.

    Args:
        group: Where to.
    """
    group.add_argument(
        "--function",
        metavar="PATTERN",
        action="append",
        default=[],
        help="show only these functions, in a tree with callers and callees; numbers "
        "stay those of all calls (repeatable)",
    )
    group.add_argument(
        "--include-function",
        metavar="PATTERN",
        action="append",
        default=[],
        help="report only these functions: [OBJECT:]NAME with *, ? and [...]; of "
        "Python MODULE.NAME or FILE:NAME, too (repeatable)",
    )
    group.add_argument(
        "--exclude-function",
        metavar="PATTERN",
        action="append",
        default=[],
        help="leave these functions out; their time is that of their callers "
        "(repeatable)",
    )
    group.add_argument(
        "--only-my-code",
        action="store_true",
        help="of Python functions, leave out those of the standard library, of "
        "installed packages and of frozen modules, and those written in C",
    )
    group.add_argument(
        "--max-depth",
        metavar="N",
        type=_depth,
        help="report the N outermost calls of those that are open in a thread; "
        "functions that are left out do not count",
    )


def shown_functions(
    options: argparse.Namespace,
) -> Callable[[Function], bool] | None:
    """Return what decides which functions are shown; ``None`` for all.

    Args:
        options: What was asked for.

    Raises:
        CommandError: A pattern can match no function.
    """
    if not options.function:
        return None
    return _pattern_choice(options.function).takes


def _pattern_choice(patterns: list[str]) -> FunctionChoice:
    from ..analysis.function_choice import FunctionChoice

    try:
        return FunctionChoice(patterns)
    except SelectionError as error:
        raise CommandError(str(error), exit_code=WRONG_USAGE) from error


def _depth(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 9 or not int(text):  # noqa: PLR2004 - more levels than any trace has
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of calls")
    return int(text)


def choose(tree: CallTree, options: argparse.Namespace) -> CallTree:
    """Return what the options choose of a tree.

    Args:
        tree: The calls.
        options: What was asked for.

    Raises:
        CommandError: A pattern can match no function, or nothing is left.
    """
    if options.function:
        _warn_of_unused(tree, _pattern_choice(options.function))
    include, exclude = options.include_function, options.exclude_function
    if not (include or exclude or options.only_my_code or options.max_depth):
        return tree
    from ..analysis.function_choice import FunctionChoice

    try:
        choice = FunctionChoice(include, exclude, only_my_code=options.only_my_code)
        chosen = tree.leave_out(choice.takes, options.max_depth)
    except SelectionError as error:
        raise CommandError(str(error), exit_code=WRONG_USAGE) from error
    if tree.threads and not chosen.threads:
        raise CommandError(
            f"{', '.join(options.paths)}: none of the functions is among the chosen "
            f"ones{_hint(tree, choice)}"
        )
    _warn_of_unused(tree, choice)
    return chosen


def _warn_of_unused(tree: CallTree, choice: FunctionChoice) -> None:
    """Name the patterns that match no function."""
    for pattern in _unused(tree, choice):
        print(
            f"vestige: warning: '{plain(pattern)}' matches no function of the trace",
            file=sys.stderr,
        )


def _unused(tree: CallTree, choice: FunctionChoice) -> list[str]:
    """Return the patterns that match no function, however deep it is called."""
    if choice.unused():
        for one in tree.functions():
            choice.takes(one.function)
    return choice.unused()


def _hint(tree: CallTree, choice: FunctionChoice) -> str:
    """Name functions that somebody may have meant."""
    from ..analysis.function_choice import FunctionPattern
    from .suggestions import did_you_mean

    names = [one.function.name for one in tree.functions()]
    for pattern in _unused(tree, choice):
        hint = did_you_mean(FunctionPattern(pattern).name, names)
        if hint:
            return hint
    return ""
