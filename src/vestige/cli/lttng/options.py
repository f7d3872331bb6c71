"""The options of session verbs, read as LTTng's ``lttng`` reads them.

They are not those of :mod:`argparse`: options and arguments come in any order, an
optional value may be the next word, and what is unknown has LTTng's exit status.
"""

from __future__ import annotations

from ..._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NEEDED", "NONE", "OPTIONAL", "Option", "OptionError", "Words", "parse"]

NONE, NEEDED, OPTIONAL = "none", "needed", "optional"
"""Whether an option has a value; an optional one follows ``=`` or is the next word."""


class Option(NamedTuple):
    """An option of a verb."""

    name: str
    """Without its dashes."""

    about: str
    """Half a line for the help."""

    short: str | None = None
    value: str = NONE
    metavar: str = ""


class OptionError(Exception):
    """A word that is no option of the verb, or a value that is missing."""


class Words(NamedTuple):
    """A command line that was read."""

    options: dict[str, list[str | None]]
    """What was given, with the values in their order."""

    arguments: list[str]
    """All other words."""

    def has(self, name: str) -> bool:
        """Tell whether an option was given.

        Args:
            name: Without its dashes.
        """
        return name in self.options

    def value(self, name: str) -> str | None:
        """Return the last value of an option, ``None`` if it has none.

        Args:
            name: Without its dashes.
        """
        return self.options.get(name, [None])[-1]

    def values(self, name: str) -> list[str]:
        """Return all values of an option.

        Args:
            name: Without its dashes.
        """
        return [one for one in self.options.get(name, []) if one is not None]


def parse(
    words: Sequence[str], options: Sequence[Option], *, is_verb_next: bool = False
) -> Words:
    """Read a command line.

    Args:
        words: Its words.
        options: The options that there are.
        is_verb_next: Whether all from the first argument on is left alone.

    Returns:
        What was given.

    Raises:
        OptionError: A word is no option, or its value is missing.
    """
    return _Parser(words, options).run(is_verb_next=is_verb_next)


class _Parser:
    def __init__(self, words: Sequence[str], options: Sequence[Option]) -> None:
        self._words = [*words]
        self._long = {one.name: one for one in options}
        self._short = {one.short: one for one in options if one.short}
        self._found = Words({}, [])

    def run(self, *, is_verb_next: bool) -> Words:
        while self._words:
            word = self._words.pop(0)
            if word == "--":
                self._found.arguments.extend(self._words)
                break
            if word.startswith("--"):
                self._take_long(word)
            elif word.startswith("-") and word != "-":
                self._take_short(word[1:])
            else:
                self._found.arguments.append(word)
                if is_verb_next:
                    self._found.arguments.extend(self._words)
                    break
        return self._found

    def _take_long(self, word: str) -> None:
        name, equals, value = word[2:].partition("=")
        option = self._long.get(name)
        if option is None or (equals and option.value == NONE):
            raise OptionError(word)
        self._add(option, value if equals else None)

    def _take_short(self, letters: str) -> None:
        while letters:
            option = self._short.get(letters[0])
            if option is None:
                raise OptionError(f"-{letters[0]}")
            letters = letters[1:]
            value = None
            if option.value != NONE and letters:
                value, letters = letters.removeprefix("="), ""
            self._add(option, value)

    def _add(self, option: Option, value: str | None) -> None:
        following = self._words[0] if self._words else None
        takes_next = option.value == NEEDED or (
            option.value == OPTIONAL and following and not following.startswith("-")
        )
        if value is None and following is not None and takes_next:
            value = self._words.pop(0)
        if value is None and option.value == NEEDED:
            raise OptionError(f"--{option.name}")
        self._found.options.setdefault(option.name, []).append(value)
