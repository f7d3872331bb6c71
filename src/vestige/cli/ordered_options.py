"""The options and arguments of a command line, in the order in which they stand there.

The standard parser keeps the values, and whether there are any; but which component
``--params`` belongs to, its place tells.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from .._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Item", "ordered_items"]


class Item(NamedTuple):
    """An option with its value, or an argument."""

    option: str
    """Where the parser keeps the option; empty for an argument."""
    value: str
    """Its value, or the argument; empty for a switch."""


def ordered_items(
    parser: argparse.ArgumentParser, words: Sequence[str]
) -> Iterator[Item]:
    """Iterate over what stands in a command line that the parser has accepted.

    Args:
        parser: The parser.
        words: The command line, after the verb.

    Yields:
        The options and the arguments.
    """
    actions: dict[str, Any] = parser._option_string_actions  # noqa: SLF001 - the library has no other way to them
    rest = iter(words)
    for word in rest:
        if word == "--":
            yield from (Item("", one) for one in rest)
        elif word.startswith("--"):
            name, has_value, value = word.partition("=")
            action = actions[name]
            if action.nargs is None and not has_value:
                value = next(rest)
            yield Item(action.dest, value)
        elif word.startswith("-") and word != "-":
            yield from _short(actions, word[1:], rest)
        else:
            yield Item("", word)


def _short(
    actions: dict[str, Any], letters: str, rest: Iterator[str]
) -> Iterator[Item]:
    """Split ``-vw FILE``, ``-vwFILE`` and the like."""
    while letters:
        action = actions[f"-{letters[0]}"]
        letters = letters[1:]
        if action.nargs is None:
            yield Item(action.dest, letters.removeprefix("=") or next(rest))
            return
        yield Item(action.dest, "")
